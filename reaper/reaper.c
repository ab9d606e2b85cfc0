/* reaper.c - the turns of the reaper: asks the agenda what is next, and does it. */
#include "reaper/reaper.h"
#include "base/clock.h"
#include "base/log.h"
#include "reaper/reaper_internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define RETRY_MOST_USEC        (10 * USEC_PER_SEC)
#define STATEMENT_TIMEOUT_USEC (25 * USEC_PER_SEC) /* before our own: then the server has given up, too */
#define PRIORITY_TURN          10                  /* what has arrived is read before it is decided what comes next */

uint32_t reaper_chance(void) {
        uint32_t random = 0;
        (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
        return random;
}

void reaper_take_turn(Reaper *reaper) {
        (void)sd_event_source_set_enabled(reaper->turn, SD_EVENT_ONESHOT);
}

/* ---- The database ---- */

static void on_connection(const ConnectionChange *change, void *userdata) {
        Reaper *reaper = userdata;

        if (change->state == CONNECTION_STATE_DOWN && change->retry_usec != USEC_INFINITY) {
                standing_bad(&reaper->standing, change->answer, change->why, deaths_count(&reaper->deaths));
                if (reaper->rules.once)
                        reaper->agenda = agenda_after(&reaper->rules, reaper->agenda, AGENDA_SWEEP, AGENDA_FAILED,
                                                      clock_now_usec(), reaper_chance());
        }
        reaper_take_turn(reaper);
}

static int open_connection(Reaper *reaper) {
        const ConnectionOptions options = {
                .opening = { .url = reaper->database->url, .application = "endwell-reaper" },
                .connect_timeout_usec = reaper->database->connect_timeout_usec,
                .statement_timeout_usec = STATEMENT_TIMEOUT_USEC,
                .retry_most_usec = RETRY_MOST_USEC,
                .on_state = on_connection,
                .userdata = reaper,
        };
        return connection_new(&reaper->connection, reaper->event, &options);
}

/* ---- Turns ---- */

static AgendaSight look(Reaper *reaper) {
        usec_t now = clock_now_usec();
        bool up = connection_state(reaper->connection) == CONNECTION_STATE_UP;

        deaths_look_again(&reaper->deaths, now, reaper->agenda.settling);
        return (AgendaSight){ .now_usec = now,
                              .database_ready = up && reaper->work == AGENDA_WAIT,
                              .database_lost = !up,
                              .n_dead = deaths_count(&reaper->deaths),
                              .again_usec = deaths_again_usec(&reaper->deaths),
                              .heard_all = !reaper->wire || reaper->asked,
                              .behind = reaper_is_behind(reaper),
                              .deaf = reaper->wire && !wire_is_subscribed(reaper->wire),
                              .n_unsaid = reaper->wire ? wire_unsaid(reaper->wire) : 0 };
}

static void wait_until(Reaper *reaper, usec_t until) {
        (void)sd_event_source_set_time(reaper->timer, until);
        (void)sd_event_source_set_enabled(reaper->timer, until == USEC_INFINITY ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static void leave(Reaper *reaper) {
        if (reaper->agenda.settling)
                reaper_say_rest(reaper);
        else if (reaper->agenda.failures > 0)
                reaper->code = REAPER_EXIT_UNAVAILABLE;
        (void)sd_event_exit(reaper->event, reaper->code);
}

/* A statement that could not be sent: the connection tells why, or there is no memory. */
static void ask_database(Reaper *reaper, AgendaWork work) {
        const Orders *orders = reaper->orders;
        int r = -EINVAL;

        if (work == AGENDA_HAND_OVER)
                r = calls_hand_over(&reaper->calls, reaper->connection, deaths_first(&reaper->deaths));
        else if (work == AGENDA_SWEEP)
                r = calls_sweep(&reaper->calls, reaper->connection, orders->batch);
        else if (work == AGENDA_PRUNE)
                r = calls_prune(&reaper->calls, reaper->connection, orders->prune_batch, orders->retention_usec);
        else if (work == AGENDA_COUNT)
                r = calls_count(&reaper->calls, reaper->connection);
        if (r >= 0) {
                reaper->work = work;
                return;
        }
        reaper->agenda =
                agenda_after(&reaper->rules, reaper->agenda, work, AGENDA_FAILED, clock_now_usec(), reaper_chance());
        reaper_take_turn(reaper);
}

static int on_turn(sd_event_source *source, void *userdata) {
        Reaper *reaper = userdata;
        AgendaSight sight = look(reaper);
        AgendaStep step = agenda_next(&reaper->rules, reaper->agenda, &sight);

        (void)source;
        reaper->agenda = step.agenda;
        switch (step.work) {
        case AGENDA_COUNT:
        case AGENDA_HAND_OVER:
        case AGENDA_SWEEP:
        case AGENDA_PRUNE: ask_database(reaper, step.work); break;
        case AGENDA_WAIT: wait_until(reaper, step.until_usec); break;
        case AGENDA_REPORT:
                reaper_report_settled(reaper);
                reaper_take_turn(reaper);
                break;
        case AGENDA_LEAVE: leave(reaper); break;
        case _AGENDA_MAX: break;
        }
        return 0;
}

static int on_timer(sd_event_source *source, uint64_t due, void *userdata) {
        (void)source, (void)due;
        reaper_take_turn(userdata);
        return 0;
}

void reaper_settle(Reaper *reaper) {
        if (reaper->agenda.settling)
                return;
        standing_say(&reaper->standing, "settling: handing over the jobs of the dead");
        reaper->agenda = agenda_settle(reaper->agenda, clock_now_usec(), reaper_settle_limit_usec(reaper));
        if (reaper->phase_end_usec == USEC_INFINITY)
                reaper->agenda.count_wanted = reaper->wire != NULL; /* the phase's news is still on its way */
        reaper_take_turn(reaper);
}

/* ---- Life ---- */

static int open_parts(Reaper *reaper) {
        int r = pq_place(reaper->database->url, reaper->place);
        if (r >= 0)
                r = calls_init(&reaper->calls, reaper->database->schema);
        if (r >= 0)
                r = sd_event_add_defer(reaper->event, &reaper->turn, on_turn, reaper);
        if (r >= 0)
                r = sd_event_source_set_priority(reaper->turn, PRIORITY_TURN);
        if (r >= 0)
                r = sd_event_add_time(reaper->event, &reaper->timer, CLOCK_MONOTONIC, USEC_INFINITY, 1, on_timer,
                                      reaper);
        if (r >= 0)
                r = open_connection(reaper);
        if (r >= 0 && reaper->orders->socket && !reaper->orders->once)
                r = reaper_listen(reaper);
        return r < 0 ? r : 0;
}

int reaper_new(Reaper **ret, sd_event *event, const Orders *orders, const Database *database) {
        Reaper *reaper = calloc(1, sizeof *reaper);

        if (!reaper)
                return -ENOMEM;
        reaper->event = sd_event_ref(event);
        reaper->orders = orders;
        reaper->database = database;
        reaper->rules = (AgendaRules){ .interval_usec = orders->interval_usec, .once = orders->once };
        reaper->work = AGENDA_WAIT;
        reaper->parent = getppid();
        reaper->begun_usec = clock_now_usec();
        reaper->phase_end_usec = USEC_INFINITY;
        reaper->agenda = agenda_begin(&reaper->rules, reaper->begun_usec, reaper_chance());
        reaper->calls.done = reaper_on_result;
        reaper->calls.userdata = reaper;
        deaths_init(&reaper->deaths);
        standing_init(&reaper->standing, reaper->place, !orders->once);
        int r = open_parts(reaper);
        if (r < 0) {
                reaper_free(reaper);
                return r;
        }
        *ret = reaper;
        return 0;
}

Reaper *reaper_free(Reaper *reaper) {
        if (!reaper)
                return NULL;
        wire_free(reaper->wire);
        connection_free(reaper->connection);
        sd_event_source_disable_unref(reaper->turn);
        sd_event_source_disable_unref(reaper->timer);
        calls_done(&reaper->calls);
        deaths_done(&reaper->deaths);
        sd_event_unref(reaper->event);
        free(reaper);
        return NULL;
}
