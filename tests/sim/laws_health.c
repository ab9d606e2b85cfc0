/* laws_health.c - P and W: what probes and watchdogs may do, counted once more from the answers alone; see laws.h. */
#include "tests/sim/laws_internal.h"
#include <signal.h>
#include <string.h>

bool laws_is_up(const Laws *laws, uint32_t member) {
        const MemberTruth *truth = &laws->members[member];
        return laws->world->main_slot[member] != NO_SLOT && !laws->ending && !truth->told_to_go && !truth->killed &&
               !truth->stops_before;
}

usec_t laws_slack(const Laws *laws) {
        return laws->world->schedule->late_timers ? 2 * USEC_PER_MSEC : 0;
}

void laws_place_probes(Laws *laws) {
        const Config *config = &laws->world->schedule->config;
        for (uint32_t m = 0; m < config->n_members; m++) {
                const ServiceConfig *service = laws_service(laws, m);
                if (!service->probes || service->type == SERVICE_ONESHOT)
                        continue;
                for (ProbeKind kind = 0; kind < _PROBE_KIND_MAX; kind++)
                        if (service->probes[kind].by != PROBE_BY_NONE)
                                laws->probes[laws->n_probes++] =
                                        (ProbeTruth){ .member = m, .kind = kind, .config = &service->probes[kind] };
        }
        if (crew_probe_runs(laws->world->crew) != laws->n_probes)
                laws_break(laws, "P", "the crew has %zu probe runs, and there are %u",
                           crew_probe_runs(laws->world->crew), laws->n_probes);
        for (uint32_t i = 0; i < laws->n_probes && !laws->broken; i++) {
                ProbeView view = crew_probe_view(laws->world->crew, i);
                if (view.member != laws->probes[i].member || view.kind != laws->probes[i].kind)
                        laws_break(laws, "P", "probe run %u is another one", i);
        }
}

static const ProbeTruth *find(const Laws *laws, uint32_t member, ProbeKind kind) {
        for (unsigned i = 0; i < laws->n_probes; i++)
                if (laws->probes[i].member == member && laws->probes[i].kind == kind)
                        return &laws->probes[i];
        return NULL;
}

static bool is_good(const Laws *laws, uint32_t member, ProbeKind kind) {
        const ProbeTruth *probe = find(laws, member, kind);
        return !probe || probe->opinion == PROBE_GOOD;
}

bool laws_is_unready(const Laws *laws, uint32_t member) {
        return !is_good(laws, member, PROBE_STARTUP) || !is_good(laws, member, PROBE_READINESS);
}

/* What is simple and has no such probe is ready as soon as it runs. */
bool laws_tells_ready(const Laws *laws, uint32_t member) {
        ServiceType type = laws_service(laws, member)->type;
        return type != SERVICE_ONESHOT &&
               (type != SERVICE_SIMPLE || find(laws, member, PROBE_STARTUP) || find(laws, member, PROBE_READINESS));
}

static bool has_any(const Laws *laws, uint32_t member) {
        return laws_service(laws, member)->probes && laws_service(laws, member)->type != SERVICE_ONESHOT;
}

void laws_begin_run(Laws *laws, uint32_t member) {
        MemberTruth *truth = &laws->members[member];
        truth->executed_usec = truth->ready_usec = truth->asked_usec = truth->stretch_usec = USEC_INFINITY;
        truth->longest_usec = 0;
        truth->sign_usec = USEC_INFINITY;
        truth->watchdog_usec = laws_service(laws, member)->watchdog_usec;
        truth->says_ready = truth->ill = truth->triggered = truth->told_to_go = false;
        for (unsigned i = 0; i < laws->n_probes; i++) {
                ProbeTruth *probe = &laws->probes[i];
                if (probe->member != member)
                        continue;
                probe->opinion = probe->kind == PROBE_LIVENESS ? PROBE_GOOD : PROBE_UNDECIDED;
                probe->good = probe->bad = 0;
                probe->counted_usec = 0;
                probe->stuck = false;
        }
}

/* Without probes the word alone counts, at any time; with them only while it is up. */
void laws_try_ready(Laws *laws, uint32_t member) {
        MemberTruth *truth = &laws->members[member];
        if (!truth->says_ready || truth->ready_usec != USEC_INFINITY || laws_is_unready(laws, member) ||
            (has_any(laws, member) && !laws_is_up(laws, member)))
                return;
        truth->ready_usec = truth->stretch_usec = truth->sign_usec = laws->world->now_usec;
        truth->ever_ready = true;
}

