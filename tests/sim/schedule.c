/* schedule.c - draws configurations; see schedule.h. */
#include "tests/sim/schedule.h"

#include "shutdown/conductor.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

static char *no_words[] = { NULL };
static char *fake_argv[] = { (char *)"fake", NULL };

static const char *const phase_names[] = { "http", "workers", "db", "telemetry" };

static void draw_supervisor(Schedule *schedule, Random *random) {
        Config *config = &schedule->config;
        unsigned mode = random_below(random, 10);
        config->mode = mode < 6 ? MODE_PRODUCTION : mode < 8 ? MODE_STAGING : MODE_DEVELOPMENT;
        config->grace_usec = random_chance(random, 40) ? 30 * USEC_PER_SEC
                                                       : random_usec(random, 1 * USEC_PER_SEC, 60 * USEC_PER_SEC);
        config->deadline_usec = budget_default_deadline(config->grace_usec);
        if (random_chance(random, 30))
                config->deadline_usec = random_usec(random, USEC_PER_SEC / 2, config->grace_usec);
        config->exit_code_from = -1;
        config->control_group = -1;
        schedule->wild_hooks = random_chance(random, 60);
        schedule->spawn_fails = random_chance(random, 10);
        schedule->lazy_collection = random_chance(random, 50);
        schedule->late_timers = random_chance(random, 20);
        schedule->gateway = (int)random_below(random, 4);
}

static void draw_phases(Config *config, Random *random) {
        config->n_phases = 1 + random_below(random, 4);
        unsigned first = random_below(random, 5 - config->n_phases);
        usec_t room = config->deadline_usec / (4 * config->n_phases);
        for (unsigned i = 0; i < config->n_phases; i++) {
                PhaseConfig *phase = &config->phases[i];
                *phase = (PhaseConfig){ .timeout_usec = USEC_INFINITY };
                snprintf(phase->name, sizeof phase->name, "%s", phase_names[first + i]);
                if (random_chance(random, 35))
                        phase->timeout_usec = random_usec(random, 0, 2 * room);
                if (random_chance(random, 25))
                        phase->delay_usec = random_usec(random, 1, room);
        }
}

static void draw_restart(ServiceConfig *service, Random *random) {
        service->restart = random_below(random, _RESTART_MAX);
        service->start_limit_burst = random_chance(random, 5) ? 0 : 1 + random_below(random, 6);
        service->restart_usec = random_chance(random, 10)   ? 0
                                : random_chance(random, 50) ? 500 * USEC_PER_MSEC
                                                            : random_usec(random, 1, 5 * USEC_PER_SEC);
        if (service->start_limit_burst == 0) /* with neither limit nor delay there is no end of it */
                service->restart_usec = usec_max(service->restart_usec, 50 * USEC_PER_MSEC);
        service->restart_max_usec = random_chance(random, 60)   ? 30 * USEC_PER_SEC
                                    : random_chance(random, 15) ? USEC_INFINITY
                                                                : random_usec(random, 0, 120 * USEC_PER_SEC);
}

static void draw_limits(ServiceConfig *service, Random *random) {
        service->timeout_start_usec = random_chance(random, 40)   ? 90 * USEC_PER_SEC
                                      : random_chance(random, 10) ? USEC_INFINITY
                                                                  : random_usec(random, 1, 10 * USEC_PER_SEC);
        service->timeout_stop_usec = random_chance(random, 60)   ? USEC_UNSET
                                     : random_chance(random, 15) ? USEC_INFINITY
                                                                 : random_usec(random, 0, 10 * USEC_PER_SEC);
        service->kill_mode = random_chance(random, 60) ? KILL_MIXED : random_below(random, _KILL_MODE_MAX);
        service->kill_signal = random_chance(random, 70) ? SIGTERM : random_chance(random, 50) ? SIGINT : SIGQUIT;
        service->drained_signal = SIGTERM;
        if (random_chance(random, 10))
                service->success->codes[0] |= 1U << 7;
        if (random_chance(random, 5))
                service->success->signals |= 1U << SIGTERM;
}

static ProbeConfig draw_probe(ProbeKind kind, Random *random) {
        usec_t second = USEC_PER_SEC;
        ProbeConfig probe = {
                .by = random_chance(random, 50) ? PROBE_BY_EXEC : PROBE_BY_TCP,
                .period_usec = random_chance(random, 70) ? random_usec(random, 5 * second, 20 * second)
                                                         : random_usec(random, 100 * USEC_PER_MSEC, 3 * second),
                .timeout_usec = random_chance(random, 60) ? 1 * second : random_usec(random, 1, 5 * second),
                .delay_usec = random_chance(random, 70) ? 0 : random_usec(random, 1, 5 * second),
                .failures = (uint16_t)(1 + random_below(random, 3)),
                .successes = (uint16_t)(kind == PROBE_READINESS ? 1 + random_below(random, 2) : 1),
        };
        return probe;
}

