/* foreman.c - the worker's beginning, its turns, and its timer. */
#include "worker/foreman.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/take.h"
#include "worker/foreman_internal.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

#define BATCH_MAX    1000 /* jobs in one claim */
#define KEEPERS_USEC (2 * USEC_PER_SEC)
#define ACCURACY     1 /* 0 is a quarter of a second to sd-event */

/* ---- Looking ---- */

Post *foreman_find(Foreman *foreman, const JobKey *key) {
        for (unsigned i = 0; i < foreman->n_posts; i++) {
                Post *post = &foreman->posts[i];
                if (post->slot.state != SLOT_EMPTY && post->job.key.id == key->id &&
                    post->job.key.generation == key->generation && strcmp(post->job.key.claim, key->claim) == 0)
                        return post;
        }
        return NULL;
}

/* A stream is free when it is up; the end of a command, leftovers included, comes before the report of its job. */
bool post_is_free(const Post *post, usec_t now_usec) {
        return post->slot.state == SLOT_EMPTY && command_is_up(post->command) == post->foreman->line->stream &&
               now_usec >= post->proven_usec;
}

unsigned foreman_active(const Foreman *foreman) {
        unsigned n = 0;
        for (unsigned i = 0; i < foreman->n_posts; i++)
                n += foreman->posts[i].slot.state != SLOT_EMPTY;
        return n;
}

/* ---- Turns ---- */

void foreman_wake(Foreman *foreman) {
        (void)sd_event_source_set_enabled(foreman->turn, SD_EVENT_ONESHOT);
}

static usec_t next_usec(const Foreman *foreman, usec_t now) {
        usec_t next = usec_min(foreman_errands_usec(foreman, now), foreman_ending_usec(foreman));
        for (unsigned i = 0; i < foreman->n_posts; i++) {
                const Post *post = &foreman->posts[i];
                next = usec_min(next, slot_next_usec(post->slot));
                if (foreman->line->stream && !command_is_up(post->command) && !foreman->draining)
                        next = usec_min(next, post->restart_usec);
                if (post->proven_usec > now)
                        next = usec_min(next, post->proven_usec);
        }
        return next;
}