usec_t laws_ready_for(const Laws *laws, uint32_t member) {
        const MemberTruth *truth = &laws->members[member];
        usec_t until = usec_min(laws->world->now_usec, truth->asked_usec);
        if (truth->ready_usec == USEC_INFINITY)
                return 0;
        usec_t stretch = truth->stretch_usec == USEC_INFINITY ? 0 : usec_sub(until, truth->stretch_usec);
        return usec_max(usec_max(truth->longest_usec, stretch),
                        usec_min(usec_sub(until, truth->ready_usec), USEC_PER_SEC));
}

static bool is_decided(const ProbeTruth *probe) {
        return (probe->kind == PROBE_STARTUP && probe->opinion != PROBE_UNDECIDED) ||
               (probe->kind == PROBE_LIVENESS && probe->opinion == PROBE_BAD);
}

static bool is_starting(const Laws *laws, const ProbeTruth *probe) {
        return probe->kind != PROBE_LIVENESS && laws->members[probe->member].ready_usec == USEC_INFINITY;
}

static bool waits(const Laws *laws, const ProbeTruth *probe) {
        return probe->kind != PROBE_STARTUP && !is_good(laws, probe->member, PROBE_STARTUP);
}

static void change_readiness(Laws *laws, uint32_t member, bool good) {
        MemberTruth *truth = &laws->members[member];
        if (truth->ready_usec == USEC_INFINITY)
                return;
        if (!good && truth->stretch_usec != USEC_INFINITY)
                truth->longest_usec = usec_max(truth->longest_usec, laws->world->now_usec - truth->stretch_usec);
        truth->stretch_usec = good ? laws->world->now_usec : USEC_INFINITY;
}

static void form_opinion(Laws *laws, ProbeTruth *probe, ProbeOpinion opinion) {
        if (probe->opinion == opinion)
                return;
        probe->opinion = opinion;
        if (probe->kind == PROBE_READINESS)
                change_readiness(laws, probe->member, opinion == PROBE_GOOD);
        for (unsigned i = 0; probe->kind == PROBE_STARTUP && opinion == PROBE_GOOD && i < laws->n_probes; i++)
                if (laws->probes[i].member == probe->member && laws->probes[i].kind != PROBE_STARTUP)
                        laws->probes[i].latest_usec = usec_max(laws->probes[i].earliest_usec, laws->world->now_usec);
        laws_try_ready(laws, probe->member);
}

static void count(Laws *laws, ProbeTruth *probe, ProbeAnswer answer) {
        if (answer == PROBE_UNKNOWN || is_decided(probe))
                return;
        if (answer == PROBE_SUCCEEDED) {
                probe->bad = 0;
                if (++probe->good >= probe->config->successes)
                        form_opinion(laws, probe, PROBE_GOOD);
                return;
        }
        probe->good = 0;
        if (is_starting(laws, probe) && probe->counted_usec > 0 &&
            probe->begun_usec < probe->counted_usec + probe->config->period_usec)
                return;
        probe->counted_usec = probe->begun_usec;
        if (++probe->bad >= probe->config->failures)
                form_opinion(laws, probe, PROBE_BAD);
}

void laws_on_executed(Laws *laws, uint32_t member) {
        MemberTruth *truth = &laws->members[member];
        usec_t now = laws->world->now_usec;
        truth->executed_usec = now;
        for (unsigned i = 0; i < laws->n_probes; i++)
                if (laws->probes[i].member == member)
                        laws->probes[i].earliest_usec = laws->probes[i].latest_usec =
                                usec_add(now, laws->probes[i].config->delay_usec);
        if (laws_service(laws, member)->type != SERVICE_SIMPLE)
                return;
        truth->says_ready = true;
        laws_try_ready(laws, member);
}

