/* crew_probes.c - the checks of the members' probes: when each begins, how long it is awaited, what its answer changes.
 *
 * At most one check of a probe is there at a time. What its answer means is decided when it comes: it counts only for
 * the run that asked, and only while that one is neither being stopped nor ill. */
#include <stdio.h>

#include "base/duration.h"
#include "supervisor/crew_internal.h"

#define ANSWER_USEC (1 * USEC_PER_SEC) /* beyond a check's timeout, for the answer that it timed out */

static bool is_probed(const Crew *crew, const Member *member) {
        return (member->life.state == LIFE_STARTING || member->life.state == LIFE_READY) && member->executed &&
               !life_will_rest(member->life) && !crew_is_ending(crew);
}

static const ProbeConfig *config_of(const Crew *crew, const ProbeRun *run) {
        return &crew_service(crew, &crew->members[run->member])->probes[run->kind];
}

static uint32_t index_of(const Crew *crew, const ProbeRun *run) {
        return (uint32_t)(run - crew->probes);
}

static void set_alarm(Crew *crew, const ProbeRun *run, usec_t when) {
        alarms_set(&crew->alarms, crew->n_members + crew->n_runs + index_of(crew, run), when);
}

/* A command leaves a process in the member's tree; the others are looked at from elsewhere. */
static bool is_command(const Crew *crew, const ProbeRun *run) {
        return config_of(crew, run)->by == PROBE_BY_EXEC;
}

/* An init task is done when it ends: there is nothing to look at. */
static bool has_probe(const ServiceConfig *service, int kind) {
        return service->probes && service->type != SERVICE_ONESHOT && service->probes[kind].by != PROBE_BY_NONE;
}

static uint8_t count_of(const ServiceConfig *service) {
        uint8_t n = 0;
        for (int kind = 0; kind < _PROBE_KIND_MAX; kind++)
                n = (uint8_t)(n + has_probe(service, kind));
        return n;
}

uint32_t crew_count_probes(const Config *config) {
        uint32_t n = 0;
        for (size_t s = 0; s < config->n_services; s++)
                n += (uint32_t)count_of(&config->services[s]) * config->services[s].instances;
        return n;
}

void crew_place_probes(Crew *crew) {
        ProbeRun *next = crew->probes;
        for (size_t s = 0; s < crew->config->n_services; s++) {
                const ServiceConfig *service = &crew->config->services[s];
                ServiceTally *tally = &crew->tallies[s];
                tally->first_probe = index_of(crew, next);
                tally->n_probes = count_of(service);
                for (uint32_t i = 0; tally->n_probes > 0 && i < service->instances; i++)
                        for (int kind = 0; kind < _PROBE_KIND_MAX; kind++)
                                if (has_probe(service, kind))
                                        *next++ = (ProbeRun){ .member = tally->first_member + i,
                                                              .kind = (uint8_t)kind,
                                                              .probe = probe_begin((ProbeKind)kind) };
        }
}

/* The probes of a member stand side by side, as many as its service has. */
static ProbeRun *runs_of(const Crew *crew, const Member *member, unsigned *ret_n) {
        const ServiceTally *tally = &crew->tallies[member->service];
        *ret_n = tally->n_probes;
        return crew->probes + tally->first_probe + (member->number - 1U) * tally->n_probes;
}

const ProbeRun *crew_probe_of(const Crew *crew, const Member *member, ProbeKind kind) {
        unsigned n;
        const ProbeRun *runs = runs_of(crew, member, &n);
        for (unsigned i = 0; i < n; i++)
                if (runs[i].kind == kind)
                        return &runs[i];
        return NULL;
}

static bool waits_for_startup(const Crew *crew, const ProbeRun *run) {
        if (run->kind == PROBE_STARTUP)
                return false;
        const ProbeRun *startup = crew_probe_of(crew, &crew->members[run->member], PROBE_STARTUP);
        return startup && startup->probe.opinion != PROBE_GOOD;
}

/* `begun_usec` is the instant of exec until then. */
static void plan_first(Crew *crew, ProbeRun *run) {
        usec_t when = usec_add(run->begun_usec, config_of(crew, run)->delay_usec);
        bool may = is_probed(crew, &crew->members[run->member]) && !waits_for_startup(crew, run);
        set_alarm(crew, run, may ? usec_max(when, crew_now(crew)) : USEC_INFINITY);
}

static void plan_next(Crew *crew, ProbeRun *run) {
        const Member *member = &crew->members[run->member];
        usec_t when = USEC_INFINITY;
        if (is_probed(crew, member))
                when = probe_next_usec(config_of(crew, run), (ProbeKind)run->kind, &run->probe,
                                       member->life.state == LIFE_STARTING, run->begun_usec, crew_now(crew));
        set_alarm(crew, run, when);
}

