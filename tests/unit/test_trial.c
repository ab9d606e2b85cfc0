/* test_trial.c - the plans of trials, and the order of a sweep. */
#include "verify/trial.h"
#include <criterion/criterion.h>
#include <stdlib.h>

static Effect effects[] = { { .site = (char *)"a" },
                            { .site = (char *)"b" },
                            { .site = (char *)"a" },
                            { .site = (char *)"c" },
                            { .site = (char *)"b" } };
static const Trace trace = { .effects = effects, .n_effects = 5 };

static void expect_points(bool with_end, const unsigned *expected, size_t n, size_t sites) {
        unsigned *points;
        size_t n_points, n_sites;

        cr_assert_eq(trial_points(&trace, with_end, &points, &n_points, &n_sites), 0);
        cr_assert_eq(n_points, n);
        cr_expect_eq(n_sites, sites);
        for (size_t i = 0; i < n; i++)
                cr_expect_eq(points[i], expected[i], "point %zu", i);
        free(points);
}

Test(trial, a_sweep_tries_the_end_first_then_each_distinct_site_then_the_rest) {
        expect_points(true, (const unsigned[]){ 6, 1, 2, 4, 3, 5 }, 6, 3);
        expect_points(false, (const unsigned[]){ 1, 2, 4, 3, 5 }, 5, 3);
}

Test(trial, every_plan_begins_with_the_setup_and_ends_with_a_look) {
        for (int kind = 0; kind < _TRIAL_KIND_MAX; kind++) {
                const Step *steps = trial_steps((TrialKind)kind);
                size_t n = 0, looks = 0;
                cr_expect_not_null(trial_kind_to_string((TrialKind)kind));
                for (; steps[n] != STEP_END; n++)
                        looks += steps[n] == STEP_OBSERVE;
                cr_expect_leq(n, TRIAL_STEPS_MAX);
                cr_expect_leq(looks, TRIAL_STATES_MAX);
                cr_expect_eq(steps[0], STEP_SETUP, "%d", kind);
                cr_expect_eq(steps[n - 1], STEP_OBSERVE, "%d", kind);
        }
}
