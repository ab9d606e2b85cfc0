/* reaper_results.c - what came of what the database was asked. */
#include "base/clock.h"
#include "base/log.h"
#include "reaper/reaper_internal.h"
#include <inttypes.h>
#include <stdio.h>

#define FAILURES_MAX 20 /* of one owner, by a fault that is not the database's */

static const char *instance_of(const Death *death, char *text, size_t size) {
        snprintf(text, size, "%s@%u", death->service[0] ? death->service : "somebody", death->instance);
        return text;
}

static void want_replay(Reaper *reaper) {
        if (reaper->wire && deaths_want_replay(&reaper->deaths))
                wire_renew(reaper->wire);
}

static void on_handed_over(Reaper *reaper, const CallResult *result) {
        Death *death = deaths_first(&reaper->deaths);
        char who[64];

        death->released += result->released;
        death->buried += result->buried;
        reaper->released += result->released;
        reaper->buried += result->buried;
        if (result->n > 0)
                return; /* until it answers with nothing */
        log_line(death->released + death->buried > 0 ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG,
                 "%s died (%s, %s): jobs given back: %" PRIu64 ", buried: %" PRIu64,
                 instance_of(death, who, sizeof who), death->cause, death->note, death->released, death->buried);
        deaths_finish_first(&reaper->deaths, clock_now_usec());
        want_replay(reaper);
}

/* Whatever is wrong with this one must not hold up the others, nor go on for ever. */
static void on_hand_over_failed(Reaper *reaper, const CallResult *result) {
        Death *death = deaths_first(&reaper->deaths);
        char who[64];

        if (result->answer != SQL_FAILED && result->answer != SQL_TIMEOUT)
                return;
        if (++death->failures < FAILURES_MAX) {
                deaths_turn(&reaper->deaths);
                return;
        }
        log_err("the jobs of %s (owner %s) could not be given back: %s; they are left to their leases",
                instance_of(death, who, sizeof who), death->owner, result->why);
        deaths_drop_first(&reaper->deaths);
        want_replay(reaper);
}

static AgendaResult on_swept(Reaper *reaper, const CallResult *result) {
        bool more = result->n >= reaper->orders->batch;

        reaper->swept += result->released;
        reaper->swept_buried += result->buried;
        if (more)
                return AGENDA_MORE;
        if (reaper->swept + reaper->swept_buried > 0 || reaper->rules.once)
                log_info("swept: jobs whose lease was over: given back %" PRIu64 ", buried %" PRIu64, reaper->swept,
                         reaper->swept_buried);
        reaper->swept = reaper->swept_buried = 0;
        return AGENDA_DONE;
}

static AgendaResult on_pruned(Reaper *reaper, const CallResult *result) {
        reaper->pruned += result->n;
        if (result->n >= reaper->orders->prune_batch)
                return AGENDA_MORE;
        if (reaper->pruned > 0 || reaper->rules.once)
                log_info("pruned: rows of what is finished: %" PRIu64, reaper->pruned);
        reaper->pruned = 0;
        return AGENDA_DONE;
}

static void report(Reaper *reaper, void (*fill)(const Reaper *reaper, Json *json, uint64_t n), uint64_t n) {
        char text[WIRE_REPORT_MAX];
        Json json;

        if (!reaper->wire)
                return;
        json_init(&json, text, sizeof text);
        json_open_object(&json, NULL);
        fill(reaper, &json, n);
        json_finish(&json);
        if (wire_report(reaper->wire, text) < 0)
                log_warning("a report to endwell was left out: too many wait");
}

static void fill_quiet(const Reaper *reaper, Json *json, uint64_t sessions) {
        (void)reaper;
        json_put_string(json, "event", "database_quiet");
        json_put_unsigned(json, "sessions", sessions);
}

static void fill_settled(const Reaper *reaper, Json *json, uint64_t n) {
        (void)n;
        json_put_string(json, "event", "reaper_settled");
        json_put_string(json, "owner", reaper->orders->owner);
        json_put_unsigned(json, "released", reaper->released);
        json_put_unsigned(json, "buried", reaper->buried);
}

static AgendaResult on_done(Reaper *reaper, AgendaWork work, const CallResult *result) {
        switch (work) {
        case AGENDA_HAND_OVER: on_handed_over(reaper, result); return AGENDA_DONE;
        case AGENDA_SWEEP: return on_swept(reaper, result);
        case AGENDA_PRUNE: return on_pruned(reaper, result);
        case AGENDA_COUNT: report(reaper, fill_quiet, result->n); return AGENDA_DONE;
        case AGENDA_WAIT:
        case AGENDA_REPORT:
        case AGENDA_LEAVE:
        case _AGENDA_MAX: break;
        }
        return AGENDA_DONE;
}

void reaper_on_result(void *userdata, const CallResult *result) {
        Reaper *reaper = userdata;
        AgendaWork work = reaper->work;
        AgendaResult what = AGENDA_FAILED;

        reaper->work = AGENDA_WAIT;
        if (result->answer == SQL_DONE) {
                standing_good(&reaper->standing, reaper->rules.interval_usec);
                what = on_done(reaper, work, result);
        } else {
                standing_bad(&reaper->standing, result->answer, result->why, deaths_count(&reaper->deaths));
                if (work == AGENDA_HAND_OVER)
                        on_hand_over_failed(reaper, result);
        }
        reaper->agenda = agenda_after(&reaper->rules, reaper->agenda, work, what, clock_now_usec(), reaper_chance());
        reaper_take_turn(reaper);
}

void reaper_report_settled(Reaper *reaper) {
        report(reaper, fill_settled, 0);
}

void reaper_say_rest(const Reaper *reaper) {
        size_t n = deaths_count(&reaper->deaths);

        if (n > 0 || reaper_is_behind(reaper))
                log_warning("ended with %zu%s of the dead whose jobs could not be given back: they are left to their "
                            "leases",
                            n, reaper_is_behind(reaper) ? " or more" : "");
        else if (reaper->wire)
                log_notice("settled: of the dead since the ending began: jobs given back: %" PRIu64
                           ", buried: %" PRIu64,
                           reaper->released, reaper->buried);
}
