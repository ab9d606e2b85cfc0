/* status.c - writes the state of everything as the answer to the control socket's `status`. */
#include "supervisor/status.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MANY           1000 /* from so many members on their texts are cut */
#define TEXT_IF_MANY   48
#define REASON_IF_MANY 20 /* "readiness: HTTP 503" */

static void write_left(Json *json, const char *key, usec_t instant, usec_t now) {
        if (instant != USEC_INFINITY && instant != 0)
                json_put_unsigned(json, key, usec_sub(instant, now));
}

static void write_counts(Json *json, const MemberView *member) {
        json_put_unsigned(json, "attempt", member->attempt);
        json_put_unsigned(json, "restarts", member->restarts);
        json_put_unsigned(json, "failures", member->failures);
        if (member->active > 0)
                json_put_unsigned(json, "active", member->active);
        if (member->orphans > 0)
                json_put_unsigned(json, "orphans", member->orphans);
}

static size_t cut(const char *text, size_t n_members, size_t limit_if_many) {
        size_t length = strlen(text);

        return n_members < MANY ? length : utf8_cut(text, length, limit_if_many);
}

/* "readiness probe: HTTP 503": what keeps a run that is up from being ready. */
static void write_unready(Json *json, const MemberView *member, size_t n_members) {
        char text[96];

        snprintf(text, sizeof text, "%s%s%s%s", member->unready_probe, n_members < MANY ? " probe" : "",
                 member->unready_detail[0] ? ": " : "", member->unready_detail);
        json_put_stringn(json, "not_ready", text, cut(text, n_members, REASON_IF_MANY));
}

/* Among many, who has a reason not to be ready has no room for its own words. */
static void write_texts(Json *json, const MemberView *member, size_t n_members) {
        if (member->unready_probe)
                write_unready(json, member, n_members);
        if (member->status && *member->status && (!member->unready_probe || n_members < MANY))
                json_put_stringn(json, "status", member->status, cut(member->status, n_members, TEXT_IF_MANY));
}

static void write_member(Json *json, const MemberView *member, size_t n_members, usec_t now) {
        json_open_object(json, NULL);
        json_put_unsigned(json, "instance", member->number);
        json_put_string(json, "state", member->state);
        if (member->pid > 0)
                json_put_signed(json, "pid", member->pid);
        write_counts(json, member);
        if (member->owner[0])
                json_put_string(json, "owner", member->owner);
        json_put_unsigned(json, "since_us", usec_sub(now, member->since_usec));
        write_left(json, "limit_us", member->limit_usec, now);
        write_texts(json, member, n_members);
        if (member->awaited)
                json_put_bool(json, "awaited", true);
        json_close(json);
}

static void write_service(Json *json, const Crew *crew, const Config *config, size_t service, usec_t now) {
        const ServiceConfig *settings = &config->services[service];
        uint32_t first = crew_first_member(crew, (uint32_t)service);

        json_open_object(json, NULL);
        json_put_string(json, "service", settings->name);
        json_put_string(json, "phase", config->phases[settings->phase].name);
        json_open_array(json, "instances");
        for (uint32_t i = 0; i < settings->instances; i++) {
                MemberView member = crew_view(crew, first + i);
                write_member(json, &member, crew_size(crew), now);
        }
        json_close(json);
        json_close(json);
}

static void write_hook(Json *json, const Crew *crew, const HookView *run, usec_t now) {
        json_open_object(json, NULL);
        json_put_string(json, "hook", run->hook->name);
        json_put_string(json, "on", hook_on_to_string(run->hook->on));
        if (run->member != CREW_NOBODY) {
                MemberView member = crew_view(crew, run->member);
                json_put_string(json, "service", member.service->name);
                json_put_unsigned(json, "instance", member.number);
        }
        json_put_signed(json, "pid", run->pid);
        json_put_unsigned(json, "since_us", usec_sub(now, run->since_usec));
        json_close(json);
}

static void write_running_hooks(Json *json, const Crew *crew, usec_t now) {
        json_open_array(json, "hooks");
        for (size_t i = 0; i < crew_hook_runs(crew); i++) {
                HookView run = crew_hook_view(crew, (uint32_t)i);
                if (run.pid > 0)
                        write_hook(json, crew, &run, now);
        }
        json_close(json);
}

/* Only what was reported. */
static void write_ledger(Json *json, const LedgerReport *ledger) {
        if (ledger->settled) {
                json_put_unsigned(json, "released", ledger->released);
                json_put_unsigned(json, "buried", ledger->buried);
        }
        if (ledger->quiet)
                json_put_unsigned(json, "sessions", ledger->sessions);
}

static void write_overview(Json *json, const CrewView *view, const Config *config, usec_t now) {
        json_put_string(json, "version", ENDWELL_VERSION);
        json_put_signed(json, "pid", getpid());
        json_put_string(json, "mode", mode_to_string(config->mode));
        json_put_string(json, "config", config->path);
        json_put_unsigned(json, "epoch", view->epoch);
        json_put_string(json, "step", view->step);
        json_put_string(json, "phase", view->phase);
        json_put_string(json, "cause", view->cause);
        json_put_bool(json, "ready", view->ready);
        json_put_bool(json, "ending", view->ending);
        json_put_bool(json, "fast", view->fast);
        json_put_unsigned(json, "since_us",
                          usec_sub(now, view->ending ? view->ending_since_usec : view->readiness_usec));
        json_put_unsigned(json, "uptime_us", usec_sub(now, view->started_usec));
        write_left(json, "deadline_us", view->deadline_usec, now);
        write_left(json, "limit_us", view->limit_usec, now);
        json_put_unsigned(json, "orphans", view->orphans);
        write_ledger(json, &view->ledger);
}

void status_write(const Crew *crew, const Config *config, Json *json) {
        CrewView view = crew_overview(crew);
        usec_t now = crew_clock_usec(crew);

        json_open_object(json, NULL);
        write_overview(json, &view, config, now);
        json_put_unsigned(json, "awaited", crew_awaited(crew));
        write_running_hooks(json, crew, now);
        json_open_array(json, "services");
        for (size_t i = 0; i < config->n_services; i++)
                write_service(json, crew, config, i, now);
        json_close(json);
        json_close(json);
}
