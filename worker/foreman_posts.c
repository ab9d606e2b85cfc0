/* foreman_posts.c - one slot: its command is started, asked, killed; what it says of its progress is kept. */
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/take.h"
#include "worker/foreman_internal.h"
#include "worker/keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAYLOAD    4096 /* from here on the command also gets a path: more than that may not fit into a variable */
#define IDLE_DEATHS_MAX  8    /* of a stream that had no job, in a row */
#define RESTART_USEC     (100 * USEC_PER_MSEC)
#define RESTART_MAX_USEC (5 * USEC_PER_SEC)
#define PROVEN_USEC      (200 * USEC_PER_MSEC)

/* ---- Starting ---- */

/* The payload as a file that can be read from its beginning: nobody has to write it into a pipe while it is read, and
 * nothing is left on a disk however this ends. */
static int open_payload(Post *post) {
        size_t length = post->job.payload ? strlen(post->job.payload) : 0;
        char path[64];

        if (length == 0)
                return open("/dev/null", O_RDONLY | O_CLOEXEC);
        _cleanup_(closep) int fd = memfd_create("payload", MFD_CLOEXEC);
        for (size_t done = 0; fd >= 0 && done < length;) {
                ssize_t n = write(fd, post->job.payload + done, length - done);
                if (n < 0)
                        return -errno;
                done += (size_t)n;
        }
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        int reading = open(path, O_RDONLY | O_CLOEXEC);
        return reading < 0 ? -errno : reading;
}

static int start_command(Post *post) {
        char words[KEEPER_WORDS_MAX / 2], file[64] = "";

        post->payload_fd = open_payload(post);
        if (post->payload_fd < 0)
                return post->payload_fd;
        if (post->job.payload && strlen(post->job.payload) > LARGE_PAYLOAD)
                snprintf(file, sizeof file, "/proc/%d/fd/%d", (int)getpid(), post->payload_fd);
        int r = job_environment(&post->job, post->foreman->owner, told_address(post->told), file, words, sizeof words);
        return r < 0 ? r : command_start(post->command, words, post->payload_fd);
}

static void fail_to_start(Post *post, int r) {
        log_err("could not start %s: %s; the job is given back", post->foreman->line->argv[0], strerrordesc_np(-r));
        post->gone = (HandGone){ .how = OUTCOME_NOT_BEGUN, .status = -r, .names = "" };
        post_happens(post, SLOT_GONE, clock_now_usec());
        foreman_give_up(post->foreman, r == -ENOENT ? 127 : r == -EACCES || r == -ENOEXEC ? 126 : EXIT_TEMPORARY);
}

static void start(Post *post) {
        int r = post->foreman->line->stream ? stream_give(post) : start_command(post);
        if (r < 0)
                fail_to_start(post, r);
}

/* ---- Orders ---- */

static void vacate(Post *post) {
        free(post->result);
        free(post->progress);
        post->result = post->progress = NULL;
        item_done(&post->item);
        job_done(&post->job);
        post->payload_fd = close_fd(post->payload_fd);
        post->report = post->look = ERRAND_NONE;
        post->refusals = 0;
        post->alone = post->answered = false;
}

static void say_stopping(const Post *post, const char *what) {
        log_warning("job %" PRId64 " (%s): its command is %s", post->job.key.id, slot_cause_to_string(post->slot.cause),
                    what);
}

static void ask(Post *post) {
        say_stopping(post, "asked to stop");
        if (post->foreman->line->stream && post->slot.cause == SLOT_CAUSE_CANCELLED)
                stream_tell_cancel(post);
        else
                command_ask(post->command);
}

static void kill_command(Post *post) {
        say_stopping(post, "killed, with all below it");
        if (post->foreman->line->stream)
                command_distrust(post->command);
        command_kill(post->command);
        if (!command_is_up(post->command)) /* it never came up, or is gone already */
                post_happens(post, SLOT_GONE, clock_now_usec());
}

void post_happens(Post *post, SlotHappeningKind kind, usec_t now_usec) {
        SlotStep step = slot_step(post->slot, (SlotHappening){ .kind = kind, .now_usec = now_usec });

        post->slot = step.next;
        if (step.orders & SLOT_ORDER_LOOK)
                post->look = ERRAND_WANTED;
        if (step.orders & SLOT_ORDER_REPORT)
                post_prepare_report(post);
        if (step.orders & SLOT_ORDER_ASK)
                ask(post);
        if (step.orders & SLOT_ORDER_KILL)
                kill_command(post);
        if (step.orders & SLOT_ORDER_VACATE)
                vacate(post);
        foreman_wake(post->foreman);
}