static void draw_probes(Schedule *schedule, unsigned i, Random *random) {
        if (!random_chance(random, 40))
                return;
        for (ProbeKind kind = 0; kind < _PROBE_KIND_MAX; kind++)
                if (random_chance(random, 55))
                        schedule->probes[i][kind] = draw_probe(kind, random);
        schedule->services[i].probes = schedule->probes[i];
}

/* What is watched, held and told besides. */
static void draw_care(Schedule *schedule, unsigned i, Random *random) {
        static ListenConfig listen;
        ServiceConfig *service = &schedule->services[i];
        service->notify_fd = service->type == SERVICE_NOTIFY_FD ? 3 : -1;
        service->watchdog_usec = !random_chance(random, 20)  ? USEC_INFINITY
                                 : random_chance(random, 80) ? random_usec(random, USEC_PER_SEC, 30 * USEC_PER_SEC)
                                                             : random_usec(random, 100 * USEC_PER_MSEC, USEC_PER_SEC);
        service->reload_signal = random_chance(random, 40) ? SIGHUP : 0;
        service->descriptor_store_max = random_chance(random, 30) ? 4 : 0;
        if (random_chance(random, 40)) {
                service->listens = &listen;
                service->n_listens = 1;
        }
        draw_probes(schedule, i, random);
}

/* Whose health fails after a while needs the probe that sees it, and a limit that could be missed. */
static void draw_half_ill(Schedule *schedule, unsigned i, Random *random) {
        ServiceConfig *service = &schedule->services[i];
        ProbeKind kind = schedule->characters[i] == CHARACTER_SICKLY ? PROBE_LIVENESS : PROBE_READINESS;
        schedule->probes[i][kind] = (ProbeConfig){ .by = random_chance(random, 50) ? PROBE_BY_EXEC : PROBE_BY_TCP,
                                                   .period_usec = random_usec(random, USEC_PER_SEC, 5 * USEC_PER_SEC),
                                                   .timeout_usec = 1 * USEC_PER_SEC,
                                                   .failures = 1,
                                                   .successes = 1 };
        service->probes = schedule->probes[i];
        service->type = SERVICE_SIMPLE;
        service->notify_fd = -1;
        service->restart = RESTART_ON_FAILURE;
        service->start_limit_burst = 2;
        service->restart_max_usec = usec_min(service->restart_max_usec, 30 * USEC_PER_SEC);
        service->watchdog_usec = USEC_INFINITY;
        if (random_chance(random, 50))
                service->timeout_stop_usec = USEC_INFINITY;
}

static void draw_service(Schedule *schedule, unsigned i, Random *random) {
        ServiceConfig *service = &schedule->services[i];
        *service = (ServiceConfig){
                .argv = fake_argv,
                .phase = (uint16_t)random_below(random, schedule->config.n_phases),
                .instances = (uint16_t)(random_chance(random, 65) ? 1 : 2 + random_below(random, 2)),
                .type = random_below(random, _SERVICE_TYPE_MAX),
                .essential = random_chance(random, 50),
        };
        snprintf(schedule->names[i], sizeof schedule->names[i], "s%u", i);
        service->name = schedule->names[i];
        service->relations = &schedule->relations[i];
        service->success = &schedule->successes[i];
        draw_restart(service, random);
        draw_limits(service, random);
        draw_care(schedule, i, random);

        Character *character = &schedule->characters[i];
        *character = random_chance(random, 35) ? CHARACTER_STEADY : random_below(random, _CHARACTER_MAX);
        if (*character == CHARACTER_DRAINER || random_chance(random, 8))
                service->drain_until = random_chance(random, 85) ? DRAIN_NOTIFY : DRAIN_EXIT;
        if (*character == CHARACTER_RECYCLER && random_chance(random, 80))
                service->restart = RESTART_ALWAYS;
        if (*character == CHARACTER_SICKLY || *character == CHARACTER_WAVERING)
                draw_half_ill(schedule, i, random);
        service->builtin = random_chance(random, 10);
        service->aside = random_chance(random, 10); /* is never essential, as the configuration has it */
        service->essential &= !service->aside;
        service->by_hand = !service->builtin && random_chance(random, 8);
}

/* Only towards services with a lower index, so that there is no ring. */
static void draw_relations(Schedule *schedule, unsigned i, Random *random) {
        ServiceConfig *service = &schedule->services[i];
        Relations *relations = service->relations;
        relations->after.items = schedule->related[i][0];
        relations->requires.items = schedule->related[i][1];
        for (uint16_t other = 0; other < i; other++) {
                if (schedule->services[other].phase != service->phase || !random_chance(random, 40))
                        continue;
                relations->after.items[relations->after.n++] = other;
                /* Who is started requires only who is started, as the configuration has it. */
                if (random_chance(random, 40) && (service->by_hand || !schedule->services[other].by_hand))
                relations->requires.items[relations->requires.n++] = other;
        }
}