static void arm(Foreman *foreman, usec_t now) {
        usec_t next = next_usec(foreman, now);
        (void)sd_event_source_set_time(foreman->timer, next);
        (void)sd_event_source_set_enabled(foreman->timer, next == USEC_INFINITY ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static void tick(Post *post, usec_t now) {
        if (now >= slot_next_usec(post->slot))
                post_happens(post, SLOT_TIME, now);
        if (post->foreman->line->stream)
                post_keep_stream_up(post, now);
}

static int on_turn(sd_event_source *source, void *userdata) {
        Foreman *foreman = userdata;
        (void)source;
        usec_t now = clock_now_usec();

        for (unsigned i = 0; i < foreman->n_posts; i++)
                tick(&foreman->posts[i], now);
        foreman_go_on_ending(foreman, now);
        foreman_send(foreman, now);
        foreman_say_state(foreman, now);
        arm(foreman, now);
        return 0;
}

static int on_timer(sd_event_source *source, uint64_t due, void *userdata) {
        (void)source, (void)due;
        foreman_wake(userdata);
        return 0;
}

/* ---- Signals and children ---- */

static int on_stop(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Foreman *foreman = userdata;
        (void)source;
        if (foreman->draining)
                log_notice("signal %u came again; the drain goes on", info->ssi_signo);
        else
                foreman_drain(foreman, "it was asked to stop", true);
        return 0;
}

static bool knows_keeper(void *userdata, pid_t pid) {
        const Foreman *foreman = userdata;
        for (unsigned i = 0; i < foreman->n_posts; i++)
                if (command_keeper(foreman->posts[i].command) == pid)
                        return true;
        return false;
}

static void on_dead(void *userdata, pid_t pid) {
        Foreman *foreman = userdata;
        for (unsigned i = 0; i < foreman->n_posts; i++)
                command_note_dead(foreman->posts[i].command, pid);
}

static int hear_signals(Foreman *foreman) {
        static const int numbers[] = { SIGTERM, SIGINT, SIGQUIT };
        const StraysCalls calls = { .knows = knows_keeper, .dead = on_dead, .userdata = foreman };
        int r = 0;

        for (size_t i = 0; i < LENGTH_OF(numbers) && r >= 0; i++) {
                r = sd_event_add_signal(foreman->event, &foreman->signals[i], numbers[i], on_stop, foreman);
                if (r >= 0)
                        r = sd_event_source_set_exit_on_failure(foreman->signals[i], true);
                if (r >= 0)
                        r = sd_event_source_set_priority(foreman->signals[i], SD_EVENT_PRIORITY_IMPORTANT);
        }
        return r < 0 ? r : strays_new(&foreman->strays, foreman->event, &calls);
}

/* ---- Beginning and end ---- */

static int make_sources(Foreman *foreman) {
        int r = sd_event_add_defer(foreman->event, &foreman->turn, on_turn, foreman);
        if (r >= 0) /* what has happened is heard before anything is decided */
                r = sd_event_source_set_priority(foreman->turn, SD_EVENT_PRIORITY_IDLE);
        if (r >= 0)
                r = sd_event_source_set_exit_on_failure(foreman->turn, true);
        if (r >= 0)
                r = sd_event_add_time(foreman->event, &foreman->timer, CLOCK_MONOTONIC, USEC_INFINITY, ACCURACY,
                                      on_timer, foreman);
        if (r >= 0)
                r = sd_event_source_set_exit_on_failure(foreman->timer, true);
        return r;
}

static int make_posts(Foreman *foreman) {
        foreman->posts = calloc(foreman->line->slots, sizeof *foreman->posts);
        foreman->utterance = malloc(sizeof *foreman->utterance);
        if (!foreman->posts || !foreman->utterance)
                return -ENOMEM;
        for (; foreman->n_posts < foreman->line->slots; foreman->n_posts++) {
                int r = post_init(&foreman->posts[foreman->n_posts], foreman, foreman->n_posts);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int make_desk(Foreman *foreman) {
        const DeskOptions options = { .database = foreman->database,
                                      .queue = foreman->line->queue,
                                      .worker = foreman->owner };
        DeskCalls calls = foreman_desk_calls;
        calls.userdata = foreman;
        return desk_new(&foreman->desk, foreman->event, &options, &calls);
}

static Intake make_intake(const CommandLine *line) {
        return (Intake){ .poll_usec = line->poll_usec,
                         .jobs_left = line->max_jobs,
                         .batch = line->slots < BATCH_MAX ? line->slots : BATCH_MAX };
}

int foreman_new(Foreman **ret, sd_event *event, const CommandLine *line, const Database *database, const char *owner) {
        Foreman *foreman = calloc(1, sizeof *foreman);
        if (!foreman)
                return -ENOMEM;
        *foreman = (Foreman){ .event = sd_event_ref(event),
                              .line = line,
                              .database = database,
                              .owner = owner,
                              .intake = make_intake(line),
                              .echo = line->quiet ? (Echo){ .fd = -1 } : echo_open(),
                              .born_usec = clock_now_usec(),
                              .begin_usec = USEC_INFINITY,
                              .drain_limit_usec = USEC_INFINITY,
                              .give_up_usec = USEC_INFINITY,
                              .streams_limit_usec = USEC_INFINITY };
        int r = make_sources(foreman);
        if (r >= 0)
                r = make_posts(foreman);
        if (r >= 0)
                r = hear_signals(foreman);
        if (r >= 0)
                r = make_desk(foreman);
        if (r < 0) {
                foreman_free(foreman);
                return r;
        }
        *ret = foreman;
        return 0;
}

Foreman *foreman_free(Foreman *foreman) {
        if (!foreman)
                return NULL;
        foreman->desk = desk_free(foreman->desk);
        foreman->superior = superior_free(foreman->superior);
        foreman->strays = strays_free(foreman->strays);
        for (unsigned i = 0; i < foreman->n_posts; i++)
                post_done(&foreman->posts[i]);
        strays_outlive(KEEPERS_USEC); /* the end of their sockets is the end of keepers and of what they keep */
        for (size_t i = 0; i < LENGTH_OF(foreman->signals); i++)
                sd_event_source_disable_unref(foreman->signals[i]);
        sd_event_source_disable_unref(foreman->turn);
        sd_event_source_disable_unref(foreman->timer);
        echo_done(&foreman->echo);
        free(foreman->posts);
        free(foreman->utterance);
        sd_event_unref(foreman->event);
        free(foreman);
        return NULL;
}