int post_give(Post *post, const Job *job, usec_t sent_usec, usec_t now_usec) {
        const CommandLine *line = post->foreman->line;

        int r = job_init(&post->job, job);
        if (r < 0)
                return r;
        post->lease = lease_begin(job->lease_usec, sent_usec);
        post->began_usec = now_usec;
        post->broken[0] = '\0';
        post->gone = (HandGone){ .names = "" };
        SlotHappening given = { .kind = SLOT_GIVEN,
                                .now_usec = now_usec,
                                .limits = { .stall_usec = line->stall_usec,
                                            .hard_usec = usec_min(line->hard_usec, job->left_usec),
                                            .kill_after_usec = line->kill_after_usec } };
        post->slot = slot_step(post->slot, given).next;
        log_debug("job %" PRId64 " generation %" PRId64 " attempt %" PRId64 " began in slot %u", job->key.id,
                  job->key.generation, job->attempt, post->number);
        start(post);
        return 0;
}

/* ---- What the command says ---- */

static void on_line(void *userdata, const char *line, size_t length) {
        stream_take_line(userdata, line, length);
}

static void on_broke(void *userdata, const char *problem) {
        stream_break(userdata, problem);
}

static void on_stuck(void *userdata, unsigned left) {
        const Post *post = userdata;
        log_err("slot %u: %u processes do not die of SIGKILL; the slot waits for them", post->number, left);
}

/* STATUS becomes progress that people can read where they read of the job. */
static void keep_status(Post *post, const char *status) {
        char text[NOTIFY_TEXT_MAX * 6 + 64];
        Json json;
        json_init(&json, text, sizeof text);
        json_open_object(&json, NULL);
        json_put_string(&json, "status", status);
        json_finish(&json);
        char *copy = strdup(text);
        if (!copy)
                return;
        free(post->progress);
        post->progress = copy;
}

static void on_told(void *userdata, const NotifyWords *words) {
        Post *post = userdata;
        if (post->slot.state == SLOT_EMPTY)
                return;
        if (words->has_status)
                keep_status(post, words->status);
        post_happens(post, SLOT_PROGRESSED, usec_add(clock_now_usec(), words->extend_timeout_usec));
}

static void say_left(const Post *post, const HandGone *gone) {
        if (gone->left > 0)
                log_warning("slot %u: the command left %u processes behind (%s); they were killed", post->number,
                            gone->left, gone->names);
}

/* A stream that cannot be had is no fault of a job: it is started again, ever later, and in the end not at all. */
static void note_stream_death(Post *post, const HandGone *gone) {
        bool idle = post->slot.state == SLOT_EMPTY || stream_never_read(post);
        usec_t wait = RESTART_USEC << (post->deaths < 7 ? post->deaths : 7);

        post->unproven = true;
        post->deaths = idle ? post->deaths + 1 : post->deaths;
        post->restart_usec = usec_add(clock_now_usec(), idle ? usec_min(wait, RESTART_MAX_USEC) : 0);
        if (post->foreman->draining)
                return;
        if (idle)
                log_warning("slot %u: the stream ended (%s %d) without a job; it is started again", post->number,
                            gone->how == OUTCOME_EXITED      ? "exit"
                            : gone->how == OUTCOME_NOT_BEGUN ? "errno"
                                                             : "signal",
                            gone->status);
        if (post->deaths < IDLE_DEATHS_MAX)
                return;
        log_err("the stream ended %u times in a row without a job; the worker gives up", post->deaths);
        foreman_give_up(post->foreman, EXIT_GAVE_UP);
}

static void on_gone(void *userdata, const HandGone *gone) {
        Post *post = userdata;

        say_left(post, gone);
        post->gone = *gone;
        if (post->foreman->line->stream)
                note_stream_death(post, gone);
        if (gone->how == OUTCOME_NOT_BEGUN)
                fail_to_start(post, -gone->status);
        else
                post_happens(post, SLOT_GONE, clock_now_usec());
}

void post_keep_stream_up(Post *post, usec_t now_usec) {
        const Foreman *foreman = post->foreman;
        char words[256];

        if (command_is_up(post->command) || foreman->draining || now_usec < post->restart_usec)
                return;
        snprintf(words, sizeof words, "ENDWELL_OWNER=%s\nNOTIFY_SOCKET=%s\nENDWELL_STREAM=1\n", foreman->owner,
                 told_address(post->told));
        post->strangers = 0;
        post->proven_usec = post->unproven ? usec_add(now_usec, PROVEN_USEC) : 0;
        int r = command_start(post->command, words, -1);
        if (r >= 0)
                return;
        post->gone = (HandGone){ .how = OUTCOME_NOT_BEGUN, .status = -r, .names = "" };
        note_stream_death(post, &post->gone);
}

/* ---- Beginning and end ---- */

int post_init(Post *post, Foreman *foreman, unsigned number) {
        const CommandLine *line = foreman->line;
        const CommandOptions options = {
                .argv = line->argv, .stream = line->stream, .result_limit = line->max_result, .echo = &foreman->echo
        };
        const CommandCalls calls = {
                .line = on_line, .broke = on_broke, .gone = on_gone, .stuck = on_stuck, .userdata = post
        };

        *post = (Post){ .foreman = foreman, .number = number, .payload_fd = -1 };
        int r = command_new(&post->command, foreman->event, &options, &calls);
        return r < 0 ? r : told_new(&post->told, foreman->event, on_told, post);
}

void post_done(Post *post) {
        vacate(post);
        post->command = command_free(post->command);
        post->told = told_free(post->told);
}