void crew_forget_probes(Crew *crew, const Member *member) {
        unsigned n;
        ProbeRun *runs = runs_of(crew, member, &n);
        for (unsigned i = 0; i < n; i++) {
                runs[i].probe = probe_begin((ProbeKind)runs[i].kind);
                runs[i].since_usec = crew_now(crew);
                runs[i].longest_usec = 0;
                runs[i].detail[0] = '\0';
        }
}

/* A check of an earlier run that could not be ended is still in the way: the first one of this run begins after it. */
void crew_begin_probes(Crew *crew, const Member *member) {
        unsigned n;
        ProbeRun *runs = runs_of(crew, member, &n);
        for (unsigned i = 0; i < n; i++) {
                runs[i].begun_usec = crew_now(crew);
                if (runs[i].check == CHECK_NONE)
                        plan_first(crew, &runs[i]);
        }
}

static void call_off(Crew *crew, ProbeRun *run) {
        if (run->check == CHECK_NONE)
                set_alarm(crew, run, USEC_INFINITY);
        if (run->check == CHECK_NONE || run->check == CHECK_UNWANTED)
                return;
        bool runs = run->check == CHECK_RUNS;
        run->check = CHECK_UNWANTED;
        set_alarm(crew, run, is_command(crew, run) ? usec_add(crew_now(crew), crew_patience(crew)) : USEC_INFINITY);
        if (runs)
                crew->stage->call_off_probe(crew->self, index_of(crew, run));
}

void crew_call_off_probes(Crew *crew, const Member *member) {
        unsigned n;
        ProbeRun *runs = runs_of(crew, member, &n);
        for (unsigned i = 0; i < n; i++)
                call_off(crew, &runs[i]);
}

static bool leaves_something(const Crew *crew, const ProbeRun *run) {
        return run->check != CHECK_NONE && !run->given_up && is_command(crew, run);
}

bool crew_member_checks_run(const Crew *crew, const Member *member) {
        unsigned n;
        const ProbeRun *runs = runs_of(crew, member, &n);
        for (unsigned i = 0; i < n; i++)
                if (leaves_something(crew, &runs[i]))
                        return true;
        return false;
}

/* Its pid is the stage's; its name says enough. */
static void give_up(Crew *crew, ProbeRun *run, const char *reason) {
        const Member *member = &crew->members[run->member];
        run->given_up = true;
        set_alarm(crew, run, USEC_INFINITY);
        crew_record(crew, &(Event){ .kind = EVENT_SERVICE_LEFT,
                                    .service = crew_service(crew, member)->name,
                                    .instance = member->number,
                                    .instances = crew_service(crew, member)->instances,
                                    .probe = probe_kind_to_string((ProbeKind)run->kind),
                                    .reason = reason });
        if (member->life.state == LIFE_CLEARING)
                crew_want_survey(crew);
}

void crew_give_up_checks(Crew *crew, const Member *member, const char *reason) {
        unsigned n;
        ProbeRun *runs = runs_of(crew, member, &n);
        for (unsigned i = 0; i < n; i++)
                if (leaves_something(crew, &runs[i]))
                        give_up(crew, &runs[i], reason);
}

static void tell_change(Crew *crew, const ProbeRun *run, const char *detail) {
        crew_record_member(crew, &crew->members[run->member],
                           &(Event){ .kind = EVENT_PROBE_CHANGED,
                                     .probe = probe_kind_to_string((ProbeKind)run->kind),
                                     .ok = run->probe.opinion == PROBE_GOOD,
                                     .detail = detail && *detail ? detail : NULL });
}

/* The others waited for it. */
static void on_started(Crew *crew, const Member *member) {
        unsigned n;
        ProbeRun *runs = runs_of(crew, member, &n);
        for (unsigned i = 0; i < n; i++)
                if (runs[i].kind != PROBE_STARTUP && runs[i].check == CHECK_NONE)
                        plan_first(crew, &runs[i]);
}

static void act_on(Crew *crew, const ProbeRun *run) {
        Member *member = &crew->members[run->member];
        bool good = run->probe.opinion == PROBE_GOOD;
        if (run->kind != PROBE_READINESS && !good) {
                crew_unwell(crew, member, run->kind == PROBE_STARTUP ? ILL_STARTUP : ILL_LIVENESS);
                return;
        }
        if (run->kind == PROBE_STARTUP)
                on_started(crew, member);
        crew_try_ready(crew, member);
        crew_update_ready(crew, member);
}

