/* main.c - sim: lives many random schedules through the core of PID 1 in simulated time and judges each by the laws.
 *
 *   sim [--schedules N] [--from SEED] [--wanted N]     N schedules from a seed (printed; a fresh one by default)
 *   sim --seed SEED --trace                            one of them again, with everything that happened */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "tests/sim/coverage.h"
#include "tests/sim/play.h"

typedef struct Options {
        uint64_t schedules, from, wanted;
        bool trace, one;
} Options;

static World world;
static Laws laws;
static Schedule schedule;

static int usage(void) {
        fputs("usage: sim [--schedules N] [--from SEED] [--wanted N] | sim --seed SEED [--trace]\n", stderr);
        return 64;
}

static bool read_options(int argc, char **argv, Options *ret) {
        static const struct option known[] = {
                { "schedules", required_argument, NULL, 'n' }, { "from", required_argument, NULL, 'f' },
                { "seed", required_argument, NULL, 's' },      { "wanted", required_argument, NULL, 'w' },
                { "trace", no_argument, NULL, 't' },           { NULL, 0, NULL, 0 },
        };
        *ret = (Options){ .schedules = 20000, .from = clock_wall_usec() };
        for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
                uint64_t number = optarg ? strtoull(optarg, NULL, 0) : 0;
                switch (c) {
                case 'n': ret->schedules = number; break;
                case 'f': ret->from = number; break;
                case 'w': ret->wanted = number; break;
                case 't': ret->trace = true; break;
                case 's':
                        ret->from = number;
                        ret->schedules = 1;
                        ret->one = true;
                        break;
                default: return false;
                }
        }
        return optind == argc;
}

static void print_config(void) {
        const Config *config = &schedule.config;
        printf("mode %s, deadline %.6f s, reserve %.6f s%s\n", mode_to_string(config->mode),
               (double)config->budget.deadline_usec / 1e6, (double)config->budget.reserve_usec / 1e6,
               config->single ? ", single command" : "");
        for (unsigned i = 0; i < config->n_phases; i++)
                printf("phase %u %s: delay %.6f s, limit %.6f s\n", i, config->phases[i].name,
                       (double)config->budget.delay_usec[i] / 1e6, (double)budget_limit(&config->budget, i) / 1e6);
        for (size_t i = 0; i < config->n_services; i++) {
                const ServiceConfig *service = &config->services[i];
                printf("service %s: member %u, %u instances, phase %u, %s, %s, restart %d, burst %u, %s%s, stop %.3f s,", service->name,
                       schedule.first_member[i], service->instances, service->phase,
                       character_to_string(schedule.characters[i]), service_type_to_string(service->type),
                       (int)service->restart, service->start_limit_burst, kill_mode_to_string(service->kill_mode),
                       service->essential ? ", essential" : "",
                       service->timeout_stop_usec >= USEC_UNSET ? -1.0 : (double)service->timeout_stop_usec / 1e6);
                for (unsigned n = 0; n < service->after.n; n++)
                        printf(" after s%u", service->after.items[n]);
                for (unsigned n = 0; n < service->requires.n; n++)
                        printf(" requires s%u", service->requires.items[n]);
                putchar('\n');
        }
        for (size_t i = 0; i < config->n_hooks; i++)
                printf("hook %s: %s of service %d, phase %d, %.6f s%s\n", config->hooks[i].name,
                       hook_on_to_string(config->hooks[i].on), config->hooks[i].service, config->hooks[i].phase,
                       (double)config->hooks[i].timeout_usec / 1e6,
                       config->hooks[i].on_failure == ON_FAILURE_ABORT ? ", abort" : "");
}

static bool play_seed(uint64_t seed, bool trace) {
        schedule_make(&schedule, seed);
        if (trace)
                print_config();
        PlayRules rules = { .trace = trace, .sample_reading = seed % 64 == 0 };
        return play(&world, &laws, &schedule, &rules);
}

static int report(const char *program, uint64_t seed) {
        char law[sizeof laws.law], text[sizeof laws.text];
        snprintf(law, sizeof law, "%s", laws.law);
        snprintf(text, sizeof text, "%s", laws.text);
        printf("law %s is broken by schedule %" PRIu64 ": %s\n", law, seed, text);
        printf("again: %s --seed %" PRIu64 " --trace\n\n", program, seed);
        if (play_seed(seed, true))
                puts("(and it was not broken again: the simulation is not deterministic)");
        printf("law %s is broken: %s\n", law, text);
        return 1;
}

static void print_speed(uint64_t n, usec_t simulated, uint64_t steps, usec_t took) {
        printf("%" PRIu64 " schedules, %" PRIu64 " steps, %.1f days of simulated time in %.1f s: %.0f schedules/s\n", n, steps,
               (double)simulated / 86400e6, (double)took / 1e6, (double)n * 1e6 / (double)(took ? took : 1));
}

int main(int argc, char **argv) {
        Options options;
        if (!read_options(argc, argv, &options))
                return usage();
        if (options.one && options.trace) {
                bool kept = play_seed(options.from, true);
                printf(kept ? "all laws were kept\n" : "law %s is broken: %s\n", laws.law, laws.text);
                return !kept;
        }

        printf("schedules from seed %" PRIu64 "\n", options.from);
        usec_t began = clock_now_usec(), simulated = 0;
        uint64_t steps = 0, codes[256] = { 0 };
        for (uint64_t i = 0; i < options.schedules; i++) {
                if (!play_seed(options.from + i, false)) {
                        printf("after %" PRIu64 " schedules: ", i + 1);
                        return report(argv[0], options.from + i);
                }
                simulated += world.now_usec - 1000 * USEC_PER_SEC;
                steps += world.steps;
                codes[world.code & 255]++;
        }
        print_speed(options.schedules, simulated, steps, clock_now_usec() - began);
        for (unsigned i = 0; i < 256; i++)
                if (codes[i] > 0)
                        printf("exit %u: %" PRIu64 "\n", i, codes[i]);
        unsigned missing = coverage_print(options.wanted);
        return options.wanted > 0 && missing > 0;
}