static void draw_hook(Schedule *schedule, unsigned i, Random *random) {
        Config *config = &schedule->config;
        HookConfig *hook = &schedule->hooks[i];
        *hook = (HookConfig){ .argv = fake_argv, .service = -1, .phase = -1 };
        snprintf(hook->name, sizeof hook->name, "h%u", i);
        hook->on = random_below(random, _HOOK_ON_MAX);
        if (hook->on == HOOK_BEGIN || hook->on == HOOK_END)
                hook->phase = (int)random_below(random, config->n_phases);
        else
                hook->service = (int)random_below(random, (unsigned)config->n_services);
        hook->timeout_usec = random_chance(random, 50) ? 5 * USEC_PER_SEC : random_usec(random, 1, 5 * USEC_PER_SEC);
        hook->on_failure = random_chance(random, 30) ? ON_FAILURE_ABORT : ON_FAILURE_CONTINUE;
        if (random_chance(random, 5)) {
                hook->argv = NULL;
                hook->log_pattern = (char *)"closed";
        }
}

static void seal_relations(Schedule *schedule, unsigned i) {
        ServiceConfig *service = &schedule->services[i];
        const Relation *after = service_after(service);
        service->relations->before = (Relation){ .items = schedule->related[i][2] };
        service->depth = 1;
        for (uint16_t n = 0; n < after->n; n++) {
                ServiceConfig *other = &schedule->services[after->items[n]];
                Relation *before = &other->relations->before;
                before->items[before->n++] = (uint16_t)i;
                if (service->depth <= other->depth)
                        service->depth = (uint16_t)(other->depth + 1);
        }
}

static bool seal_budget(Config *config) {
        BudgetPhase phases[PHASES_MAX];
        for (unsigned i = 0; i < config->n_phases; i++) {
                phases[i] = (BudgetPhase){ .name = config->phases[i].name,
                                           .delay_usec = config->phases[i].delay_usec,
                                           .timeout_usec = config->phases[i].timeout_usec };
                for (size_t s = 0; s < config->n_services; s++)
                        phases[i].members += config->services[s].phase == i ? config->services[s].instances : 0;
        }
        usec_t sum;
        return budget_plan(config->deadline_usec, phases, config->n_phases, &config->budget, &sum) == 0;
}

void schedule_seal(Schedule *schedule) {
        Config *config = &schedule->config;
        config->services = schedule->services;
        config->hooks = schedule->hooks;
        config->files = no_words;
        uint32_t member = 0;
        for (unsigned i = 0; i < config->n_services; i++) {
                seal_relations(schedule, i);
                schedule->first_member[i] = member;
                for (unsigned n = 0; n < schedule->services[i].instances; n++)
                        schedule->service_of[member++] = (uint16_t)i;
        }
        config->n_members = member;
        if (seal_budget(config))
                return;
        /* What does not fit would be refused by the configuration: then every phase shares. */
        for (unsigned i = 0; i < config->n_phases; i++)
                config->phases[i].timeout_usec = USEC_INFINITY, config->phases[i].delay_usec = 0;
        seal_budget(config);
}

static void make_single(Schedule *schedule) {
        Config *config = &schedule->config;
        config->single = true;
        config->n_phases = config->n_services = schedule->services[0].instances = 1;
        config->n_hooks = 0;
        snprintf(config->phases[0].name, sizeof config->phases[0].name, "command");
        schedule->services[0].phase = 0;
        schedule->services[0].essential = true;
        schedule->services[0].builtin = schedule->services[0].aside = schedule->services[0].by_hand = false;
        schedule->services[0].restart = RESTART_NO;
        schedule->services[0].type = SERVICE_SIMPLE;
        schedule->services[0].notify_fd = -1;
        schedule->services[0].probes = NULL;
        schedule->services[0].n_listens = schedule->services[0].descriptor_store_max = 0;
        schedule->services[0].reload_signal = 0;
        schedule->services[0].watchdog_usec = USEC_INFINITY;
}

/* Most of what comes from outside comes during the ending, and a third of that at the instants where its limits are. */
static usec_t draw_instant(const Schedule *schedule, Random *random) {
        const Budget *budget = &schedule->config.budget;
        usec_t end = schedule->end_usec;
        if (random_chance(random, 15))
                return random_usec(random, 0, end + budget->deadline_usec);
        if (random_chance(random, 20))
                return end;
        if (random_chance(random, 30))
                return end + random_usec(random, 0, 300 * USEC_PER_MSEC);
        if (random_chance(random, 50))
                return end + random_usec(random, 0, budget->deadline_usec);
        usec_t limit = budget_limit(budget, random_below(random, budget->n_phases));
        if (random_chance(random, 15))
                limit = random_chance(random, 50) ? budget->deadline_usec : ACKNOWLEDGEMENT_USEC;
        return end + limit + random_below(random, 3) - (limit > 0);
}