static void judge(Crew *crew, ProbeRun *run, ProbeAnswer answer, usec_t begun_usec, const char *detail) {
        Member *member = &crew->members[run->member];
        ProbeStep step = probe_step(config_of(crew, run), (ProbeKind)run->kind, run->probe, answer,
                                    member->life.state == LIFE_STARTING, begun_usec);
        if (step.changed && run->kind == PROBE_READINESS)
                run->longest_usec = crew_longest_stretch(crew, member, crew_now(crew));
        run->probe = step.next;
        if (answer != PROBE_UNKNOWN)
                snprintf(run->detail, sizeof run->detail, "%s", answer == PROBE_FAILED && detail ? detail : "");
        if (!step.changed)
                return;
        run->since_usec = crew_now(crew);
        tell_change(crew, run, detail);
        act_on(crew, run);
}

static void begin(Crew *crew, ProbeRun *run) {
        usec_t now = crew_now(crew);
        run->begun_usec = now;
        crew->checks_at_once++;
        if (crew->stage->probe(crew->self, index_of(crew, run)) < 0) {
                plan_next(crew, run); /* nobody could look, and that says nothing of the service */
                return;
        }
        run->check = CHECK_RUNS;
        usec_t limit = usec_add(now, config_of(crew, run)->timeout_usec);
        set_alarm(crew, run, is_command(crew, run) ? limit : usec_add(limit, ANSWER_USEC));
}

/* As long as it cannot be ended, another failure is counted once a period: a service whose checks get stuck must not be
 * taken for a healthy one. */
static void await_end(Crew *crew, ProbeRun *run, usec_t counted_usec) {
        usec_t again = usec_add(counted_usec, config_of(crew, run)->period_usec);
        set_alarm(crew, run, usec_max(again, usec_add(crew_now(crew), GIVE_UP_USEC)));
}

/* Whoever looks from elsewhere keeps the time himself, for he knows whether he really looked; when even his answer that
 * it timed out does not come, he did not. */
static void on_silence(Crew *crew, ProbeRun *run) {
        run->check = CHECK_OVERDUE;
        set_alarm(crew, run, USEC_INFINITY);
        crew->stage->call_off_probe(crew->self, index_of(crew, run));
}

static void on_timeout(Crew *crew, ProbeRun *run) {
        char span[DURATION_TEXT_MAX], detail[DURATION_TEXT_MAX + 24];
        snprintf(detail, sizeof detail, "timed out after %s",
                 duration_format(config_of(crew, run)->timeout_usec, span));
        run->check = CHECK_OVERDUE;
        await_end(crew, run, run->begun_usec);
        crew->stage->call_off_probe(crew->self, index_of(crew, run));
        judge(crew, run, PROBE_FAILED, run->begun_usec, detail);
}

static void on_stuck(Crew *crew, ProbeRun *run) {
        usec_t now = crew_now(crew);
        await_end(crew, run, now);
        judge(crew, run, PROBE_FAILED, now, "its last check cannot be ended");
}

void crew_probe_alarm(Crew *crew, ProbeRun *run) {
        switch ((CheckState)run->check) {
        case CHECK_NONE: begin(crew, run); break;
        case CHECK_RUNS:
                if (is_command(crew, run))
                        on_timeout(crew, run);
                else
                        on_silence(crew, run);
                break;
        case CHECK_OVERDUE: on_stuck(crew, run); break;
        case CHECK_UNWANTED: give_up(crew, run, "outlived SIGKILL"); break;
        }
}

void crew_on_probed(Crew *crew, uint32_t index, ProbeAnswer answer, const char *detail) {
        if (crew->finished || index >= crew->n_probes || crew->probes[index].check == CHECK_NONE)
                return;
        ProbeRun *run = &crew->probes[index];
        CheckState was = run->check;
        run->check = CHECK_NONE;
        run->given_up = false;
        crew->survey_stale |= is_command(crew, run); /* it may have left children */
        if (was == CHECK_RUNS)
                judge(crew, run, answer, run->begun_usec, detail);
        if (was == CHECK_UNWANTED)
                plan_first(crew, run);
        else
                plan_next(crew, run);
        if (crew->members[run->member].life.state == LIFE_CLEARING)
                crew_want_survey(crew);
        crew_settle(crew);
}

size_t crew_probe_runs(const Crew *crew) {
        return crew->n_probes;
}

ProbeView crew_probe_view(const Crew *crew, uint32_t index) {
        const ProbeRun *run = &crew->probes[index];
        const ProbeConfig *config = config_of(crew, run);
        return (ProbeView){ .probe = config,
                            .kind = (ProbeKind)run->kind,
                            .member = run->member,
                            .opinion = run->probe.opinion,
                            .timeout_usec = config->timeout_usec };
}
