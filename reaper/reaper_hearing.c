/* reaper_hearing.c - what PID 1 tells the reaper. */
#include "base/clock.h"
#include "base/log.h"
#include "reaper/reaper_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define SETTLE_SHARE 3                   /* of the phase: what comes after us in it needs the rest */
#define ALONE_USEC   (10 * USEC_PER_SEC) /* after which nobody is expected to answer who never did */

static uint64_t since(void *userdata) {
        const Reaper *reaper = userdata;
        return reaper->deaths.since;
}

static void say_missed(Reaper *reaper, const News *news) {
        uint64_t n = deaths_missed(&reaper->deaths, news);

        if (n > 0)
                log_line(reaper->deaths.heard > 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG,
                         "%" PRIu64 " events before number %" PRIu64
                         " are no longer kept: whose end was among them is left to the lease",
                         n, news->seq);
}

static void on_death(Reaper *reaper, const News *news, int answer) {
        if (answer == DEATHS_UNCERTAIN)
                log_info("%s@%u is gone, but something of it may live: its jobs are left to the lease", news->service,
                         news->instance);
        else if ((answer == DEATHS_FULL || answer < 0) && !reaper->full_said)
                log_warning("%zu of the dead wait for the database: whoever dies now is asked for again later, and "
                            "left to the lease if the journal is no longer kept by then",
                            deaths_count(&reaper->deaths));
        reaper->full_said = answer == DEATHS_FULL || answer < 0;
}

/* What comes after us in our phase needs time too. */
usec_t reaper_settle_limit_usec(const Reaper *reaper) {
        usec_t now = clock_now_usec(), share = usec_sub(reaper->phase_end_usec, now) / SETTLE_SHARE;

        return usec_add(now, usec_min(REAPER_SETTLE_SEC * USEC_PER_SEC, share));
}

static void on_phase(Reaper *reaper, const News *news) {
        if (strcmp(news->phase, reaper->orders->phase) != 0 && strcmp(news->phase, "all") != 0)
                return;
        if (reaper->phase_end_usec != USEC_INFINITY)
                return;
        if (!reaper->agenda.settling) /* else it was wanted then */
                reaper->agenda.count_wanted = true;
        reaper->phase_end_usec = usec_add(clock_now_usec(), news->limit_usec);
        if (reaper->agenda.settling)
                reaper->agenda = agenda_settle(reaper->agenda, clock_now_usec(), reaper_settle_limit_usec(reaper));
}

/* ---- Whatever is told ---- */

static void on_subscribed(Reaper *reaper, const News *news) {
        if (!reaper->was_subscribed)
                log_info("listening to endwell, whose newest event is number %" PRIu64, news->newest);
        deaths_subscribed(&reaper->deaths, news->seq, news->newest);
        reaper->was_subscribed = true;
        reaper->asked_in_vain_said = false;
}

static void on_refused(Reaper *reaper, const News *news) {
        if (!reaper->asked_in_vain_said)
                log_warning("endwell refused what the reaper asked of it: %s", news->note);
        reaper->asked_in_vain_said = true;
}

static void on_event(Reaper *reaper, const News *news) {
        say_missed(reaper, news);
        int answer = deaths_hear(&reaper->deaths, news);

        if (news->kind == NEWS_GONE)
                on_death(reaper, news, answer);
        else if (news->kind == NEWS_ENDING)
                reaper->released = reaper->buried = 0;
        else if (news->kind == NEWS_PHASE)
                on_phase(reaper, news);
        else if (news->kind == NEWS_ASKED && news->pid == getpid() &&
                 strcmp(news->service, reaper->orders->service) == 0)
                reaper->asked = true;
}

static void on_news(void *userdata, const News *news) {
        Reaper *reaper = userdata;

        if (news->kind == NEWS_SUBSCRIBED)
                on_subscribed(reaper, news);
        else if (news->kind == NEWS_REFUSED)
                on_refused(reaper, news);
        else if (news->kind != NEWS_TAKEN)
                on_event(reaper, news);
        reaper_take_turn(reaper);
}

/* ---- When it breaks off ---- */

static bool endwell_is_gone(const Reaper *reaper, int error) {
        bool nobody = error == ECONNREFUSED || error == ENOENT;

        if (nobody && getppid() != reaper->parent)
                return true; /* the one who started us was there before */
        return nobody && !reaper->was_subscribed && clock_now_usec() > reaper->begun_usec + ALONE_USEC;
}

static void on_lost(void *userdata, int error, bool was) {
        Reaper *reaper = userdata;

        if (endwell_is_gone(reaper, error)) {
                log_err("nobody answers at endwell's control socket %s: there is nothing to be a reaper for",
                        reaper->orders->socket);
                reaper->code = REAPER_EXIT_UNAVAILABLE;
                reaper_settle(reaper);
        } else if (was) {
                log_info("the connection to endwell ended (%s) and is made anew",
                         error ? strerrordesc_np(error) : "it was closed");
        } else if (!reaper->alone_said) {
                reaper->alone_said = true;
                log_warning("endwell does not answer at %s (%s): until it does, the dead are found by their leases",
                            reaper->orders->socket, strerrordesc_np(error ? error : ECONNRESET));
        }
        if (was)
                reaper->alone_said = false;
        reaper_take_turn(reaper);
}

bool reaper_is_behind(const Reaper *reaper) {
        return reaper->wire && deaths_is_behind(&reaper->deaths);
}

int reaper_listen(Reaper *reaper) {
        const WirePlan plan = { .path = reaper->orders->socket,
                                .since = since,
                                .on_news = on_news,
                                .on_lost = on_lost,
                                .userdata = reaper };
        return wire_new(&reaper->wire, reaper->event, &plan);
}