static OutsideKind draw_kind(Random *random) {
        static const OutsideKind often[] = {
                OUTSIDE_END_SIGNAL, OUTSIDE_END_REQUEST,  OUTSIDE_FAST_SIGNAL,  OUTSIDE_FAST_REQUEST,
                OUTSIDE_EARLY_TICK, OUTSIDE_ACKNOWLEDGED, OUTSIDE_ACKNOWLEDGED, OUTSIDE_MARK,
                OUTSIDE_STRANGER,   OUTSIDE_SURVEY,       OUTSIDE_TRIGGER,      OUTSIDE_RELOAD,
                OUTSIDE_START,      OUTSIDE_STOP,         OUTSIDE_RESTART,      OUTSIDE_RUN_HOOK,
        };
        if (random_chance(random, 2))
                return OUTSIDE_OWN_FAULT;
        if (random_chance(random, 8))
                return OUTSIDE_SAYS_NONSENSE;
        return often[random_below(random, sizeof often / sizeof *often)];
}

/* Persons come before the ending, mostly: in it they are sent away. */
static Outside draw_person(const Schedule *schedule, Random *random) {
        static const OutsideKind kinds[] = { OUTSIDE_START,   OUTSIDE_STOP,   OUTSIDE_STOP,    OUTSIDE_RESTART,
                                             OUTSIDE_RESTART, OUTSIDE_SIGNAL, OUTSIDE_RUN_HOOK };
        usec_t end = schedule->end_usec;
        return (Outside){ .kind = kinds[random_below(random, sizeof kinds / sizeof *kinds)],
                          .at_usec = random_chance(random, 30) ? random_usec(random, 0, usec_min(end, USEC_PER_SEC))
                                                               : random_usec(random, 0, end),
                          .member = random_below(random, (unsigned)schedule->config.n_members) };
}

static void draw_outside(Schedule *schedule, Random *random) {
        static const usec_t latest[] = { 2 * USEC_PER_SEC, 2 * USEC_PER_SEC, 40 * USEC_PER_SEC, 200 * USEC_PER_SEC };
        schedule->end_usec = random_usec(random, 0, latest[random_below(random, 4)]);
        schedule->persons = random_chance(random, 40);
        for (size_t i = 0; i < schedule->config.n_services; i++)
                if (schedule->characters[i] == CHARACTER_SICKLY || schedule->characters[i] == CHARACTER_WAVERING)
                        schedule->end_usec = random_usec(random, 0, 400 * USEC_PER_SEC);
        OutsideKind first = random_below(random, 10) < 9 ? OUTSIDE_END_SIGNAL : OUTSIDE_FAST_REQUEST;
        schedule->outside[0] = (Outside){ .kind = first, .at_usec = schedule->end_usec };
        schedule->n_outside = 1 + random_below(random, random_chance(random, 50) ? 3 : SIM_HAPPENINGS_MAX);
        for (unsigned i = 1; i < schedule->n_outside; i++)
                schedule->outside[i] = (Outside){
                        .kind = draw_kind(random),
                        .at_usec = draw_instant(schedule, random),
                        .member = random_below(random, (unsigned)schedule->config.n_members),
                };
        for (unsigned i = 1; schedule->persons && i < schedule->n_outside; i++)
                if (random_chance(random, 70))
                        schedule->outside[i] = draw_person(schedule, random);
}

void schedule_make(Schedule *ret, uint64_t seed) {
        Random random = { .state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1 };
        Config *config = &ret->config;
        memset(ret, 0, sizeof *ret);
        ret->seed = seed;
        draw_supervisor(ret, &random);
        draw_phases(config, &random);
        config->n_services = 1 + random_below(&random, SIM_SERVICES_MAX);
        config->n_hooks = random_chance(&random, 40) ? 0 : random_below(&random, SIM_HOOKS_MAX + 1);
        for (unsigned i = 0; i < config->n_services; i++) {
                draw_service(ret, i, &random);
                draw_relations(ret, i, &random);
        }
        for (unsigned i = 0; i < config->n_hooks; i++)
                draw_hook(ret, i, &random);
        if (random_chance(&random, 15))
                config->exit_code_from = (int)random_below(&random, (unsigned)config->n_services);
        if (random_chance(&random, 5))
                make_single(ret);
        schedule_seal(ret);
        draw_outside(ret, &random);
}
