/* test_culprit.c - failures put together by their cause. */
#include "base/take.h"
#include "ledger/culprit.h"
#include <criterion/criterion.h>
#include <stdio.h>

static void add(Culprits *culprits, const char *error, int64_t job, uint64_t failures) {
        cr_assert_eq(culprits_add(culprits, "q", "k", "E", error, job, failures, job), 0);
}

Test(culprit, a_poisonous_job_does_not_hide_the_fault_that_many_jobs_have) {
        _cleanup_(culprits_done) Culprits culprits = { 0 };

        for (uint64_t i = 0; i < 300; i++) {
                char text[40];
                snprintf(text, sizeof text, "corrupt at byte %lu", (unsigned long)i);
                add(&culprits, text, 7, 1);
        }
        for (int64_t job = 100; job < 140; job++)
                add(&culprits, "host 10.0.0.1 refused", job, 1);
        culprits_sort(&culprits);
        cr_assert(culprits.n == 2 && culprits.failures == 340 && culprits.n_jobs == 41);
        cr_assert(culprits.items[0].n_jobs == 40 && culprits.items[0].failures == 40);
        cr_assert(culprits.items[1].n_jobs == 1 && culprits.items[1].failures == 300 && culprits.items[1].jobs[0] == 7);
        cr_assert_eq(culprits.items[1].worst_failures, 300);
}

Test(culprit, a_job_with_two_causes_is_one_job) {
        _cleanup_(culprits_done) Culprits culprits = { 0 };

        add(&culprits, "one", 1, 2);
        add(&culprits, "two", 1, 3);
        add(&culprits, "two", 2, 1);
        culprits_sort(&culprits);
        cr_assert(culprits.n == 2 && culprits.n_jobs == 2 && culprits.failures == 6);
        cr_assert_str_eq(culprits.items[0].text, "two");
        cr_assert_eq(culprits.items[0].ago_usec, 1);
}

Test(culprit, queue_kind_and_class_tell_causes_apart) {
        _cleanup_(culprits_done) Culprits culprits = { 0 };

        cr_assert_eq(culprits_add(&culprits, "a", "k", "E", "x", 1, 1, 1), 0);
        cr_assert_eq(culprits_add(&culprits, "b", "k", "E", "x", 1, 1, 1), 0);
        cr_assert_eq(culprits_add(&culprits, "a", "l", "E", "x", 1, 1, 1), 0);
        cr_assert_eq(culprits_add(&culprits, "a", "k", "F", "x", 1, 1, 1), 0);
        cr_assert_eq(culprits_add(&culprits, "a", "k", "E", "x", 2, 1, 1), 0);
        cr_assert(culprits.n == 4 && culprits.n_jobs == 2);
}

Test(culprit, jobs_are_counted_beyond_those_that_are_kept_and_in_any_order) {
        _cleanup_(culprits_done) Culprits culprits = { 0 };

        for (int64_t i = 0; i < 1000; i++)
                add(&culprits, "x", (i * 7919) % 1000, 1);
        for (int64_t i = 0; i < 1000; i++)
                add(&culprits, "x", i, 1);
        cr_assert(culprits.n == 1 && culprits.items[0].n_jobs == 1000 && culprits.failures == 2000);
}
