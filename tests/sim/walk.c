/* walk.c - every way that a small configuration can end: 2 http, 2 workers, 1 db, with every fate of each and every
 * health of the workers, endings asked at each stage, second requests at each limit, and every order of what falls on
 * the same instant (up to a bound a run).
 *
 *   walk [--bound N]      N: how many ties a run are taken in every order; later ones keep the first order */
#include "tests/sim/chooser.h"
#include "tests/sim/coverage.h"
#include "tests/sim/play.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define STATES_MAX (1U << 22)

typedef enum Fate { FATE_OBEYS, FATE_IGNORES, FATE_DEAD, _FATE_MAX } Fate;

/* Of the workers. */
typedef enum Health {
        HEALTH_UNSEEN, /* nobody looks at it */
        HEALTH_GOOD,
        HEALTH_DIES,    /* at its first check */
        HEALTH_HANGS,   /* the command that looks at it, for a while also after SIGKILL */
        HEALTH_UNREADY, /* by its readiness probe */
        HEALTH_MUTE,    /* it gives no sign of life, and then pulls its watchdog besides */
        _HEALTH_MAX,
} Health;

static World world;
static Laws laws;
static Schedule schedule;
static Chooser chooser;
static Fate fates[5];
static Health health;
static unsigned orphan; /* of the first http: none, obeys, ignores */
static uint64_t *states;
static uint64_t n_states;

static void add_service(const char *name, uint16_t phase, uint16_t instances) {
        static char *argv[] = { (char *)"fake", NULL };
        size_t i = schedule.config.n_services++;
        snprintf(schedule.names[i], sizeof schedule.names[i], "%s", name);
        schedule.services[i] = (ServiceConfig){
                .name = schedule.names[i],
                .relations = &schedule.relations[i],
                .argv = argv,
                .phase = phase,
                .instances = instances,
                .restart = RESTART_ON_FAILURE,
                .kill_signal = SIGTERM,
                .drained_signal = SIGTERM,
                .start_limit_burst = 3,
                .restart_usec = 500 * USEC_PER_MSEC,
                .restart_max_usec = 30 * USEC_PER_SEC,
                .timeout_start_usec = 90 * USEC_PER_SEC,
                .timeout_stop_usec = USEC_UNSET,
                .watchdog_usec = USEC_INFINITY,
                .notify_fd = -1,
        };
}

static void make_configuration(void) {
        static const char *const phases[] = { "http", "workers", "db" };
        memset(&schedule, 0, sizeof schedule);
        Config *config = &schedule.config;
        config->grace_usec = 10 * USEC_PER_SEC;
        config->deadline_usec = budget_default_deadline(config->grace_usec);
        config->exit_code_from = config->control_group = -1;
        config->n_phases = 3;
        for (unsigned i = 0; i < 3; i++) {
                config->phases[i].timeout_usec = USEC_INFINITY;
                snprintf(config->phases[i].name, sizeof config->phases[i].name, "%s", phases[i]);
        }
        add_service("http", 0, 2);
        add_service("worker", 1, 2);
        add_service("db", 2, 1);
        static ListenConfig listen;
        schedule.services[1].listens = &listen;
        schedule.services[1].n_listens = schedule.services[1].descriptor_store_max = 1;
        schedule_seal(&schedule);
}

/* Two instances are alike: of (a, b) and (b, a) one is enough. */
static void choose_pair(Fate *first) {
        static const Fate pairs[][2] = { { FATE_OBEYS, FATE_OBEYS },  { FATE_OBEYS, FATE_IGNORES },
                                         { FATE_OBEYS, FATE_DEAD },   { FATE_IGNORES, FATE_IGNORES },
                                         { FATE_IGNORES, FATE_DEAD }, { FATE_DEAD, FATE_DEAD } };
        memcpy(first, pairs[chooser_pick(&chooser, 6)], sizeof pairs[0]);
}

static void choose_outside(void) {
        static const usec_t asked[] = { 0, 1 * USEC_PER_MSEC, 2 * USEC_PER_MSEC, 3 * USEC_PER_MSEC,
                                        200 * USEC_PER_MSEC };
        const Budget *budget = &schedule.config.budget;
        usec_t end = asked[chooser_pick(&chooser, 5)];
        const usec_t again[] = { end,
                                 end + 50 * USEC_PER_MSEC,
                                 end + budget_limit(budget, 0),
                                 end + budget_limit(budget, 1),
                                 end + budget_limit(budget, 2),
                                 end + budget->deadline_usec };
        schedule.end_usec = end;
        schedule.outside[0] = (Outside){ .kind = OUTSIDE_END_SIGNAL, .at_usec = end };
        schedule.n_outside = 1;
        /* What looks at the workers' health is called off by the first request: the later instants are others' concern.
         */
        unsigned instants = health == HEALTH_UNSEEN ? 6 : 2, second = chooser_pick(&chooser, 1 + 2 * instants);
        if (second == 0)
                return;
        schedule.outside[1] = (Outside){ .kind = second > instants ? OUTSIDE_FAST_REQUEST : OUTSIDE_END_SIGNAL,
                                         .at_usec = again[(second - 1) % instants] };
        schedule.n_outside = 2;
}

