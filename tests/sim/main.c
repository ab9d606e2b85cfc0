/* main.c - sim: lives many random schedules through the core of PID 1 in simulated time and judges each by the laws.
 *
 *   sim [--schedules N] [--from SEED] [--wanted N]     N schedules from a seed (printed; a fresh one by default)
 *   sim --seed SEED --trace                            one of them again, with everything that happened */
#include "base/clock.h"
#include "tests/sim/coverage.h"
#include "tests/sim/play.h"
#include "tests/sim/rehearsal.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

static bool play_seed(uint64_t seed, bool trace) {
        schedule_make(&schedule, seed);
        if (trace)
                schedule_print(&schedule);
        PlayRules rules = { .trace = trace, .sample_reading = seed % 64 == 0 };
        return play(&world, &laws, &schedule, &rules);
}

static int report_rehearsal(const char *program, uint64_t seed, const char *law) {
        printf("law %s (the conductor alone, schedule %" PRIu64 ")\n", law, seed);
        printf("again: %s --seed %" PRIu64 " --trace\n\n", program, seed);
        rehearsal_play(seed, true, &law);
        printf("law %s\n", law);
        return 1;
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
        printf("%" PRIu64 " schedules, %" PRIu64 " steps, %.1f days of simulated time in %.1f s: %.0f schedules/s\n", n,
               steps, (double)simulated / 86400e6, (double)took / 1e6, (double)n * 1e6 / (double)(took ? took : 1));
}

static int trace_one(const Options *options, const char *program) {
        const char *law;
        if (!rehearsal_play(options->from, false, &law))
                return report_rehearsal(program, options->from, law);
        bool kept = play_seed(options->from, true);
        if (kept)
                puts("all laws were kept");
        else
                printf("law %s is broken: %s\n", laws.law, laws.text);
        return !kept;
}

static void print_codes(const uint64_t *codes) {
        for (unsigned i = 0; i < 256; i++)
                if (codes[i] > 0)
                        printf("  exit %u: %" PRIu64 "\n", i, codes[i]);
}

static int play_all(const Options *options, const char *program) {
        usec_t began = clock_now_usec(), simulated = 0;
        uint64_t steps = 0, codes[256] = { 0 };
        printf("schedules from seed %" PRIu64 "\n", options->from);
        for (uint64_t seed = options->from; seed < options->from + options->schedules; seed++) {
                const char *law;
                coverage_count_as(COVERAGE_BY_LIVES);
                if (!play_seed(seed, false)) {
                        printf("after %" PRIu64 " schedules: ", seed - options->from + 1);
                        return report(program, seed);
                }
                coverage_count_as(COVERAGE_BY_REHEARSALS);
                if (!rehearsal_play(seed, false, &law)) {
                        printf("after %" PRIu64 " schedules: ", seed - options->from + 1);
                        return report_rehearsal(program, seed, law);
                }
                simulated += world.now_usec - WORLD_BEGINS_USEC;
                steps += world.steps;
                codes[world.code & 255]++;
        }
        print_speed(options->schedules, simulated, steps, clock_now_usec() - began);
        print_codes(codes);
        return coverage_print(options->wanted) > 0;
}

int main(int argc, char **argv) {
        Options options;
        if (!read_options(argc, argv, &options))
                return usage();
        return options.one && options.trace ? trace_one(&options, argv[0]) : play_all(&options, argv[0]);
}