bool laws_on_check(Laws *laws, uint32_t run) {
        ProbeTruth *probe = &laws->probes[run];
        usec_t now = laws->world->now_usec;
        if (laws->ending)
                laws_break(laws, "L5", "a check of probe run %u began in the ending", run);
        if (!laws_is_up(laws, probe->member))
                laws_break(laws, "P", "a check of probe run %u began, and member %u is not up", run, probe->member);
        if (laws->members[probe->member].executed_usec == USEC_INFINITY)
                laws_break(laws, "P", "a check of probe run %u began before exec", run);
        if (probe->open)
                laws_break(laws, "P", "a check of probe run %u began while one was there", run);
        if (waits(laws, probe) || is_decided(probe))
                laws_break(laws, "P", "a check of probe run %u began, and it waits or has decided", run);
        if (now < probe->earliest_usec)
                laws_break(laws, "P", "a check of probe run %u began %.6f s too early", run,
                           (double)(probe->earliest_usec - now) / 1e6);
        probe->begun_usec = now;
        probe->latest_usec = usec_add(now, probe->config->period_usec);
        probe->earliest_usec = is_starting(laws, probe) ? now + 1 : probe->latest_usec;
        return !laws->broken;
}

void laws_on_check_begun(Laws *laws, uint32_t run) {
        ProbeTruth *probe = &laws->probes[run];
        probe->open = probe->wanted = true;
        probe->called_off_early = false;
        probe->run = laws->world->runs[probe->member];
}

static bool is_command(const ProbeTruth *probe) {
        return probe->config->by == PROBE_BY_EXEC;
}

/* The other checks have their time kept by whoever looks, and a second for his answer; his silence says nothing. */
static usec_t limit_of(const ProbeTruth *probe) {
        return usec_add(probe->begun_usec, probe->config->timeout_usec + (is_command(probe) ? 0 : USEC_PER_SEC));
}

void laws_on_call_off(Laws *laws, uint32_t run) {
        ProbeTruth *probe = &laws->probes[run];
        if (!probe->open || !probe->wanted)
                laws_break(laws, "P", "probe run %u was called off, and nothing of it was wanted", run);
        probe->wanted = false;
        probe->called_off_early = laws->world->now_usec < limit_of(probe);
        if (!probe->called_off_early && is_command(probe) && laws_is_up(laws, probe->member))
                count(laws, probe, PROBE_FAILED);
}

/* What comes after it was called off says nothing, and what was asked in an earlier run says nothing of this one. */
void laws_on_answer(Laws *laws, uint32_t run, ProbeAnswer answer) {
        ProbeTruth *probe = &laws->probes[run];
        probe->open = false;
        probe->latest_usec = usec_max(probe->latest_usec, laws->world->now_usec);
        if (probe->wanted && laws_is_up(laws, probe->member) && probe->run == laws->world->runs[probe->member])
                count(laws, probe, answer);
}

static bool is_bad(const Laws *laws, uint32_t member, ProbeKind kind) {
        const ProbeTruth *probe = find(laws, member, kind);
        return probe && (probe->opinion == PROBE_BAD || probe->stuck);
}

static bool is_overdue(const Laws *laws, uint32_t member) {
        const MemberTruth *truth = &laws->members[member];
        return truth->triggered || (truth->sign_usec != USEC_INFINITY &&
                                    laws->world->now_usec >= usec_add(truth->sign_usec, truth->watchdog_usec));
}

/* Who is asked for its health is ill, by the truth, and no ending has begun. */
void laws_check_ill(Laws *laws, uint32_t member, int signal_number, const char *reason) {
        bool startup = strcmp(reason, "startup") == 0, liveness = strcmp(reason, "liveness") == 0;
        bool watchdog = strcmp(reason, "watchdog") == 0;
        if (!startup && !liveness && !watchdog)
                return;
        if (laws->ending)
                laws_break(laws, "L5", "member %u was asked in the ending, for its %s", member, reason);
        if (startup && !is_bad(laws, member, PROBE_STARTUP))
                laws_break(laws, "P", "member %u was asked, and its start-up probe has not failed", member);
        if (liveness && !is_bad(laws, member, PROBE_LIVENESS))
                laws_break(laws, "P", "member %u was asked, and its liveness probe has not failed", member);
        if (watchdog && (!is_overdue(laws, member) || signal_number != SIGABRT))
                laws_break(laws, "W", "member %u was asked for its watchdog, by signal %d", member, signal_number);
        laws->members[member].ill = true;
}

/* Of a check that cannot be ended another failure is counted once a period; when exactly, only the crew knows. */
static void note_stuck(Laws *laws, uint32_t run) {
        ProbeTruth *probe = &laws->probes[run];
        usec_t again = usec_add(probe->begun_usec, usec_min(probe->config->period_usec, USEC_PER_SEC));
        probe->stuck |= is_command(probe) && probe->open && !probe->wanted && laws_is_up(laws, probe->member) &&
                        laws->world->now_usec >= again;
        if (probe->stuck && laws_is_up(laws, probe->member))
                form_opinion(laws, probe, crew_probe_view(laws->world->crew, run).opinion);
}

