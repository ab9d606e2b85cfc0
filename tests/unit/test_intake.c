/* test_intake.c - how many jobs are asked for, when, and from where on. */
#include "worker/intake.h"
#include <criterion/criterion.h>

static Intake intake(void) {
        return (Intake){ .poll_usec = USEC_PER_SEC, .jobs_left = UINT64_MAX, .batch = 10 };
}

Test(intake, it_asks_for_what_is_free_up_to_a_batch) {
        Intake now = intake();
        cr_expect_eq(intake_wants(&now, 0, 5), 0);
        cr_expect_eq(intake_wants(&now, 3, 5), 3);
        cr_expect_eq(intake_wants(&now, 30, 5), 10);
        cr_expect_eq(intake_next_usec(&now, 0), USEC_INFINITY, "nobody is free");
}

Test(intake, a_full_answer_is_followed_at_once_and_a_short_one_waits_for_the_poll) {
        Intake now = intake();
        intake_answered(&now, 3, 3, false, 1000, 0);
        cr_expect_eq(intake_wants(&now, 2, 1000), 2);
        intake_answered(&now, 2, 1, false, 2000, 0);
        cr_expect_eq(intake_wants(&now, 2, 2001), 0);
        cr_expect_eq(intake_next_usec(&now, 2), 2000 + USEC_PER_SEC);
        cr_expect_eq(intake_wants(&now, 2, 2000 + USEC_PER_SEC), 2);
}

Test(intake, the_poll_is_spread_by_at_most_a_tenth) {
        for (uint32_t chance = 0; chance < 1000000; chance += 997) {
                Intake now = intake();
                intake_answered(&now, 1, 0, false, 0, chance);
                cr_expect_geq(now.due_usec, USEC_PER_SEC * 9 / 10);
                cr_expect_leq(now.due_usec, USEC_PER_SEC);
        }
}

Test(intake, a_notification_makes_the_poll_due) {
        Intake now = intake();
        intake_answered(&now, 3, 0, false, 1000, 0);
        intake_notified(&now);
        cr_expect_eq(intake_wants(&now, 3, 1001), 3);
}

Test(intake, the_cursor_lasts_a_second_and_an_answer_through_it_that_is_short_says_nothing) {
        Intake now = intake();
        cr_expect_not(intake_has_cursor(&now, 1));
        intake_answered(&now, 3, 3, false, 1000, 0);
        cr_expect(intake_has_cursor(&now, 1001));
        intake_answered(&now, 3, 3, true, 900000, 0);
        cr_expect_not(intake_has_cursor(&now, 1000 + USEC_PER_SEC), "full answers do not prolong it");
        intake_answered(&now, 3, 3, true, 1000 + USEC_PER_SEC, 0);
        cr_expect(intake_has_cursor(&now, 1001 + USEC_PER_SEC), "a new one begins");
        intake_answered(&now, 3, 2, true, 1100000, 0);
        cr_expect_not(intake_has_cursor(&now, 1100000));
        cr_expect_eq(intake_wants(&now, 1, 1100000), 1, "asked again at once, from the beginning");
}

Test(intake, after_a_failure_it_waits_and_begins_at_the_front) {
        Intake now = intake();
        intake_answered(&now, 3, 3, false, 1000, 0);
        intake_failed(&now, 1000, 0);
        cr_expect_eq(intake_wants(&now, 3, 1001), 0);
        cr_expect_not(intake_has_cursor(&now, 1001));
}

Test(intake, the_number_of_jobs_is_kept_to_and_then_it_is_closed) {
        Intake now = intake();
        now.jobs_left = 5;
        cr_expect_eq(intake_wants(&now, 8, 0), 5);
        intake_answered(&now, 5, 4, false, 0, 0);
        intake_notified(&now);
        cr_expect_eq(intake_wants(&now, 8, 0), 1);
        intake_answered(&now, 1, 1, false, 0, 0);
        cr_expect(intake_is_closed(&now));
        cr_expect_eq(intake_wants(&now, 8, 0), 0);
}

Test(intake, when_closed_nothing_is_wanted_whatever_comes) {
        Intake now = intake();
        intake_close(&now);
        intake_notified(&now);
        cr_expect_eq(intake_wants(&now, 8, USEC_PER_SEC), 0);
        cr_expect_eq(intake_next_usec(&now, 8), USEC_INFINITY);
}
