/* scenes.c - named rehearsals: one service whose runs all fail in the same way, and how often it is started (L8).
 *
 *   scenes [NAME [--trace]]     all, or one of them with everything that happened
 *
 * No pace of failures may escape StartLimitBurst: not one that leaves it ready for half a minute each time, not one
 * whose stop takes so long that the whole run looks long enough. Only an unbroken minute of readiness does. */
#include "base/take.h"
#include "tests/sim/play.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define BURST    5
#define FOR_EVER 0 /* it is started again and again, until the end is asked for */
#define SECOND   USEC_PER_SEC
#define AN_HOUR  (3600 * SECOND)

typedef struct Scene {
        const char *name;
        unsigned starts;
        ServiceType type;
        ProbeConfig probes[_PROBE_KIND_MAX];
        usec_t watchdog_usec; /* 0: none */
        Script script;
} Scene;

#define PROBE(by_what, every)                                                                                          \
        { .by = (by_what), .period_usec = (every), .timeout_usec = 1 * SECOND, .failures = 1, .successes = 1 }
#define EXITS(n)                                                                                                       \
        { .code = CLD_EXITED, .status = (n) }
#define LIVES         .life_usec = USEC_INFINITY
#define OBEYS         .obey_usec = SECOND / 10, .obeyed = EXITS(0)
#define IS_READY_SOON .ready_usec = SECOND / 10
#define NEVER_READY   .ready_usec = USEC_INFINITY

static const Scene scenes[] = {
        { .name = "its liveness probe kills it every 30 s",
          .starts = BURST,
          .probes = { [PROBE_LIVENESS] = PROBE(PROBE_BY_TCP, 10 * SECOND) },
          .script = { LIVES, OBEYS, .moods = { [PROBE_LIVENESS] = MOOD_SICKENS }, .turns_usec = 25 * SECOND } },
        { .name = "a command kills it every 30 s",
          .starts = BURST,
          .probes = { [PROBE_LIVENESS] = PROBE(PROBE_BY_EXEC, 10 * SECOND) },
          .script = { LIVES, OBEYS, .moods = { [PROBE_LIVENESS] = MOOD_SICKENS }, .turns_usec = 25 * SECOND } },
        { .name = "its checks hang, and cannot be ended",
          .starts = BURST,
          .probes = { [PROBE_LIVENESS] = PROBE(PROBE_BY_EXEC, 10 * SECOND) },
          .script = { LIVES, OBEYS, .moods = { [PROBE_LIVENESS] = MOOD_NEVER } } },
        { .name = "killed after 50 s, it takes 40 s to stop",
          .starts = BURST,
          .probes = { [PROBE_LIVENESS] = PROBE(PROBE_BY_TCP, 10 * SECOND) },
          .script = { LIVES, .obey_usec = 40 * SECOND, .obeyed = EXITS(0), .moods = { [PROBE_LIVENESS] = MOOD_SICKENS },
                      .turns_usec = 45 * SECOND } },
        { .name = "it never says that it is ready",
          .starts = BURST,
          .type = SERVICE_NOTIFY,
          .script = { LIVES, OBEYS, NEVER_READY } },
        { .name = "its line never comes",
          .starts = BURST,
          .type = SERVICE_NOTIFY_FD,
          .script = { LIVES, OBEYS, NEVER_READY } },
        { .name = "it says that it is ready, and its readiness probe does not",
          .starts = BURST,
          .type = SERVICE_NOTIFY,
          .probes = { [PROBE_READINESS] = PROBE(PROBE_BY_TCP, 1 * SECOND) },
          .script = { LIVES, OBEYS, IS_READY_SOON, .moods = { [PROBE_READINESS] = MOOD_BAD } } },
        { .name = "its start-up probe fails",
          .starts = BURST,
          .probes = { [PROBE_STARTUP] = PROBE(PROBE_BY_TCP, 1 * SECOND) },
          .script = { LIVES, OBEYS, .moods = { [PROBE_STARTUP] = MOOD_BAD } } },
        { .name = "it dies every 20 s", .starts = BURST, .script = { .life_usec = 20 * SECOND, .end = EXITS(1) } },
        { .name = "its readiness breaks, and it dies after 110 s",
          .starts = BURST,
          .probes = { [PROBE_READINESS] = PROBE(PROBE_BY_TCP, 5 * SECOND) },
          .script = { .life_usec = 110 * SECOND,
                      .end = EXITS(1),
                      .moods = { [PROBE_READINESS] = MOOD_DIPS },
                      .turns_usec = 45 * SECOND } },
        { .name = "it gives no sign of life for its watchdog",
          .starts = BURST,
          .watchdog_usec = 30 * SECOND,
          .script = { LIVES, OBEYS } },
        { .name = "its signs of life end after 40 s",
          .starts = BURST,
          .watchdog_usec = 10 * SECOND,
          .script = { LIVES, OBEYS, .sign_usec = 5 * SECOND, .signs = 8 } },
        { .name = "it pulls its watchdog itself every 5 s",
          .starts = BURST,
          .script = { LIVES, OBEYS, .trigger_usec = 5 * SECOND } },
        { .name = "its exec fails", .starts = BURST, .script = { .exec_error = 2 } },
        /* Each of these once more, where the limit must not hold it back. */
        { .name = "its liveness probe kills it every 70 s",
          .starts = FOR_EVER,
          .probes = { [PROBE_LIVENESS] = PROBE(PROBE_BY_TCP, 10 * SECOND) },
          .script = { LIVES, OBEYS, .moods = { [PROBE_LIVENESS] = MOOD_SICKENS }, .turns_usec = 65 * SECOND } },
        { .name = "its readiness breaks after a minute, and it dies after 110 s",
          .starts = FOR_EVER,
          .probes = { [PROBE_READINESS] = PROBE(PROBE_BY_TCP, 5 * SECOND) },
          .script = { .life_usec = 110 * SECOND,
                      .end = EXITS(1),
                      .moods = { [PROBE_READINESS] = MOOD_DIPS },
                      .turns_usec = 71 * SECOND } },
        { .name = "its signs of life end after 70 s",
          .starts = FOR_EVER,
          .watchdog_usec = 10 * SECOND,
          .script = { LIVES, OBEYS, .sign_usec = 5 * SECOND, .signs = 14 } },
};