void laws_on_probe_changed(Laws *laws, uint32_t member, const Event *event) {
        int kind = event->probe ? probe_kind_from_string(event->probe) : -1;
        const ProbeTruth *probe = kind < 0 || member == CREW_NOBODY ? NULL : find(laws, member, (ProbeKind)kind);
        if (!probe) {
                laws_break(laws, "E", "a probe changed its mind that is nobody's");
                return;
        }
        note_stuck(laws, (uint32_t)(probe - laws->probes));
        if (!probe->stuck && probe->opinion != (event->ok ? PROBE_GOOD : PROBE_BAD))
                laws_break(laws, "P", "the %s probe of member %u %s, says the journal, by no answer of this run",
                           event->probe, member, event->ok ? "succeeds" : "fails");
}

void laws_on_watchdog_changed(Laws *laws, uint32_t member, usec_t usec) {
        MemberTruth *truth = &laws->members[member];
        if (truth->watchdog_usec == USEC_INFINITY && truth->ready_usec != USEC_INFINITY)
                truth->sign_usec = laws->world->now_usec;
        truth->watchdog_usec = usec;
}

static void check_probe(Laws *laws, uint32_t run) {
        ProbeTruth *probe = &laws->probes[run];
        const World *world = laws->world;
        bool up = laws_is_up(laws, probe->member) && laws->members[probe->member].executed_usec != USEC_INFINITY;
        usec_t now = usec_sub(world->now_usec, laws_slack(laws));
        if (probe->open && probe->wanted && !up)
                laws_break(laws, laws->ending ? "L5" : "P", "probe run %u was not called off, and member %u is not up",
                           run, probe->member);
        note_stuck(laws, run);
        if (!up)
                return;
        if (probe->called_off_early && probe->open && probe->run == world->runs[probe->member])
                laws_break(laws, "P", "probe run %u was called off before its time", run);
        if (probe->open && probe->wanted && now > limit_of(probe))
                laws_break(laws, "P", "the check of probe run %u is awaited beyond its time", run);
        if (!probe->open && !waits(laws, probe) && !is_decided(probe) && now > probe->latest_usec)
                laws_break(laws, "P", "probe run %u is forgotten", run);
        if (crew_probe_view(world->crew, run).opinion != probe->opinion)
                laws_break(laws, "P", "the crew has another opinion of probe run %u than its answers", run);
        if (probe->kind != PROBE_READINESS && probe->opinion == PROBE_BAD)
                laws_break(laws, "P", "the %s probe of member %u has failed, and it lives on",
                           probe_kind_to_string(probe->kind), probe->member);
}

static void check_member(Laws *laws, uint32_t member) {
        const MemberTruth *truth = &laws->members[member];
        usec_t now = usec_sub(laws->world->now_usec, laws_slack(laws));
        if (!laws_is_up(laws, member))
                return;
        if (truth->triggered)
                laws_break(laws, "W", "member %u pulled its watchdog, and lives on", member);
        if (truth->sign_usec != USEC_INFINITY && now > usec_add(truth->sign_usec, truth->watchdog_usec))
                laws_break(laws, "W", "member %u gives no sign of life, and lives on", member);
        bool ready = truth->ready_usec != USEC_INFINITY && !laws_is_unready(laws, member);
        if (crew_view(laws->world->crew, member).ready != ready)
                laws_break(laws, "P", "member %u is %s, and the crew does not think so", member,
                           ready ? "ready" : "not ready");
        if (!ready && truth->ready_usec != USEC_INFINITY && !laws_service(laws, member)->aside &&
            !laws_service(laws, member)->by_hand && crew_overview(laws->world->crew).ready)
                laws_break(laws, "L6", "everything is ready, says the crew, and member %u is not", member);
}

void laws_check_health(Laws *laws) {
        for (uint32_t i = 0; i < laws->n_probes; i++)
                check_probe(laws, i);
        for (uint32_t m = 0; m < laws->world->schedule->config.n_members; m++)
                check_member(laws, m);
}

void laws_check_checks_ended(Laws *laws) {
        for (uint32_t i = 0; i < laws->n_probes; i++)
                if (laws->probes[i].open && laws->probes[i].wanted)
                        laws_break(laws, "L7", "the check of probe run %u was neither answered nor called off", i);
}