static void choose_health(void) {
        ServiceConfig *worker = &schedule.services[1];
        ProbeConfig probe = { .by = PROBE_BY_EXEC,
                              .period_usec = 30 * USEC_PER_MSEC,
                              .timeout_usec = 10 * USEC_PER_MSEC,
                              .failures = 1,
                              .successes = 1 };
        health = (Health)chooser_pick(&chooser, _HEALTH_MAX);
        memset(schedule.probes[1], 0, sizeof schedule.probes[1]);
        if (health == HEALTH_GOOD || health == HEALTH_DIES || health == HEALTH_HANGS)
                schedule.probes[1][PROBE_LIVENESS] = probe;
        if (health == HEALTH_UNREADY)
                schedule.probes[1][PROBE_READINESS] = probe;
        worker->probes = schedule.probes[1];
        worker->watchdog_usec = health == HEALTH_MUTE ? 20 * USEC_PER_MSEC : USEC_INFINITY;
}

static void choose(void) {
        choose_pair(&fates[0]);
        choose_pair(&fates[2]);
        fates[4] = (Fate)chooser_pick(&chooser, _FATE_MAX);
        orphan = chooser_pick(&chooser, 3);
        choose_health();
        schedule.gateway = (int)chooser_pick(&chooser, 2);
        choose_outside();
}

static void make_check(Script *script) {
        static const Ended ends[] = { { .code = CLD_EXITED, .status = 0 }, { .code = CLD_EXITED, .status = 1 } };
        *script = (Script){ .ready_usec = USEC_INFINITY,
                            .life_usec = health == HEALTH_HANGS ? USEC_INFINITY : 1 * USEC_PER_MSEC,
                            .end = ends[health != HEALTH_GOOD],
                            .die_usec = health == HEALTH_HANGS ? 40 * USEC_PER_MSEC : 0 };
}

static void rewrite(World *in, uint32_t member, Script *script) {
        if (script->is_check) {
                make_check(script);
                return;
        }
        if (script->generation > 0) {
                *script = (Script){ .ready_usec = USEC_INFINITY, .life_usec = USEC_INFINITY, .generation = 1 };
                script->obey_usec = orphan == 1 ? 300 * USEC_PER_MSEC : USEC_INFINITY;
                script->obeyed = (Ended){ .code = CLD_KILLED, .status = SIGTERM };
                return;
        }
        *script = (Script){
                .exec_usec = 1 * USEC_PER_MSEC,
                .ready_usec = USEC_INFINITY,
                .life_usec = fates[member] == FATE_DEAD ? 49 * USEC_PER_MSEC : USEC_INFINITY,
                .obey_usec = fates[member] == FATE_OBEYS ? 50 * USEC_PER_MSEC : USEC_INFINITY,
        };
        if (health == HEALTH_MUTE && schedule.service_of[member] == 1)
                script->trigger_usec = 25 * USEC_PER_MSEC;
        if (member == 0 && orphan > 0)
                script->descendants = 1;
        (void)in;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
        hash = (hash ^ value) * UINT64_C(0x100000001b3);
        return hash ^ hash >> 29;
}

/* What can be seen of the crew and the world, without the clock. */
static void look(const World *at) {
        if (!at->crew || !states)
                return;
        CrewView view = crew_overview(at->crew);
        uint64_t hash = mix(14695981039346656037U, (uint64_t)(uintptr_t)view.step);
        hash = mix(hash, (uint64_t)(uintptr_t)view.phase);
        hash = mix(hash, (uint64_t)view.fast << 2 | (uint64_t)view.ready << 1 | view.ending);
        hash = mix(hash, view.orphans);
        for (uint32_t i = 0; i < crew_size(at->crew); i++) {
                hash = mix(hash, (uint64_t)(uintptr_t)crew_view(at->crew, i).state);
                hash = mix(hash, at->main_slot[i] == NO_SLOT ? 9 : (uint64_t)at->processes[at->main_slot[i]].state);
        }
        hash |= hash == 0;
        for (uint64_t i = hash;; i++) {
                uint64_t *slot = &states[i % STATES_MAX];
                if (*slot == hash || n_states == STATES_MAX / 2)
                        return;
                if (*slot != 0)
                        continue;
                *slot = hash;
                n_states++;
                return;
        }
}

static int report(uint64_t run) {
        char law[sizeof laws.law], text[sizeof laws.text];
        snprintf(law, sizeof law, "%s", laws.law);
        snprintf(text, sizeof text, "%s", laws.text);
        printf("law %s is broken in run %" PRIu64 ": %s\n\n", law, run, text);
        chooser.at = 0;
        choose();
        play(&world, &laws, &schedule, &(PlayRules){ .trace = true, .chooser = &chooser, .rewrite = rewrite });
        printf("law %s is broken: %s\n", law, text);
        return 1;
}

int main(int argc, char **argv) {
        unsigned bound = argc == 3 && strcmp(argv[1], "--bound") == 0 ? (unsigned)strtoul(argv[2], NULL, 10) : 4;
        uint64_t runs = 0;
        states = calloc(STATES_MAX, sizeof *states);
        make_configuration();
        do {
                chooser.limit = CHOICES_MAX;
                choose();
                chooser.limit = chooser.at + bound < CHOICES_MAX ? chooser.at + bound : CHOICES_MAX;
                PlayRules rules = { .chooser = &chooser, .rewrite = rewrite, .look = look };
                runs++;
                if (!play(&world, &laws, &schedule, &rules))
                        return report(runs);
        } while (chooser_advance(&chooser));
        printf("%" PRIu64 " runs, %" PRIu64 " states that can be told apart, all laws kept\n", runs, n_states);
        coverage_print(0);
        free(states);
        return 0;
}