static World world;
static Laws laws;
static Schedule schedule;
static const Scene *scene;

static void make_schedule(void) {
        static char *argv[] = { (char *)"fake", NULL };
        static ListenConfig listen;
        memset(&schedule, 0, sizeof schedule);
        Config *config = &schedule.config;
        config->grace_usec = 100 * SECOND;
        config->deadline_usec = budget_default_deadline(config->grace_usec);
        config->exit_code_from = config->control_group = -1;
        config->n_phases = config->n_services = 1;
        snprintf(config->phases[0].name, sizeof config->phases[0].name, "only");
        config->phases[0].timeout_usec = USEC_INFINITY;
        snprintf(schedule.names[0], sizeof schedule.names[0], "web");
        memcpy(schedule.probes[0], scene->probes, sizeof scene->probes);
        schedule.services[0] = (ServiceConfig){
                .name = schedule.names[0],
                .relations = &schedule.relations[0],
                .argv = argv,
                .instances = 1,
                .type = scene->type,
                .essential = true,
                .restart = RESTART_ALWAYS,
                .start_limit_burst = BURST,
                .restart_usec = SECOND / 2,
                .restart_max_usec = 30 * SECOND,
                .timeout_start_usec = 20 * SECOND,
                .timeout_stop_usec = 60 * SECOND,
                .kill_signal = SIGTERM,
                .drained_signal = SIGTERM,
                .probes = schedule.probes[0],
                .watchdog_usec = scene->watchdog_usec > 0 ? scene->watchdog_usec : USEC_INFINITY,
                .notify_fd = -1,
                .listens = &listen,
                .n_listens = 1,
                .descriptor_store_max = 1,
        };
        schedule_seal(&schedule);
        schedule.end_usec = AN_HOUR;
        schedule.outside[0] = (Outside){ .kind = OUTSIDE_END_SIGNAL, .at_usec = AN_HOUR };
        schedule.n_outside = 1;
}

/* Also of the command of a check: the one that hangs outlives SIGKILL for a while. */
static void rewrite(World *in, uint32_t member, Script *script) {
        (void)in, (void)member;
        if (!script->is_check) {
                *script = scene->script;
                return;
        }
        script->descendants = 0;
        script->die_usec = scene->script.moods[PROBE_LIVENESS] == MOOD_NEVER ? 25 * SECOND : 0;
}

static bool is_as_expected(bool kept) {
        unsigned starts = world.runs[0];
        bool gave_up = laws.members[0].gave_up;
        if (!kept)
                printf("FAIL %s: law %s is broken: %s\n", scene->name, laws.law, laws.text);
        else if (scene->starts == FOR_EVER ? gave_up || starts < 20 : !gave_up || starts != scene->starts)
                printf("FAIL %s: started %u times, %s\n", scene->name, starts,
                       gave_up ? "then given up" : "not given up");
        else if (world.code != (gave_up ? EXIT_ESSENTIAL : EXIT_CLEAN))
                printf("FAIL %s: exit %d\n", scene->name, world.code);
        else {
                printf("ok   %s: started %u times in %.0f s, exit %d\n", scene->name, starts,
                       (double)(world.now_usec - WORLD_BEGINS_USEC) / 1e6, world.code);
                return true;
        }
        return false;
}

int main(int argc, char **argv) {
        unsigned played = 0, failed = 0;
        for (size_t i = 0; i < LENGTH_OF(scenes); i++) {
                scene = &scenes[i];
                if (argc > 1 && strcmp(argv[1], scene->name) != 0)
                        continue;
                make_schedule();
                PlayRules rules = { .trace = argc > 2, .rewrite = rewrite };
                played++;
                failed += !is_as_expected(play(&world, &laws, &schedule, &rules));
        }
        printf("%u scenes, %u failed\n", played, failed);
        return failed > 0 || played == 0;
}
