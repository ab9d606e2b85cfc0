/* foreman_ending.c - the worker's own ending: no new job, the present ones to their end or to the limit, and out. */
#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "worker/foreman_internal.h"
#include <inttypes.h>

#define DRAIN_USEC   (20 * USEC_PER_SEC)   /* when no supervisor says more */
#define MARGIN_LEAST (500 * USEC_PER_MSEC) /* between our limit and the supervisor's: to kill, and to give back */
#define AFTER_USEC   (2 * USEC_PER_SEC)    /* for what the ledger must still be told behind the limit */
#define STREAMS_USEC (1 * USEC_PER_SEC)    /* for streams without a job, from the end of their input */
#define SAY_USEC     USEC_PER_SEC

static usec_t margin(usec_t left) {
        return usec_min(usec_max(left / 10, MARGIN_LEAST), left / 2);
}

static void set_limit(Foreman *foreman, usec_t span) {
        char text[DURATION_TEXT_MAX];
        foreman->drain_limit_usec = usec_add(foreman->drain_began_usec, span);
        if (foreman_active(foreman) > 0)
                log_notice("%u jobs have %s to finish", foreman_active(foreman), duration_format(span, text));
        foreman_wake(foreman);
}

static void on_limit_told(void *userdata, usec_t left_usec) {
        Foreman *foreman = userdata;
        usec_t passed = usec_sub(clock_now_usec(), foreman->drain_began_usec);
        set_limit(foreman, usec_add(passed, left_usec - margin(left_usec)));
}

static void find_limit(Foreman *foreman) {
        set_limit(foreman, foreman->line->drain_usec == USEC_INFINITY ? DRAIN_USEC : foreman->line->drain_usec);
        if (foreman->line->drain_usec == USEC_INFINITY && !foreman->superior)
                (void)superior_ask(&foreman->superior, foreman->event, foreman->owner, on_limit_told, foreman);
}

void foreman_drain(Foreman *foreman, const char *why, bool limited) {
        bool again = foreman->draining;

        if (!again) {
                log_notice("the worker takes no more jobs: %s; %u are running", why, foreman_active(foreman));
                intake_close(&foreman->intake);
                foreman->draining = true;
                foreman->drain = ERRAND_WANTED;
                superior_say("STOPPING=1\nX_ENDWELL_ACTIVE=%u", foreman_active(foreman));
        }
        if (limited && foreman->drain_limit_usec == USEC_INFINITY) {
                foreman->drain_began_usec = clock_now_usec();
                find_limit(foreman);
        }
        foreman_wake(foreman);
}

void foreman_give_up(Foreman *foreman, int code) {
        if (foreman->code == 0)
                foreman->code = code;
        foreman_drain(foreman, "it cannot go on", true);
}

/* ---- The limit ---- */

static void pass_limit(Foreman *foreman, usec_t now) {
        if (foreman->limit_passed || now < foreman->drain_limit_usec)
                return;
        foreman->limit_passed = true;
        foreman->give_up_usec = usec_add(now, AFTER_USEC);
        for (unsigned i = 0; i < foreman->n_posts; i++)
                post_happens(&foreman->posts[i], SLOT_DRAIN_LIMIT, now);
}

/* ---- The end ---- */

static bool ledger_is_done(const Foreman *foreman) {
        if (foreman_active(foreman) > 0 || foreman->claiming || foreman->n_giving_back > 0)
                return false;
        if (foreman->held_checks > 0)
                return false;
        return foreman->drain == ERRAND_NONE || !desk_is_up(foreman->desk);
}

/* True: no stream is up any more. They have nothing to do, so their end is quick. */
static bool stop_streams(Foreman *foreman, usec_t now) {
        unsigned n_up = 0;

        for (unsigned i = 0; i < foreman->n_posts; i++) {
                Command *command = foreman->posts[i].command;
                n_up += command_is_up(command);
                if (command_is_up(command) && !foreman->stopped_streams) {
                        command_end_input(command);
                        command_ask(command);
                } else if (command_is_up(command) && now >= foreman->streams_limit_usec) {
                        command_kill(command);
                }
        }
        if (!foreman->stopped_streams)
                foreman->streams_limit_usec = usec_add(now, STREAMS_USEC);
        else if (now >= foreman->streams_limit_usec)
                foreman->streams_limit_usec = USEC_INFINITY;
        foreman->stopped_streams = true;
        return n_up == 0;
}

static void end(Foreman *foreman, const char *how) {
        foreman->over = true;
        log_notice("the worker ended %s: %" PRIu64 " jobs done, %" PRIu64 " failed", how, foreman->n_done,
                   foreman->n_failed);
        (void)sd_event_exit(foreman->event, foreman->code);
}

static void recycle(Foreman *foreman, usec_t now) {
        if (foreman->draining)
                return;
        if (now >= usec_add(foreman->born_usec, foreman->line->lifetime_usec))
                foreman_drain(foreman, "its lifetime is over", false);
        else if (intake_is_closed(&foreman->intake) && !foreman->claiming)
                foreman_drain(foreman, "it has had as many jobs as it may", false);
}

void foreman_go_on_ending(Foreman *foreman, usec_t now) {
        recycle(foreman, now);
        if (!foreman->draining || foreman->over)
                return;
        pass_limit(foreman, now);
        bool late = now >= foreman->give_up_usec;
        if (!late && !ledger_is_done(foreman))
                return;
        if (late && foreman_active(foreman) > 0)
                log_err("%u jobs could not be given back; they are left to their leases", foreman_active(foreman));
        if (!late && !stop_streams(foreman, now))
                return;
        superior_say("X_ENDWELL_ACTIVE=0\nX_ENDWELL_DRAINED=1");
        if (late && foreman->code == 0)
                foreman->code = EXIT_TEMPORARY;
        end(foreman, late ? "late" : "in order");
}

usec_t foreman_ending_usec(const Foreman *foreman) {
        if (!foreman->draining)
                return usec_add(foreman->born_usec, foreman->line->lifetime_usec);
        if (foreman->over)
                return USEC_INFINITY;
        usec_t next = foreman->limit_passed ? foreman->give_up_usec : foreman->drain_limit_usec;
        return usec_min(next, foreman->streams_limit_usec);
}

/* ---- What is said of it ---- */

void foreman_say_state(Foreman *foreman, usec_t now) {
        unsigned active = foreman_active(foreman);

        if (foreman->over || active == foreman->said_active || now < usec_add(foreman->said_usec, SAY_USEC))
                return;
        foreman->said_active = active;
        foreman->said_usec = now;
        superior_say("X_ENDWELL_ACTIVE=%u\nSTATUS=%u of %u slots busy, %" PRIu64 " jobs done, %" PRIu64 " failed",
                     active, active, foreman->n_posts, foreman->n_done, foreman->n_failed);
}
