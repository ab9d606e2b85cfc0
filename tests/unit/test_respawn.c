/* test_respawn.c - restart, rest, or give up. */
#include <criterion/criterion.h>

#include "base/take.h"
#include "supervisor/respawn.h"

#define MIDDLE (UINT32_MAX / 2) /* no jitter to speak of */

static const RespawnRules rules = { .restart = RESTART_ON_FAILURE,
                                    .burst = 20,
                                    .delay_usec = 500 * USEC_PER_MSEC,
                                    .delay_max_usec = 30 * USEC_PER_SEC };

static usec_t near(usec_t a) { /* to the millisecond: the middle of the jitter is not exact */
        return (a + 500) / 1000;
}

Test(respawn, case_37_the_delay_doubles_to_its_cap_and_starts_again_after_a_stable_run) {
        static const unsigned expected[] = { 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000 };
        Respawn now = { 0 };
        for (size_t i = 0; i < LENGTH_OF(expected); i++) {
                RespawnAnswer answer = respawn_decide(&rules, now, OUTCOME_FAILED, 0, MIDDLE);
                cr_assert_eq(answer.next, NEXT_RESTART);
                cr_assert_eq(near(answer.delay_usec), expected[i], "restart %zu: %llu", i,
                             (unsigned long long)answer.delay_usec);
                now = answer.respawn;
        }
        RespawnAnswer answer = respawn_decide(&rules, now, OUTCOME_FAILED, respawn_reset_usec(&rules), MIDDLE);
        cr_assert_eq(near(answer.delay_usec), 500);
        cr_assert_eq(answer.respawn.failures, 1);
}

Test(respawn, no_pace_of_failures_escapes_the_limit) {
        static const usec_t ready_for[] = { 0, 1, USEC_PER_SEC, 20 * USEC_PER_SEC, 60 * USEC_PER_SEC - 1 };
        for (size_t i = 0; i < LENGTH_OF(ready_for); i++) {
                Respawn now = { 0 };
                unsigned starts = 1;
                for (;; starts++) {
                        RespawnAnswer answer = respawn_decide(&rules, now, OUTCOME_FAILED, ready_for[i], MIDDLE);
                        now = answer.respawn;
                        if (answer.next == NEXT_GIVE_UP)
                                break;
                        cr_assert_lt(starts, 1000, "it never gives up");
                }
                cr_assert_eq(starts, rules.burst);
        }
}

Test(respawn, the_jitter_stays_within_ten_percent) {
        RespawnAnswer low = respawn_decide(&rules, (Respawn){ 0 }, OUTCOME_FAILED, 0, 0);
        RespawnAnswer high = respawn_decide(&rules, (Respawn){ 0 }, OUTCOME_FAILED, 0, UINT32_MAX);
        cr_assert_eq(low.delay_usec, 450 * USEC_PER_MSEC);
        cr_assert_eq(high.delay_usec, 550 * USEC_PER_MSEC);
}

static const struct Row {
        const char *says;
        Restart restart;
        bool oneshot;
        Outcome outcome;
        usec_t ready_usec;
        Next next;
        unsigned failures;
} rows[] = {
        { "clean rests under on-failure", RESTART_ON_FAILURE, false, OUTCOME_CLEAN, 5 * USEC_PER_SEC, NEXT_REST, 0 },
        { "clean restarts under always, uncounted", RESTART_ALWAYS, false, OUTCOME_CLEAN, 5 * USEC_PER_SEC,
          NEXT_RESTART, 0 },
        { "clean right after ready counts as failed", RESTART_ALWAYS, false, OUTCOME_CLEAN, 10, NEXT_RESTART, 1 },
        { "a recycle is not counted", RESTART_ALWAYS, false, OUTCOME_RECYCLE, 5 * USEC_PER_SEC, NEXT_RESTART, 0 },
        { "be it ever so short: a worker may have had its jobs by then", RESTART_ALWAYS, false, OUTCOME_RECYCLE, 10,
          NEXT_RESTART, 0 },
        { "a failure under no gives up at once", RESTART_NO, false, OUTCOME_FAILED, 5 * USEC_PER_SEC, NEXT_GIVE_UP, 1 },
        { "a clean oneshot is done under always too", RESTART_ALWAYS, true, OUTCOME_CLEAN, 0, NEXT_REST, 0 },
        { "a failed oneshot is tried again", RESTART_ON_FAILURE, true, OUTCOME_FAILED, 0, NEXT_RESTART, 1 },
};

Test(respawn, each_row_of_the_table_holds) {
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                RespawnRules own = rules;
                own.restart = rows[i].restart;
                own.oneshot = rows[i].oneshot;
                RespawnAnswer answer =
                        respawn_decide(&own, (Respawn){ 0 }, rows[i].outcome, rows[i].ready_usec, MIDDLE);
                cr_assert_eq(answer.next, rows[i].next, "%s", rows[i].says);
                cr_assert_eq(answer.respawn.failures, rows[i].failures, "%s", rows[i].says);
        }
}

Test(respawn, without_a_limit_it_never_gives_up_and_never_overflows) {
        RespawnRules own = rules;
        own.burst = 0;
        own.delay_max_usec = USEC_INFINITY - 2;
        Respawn now = { 0 };
        for (int i = 0; i < 200; i++) {
                RespawnAnswer answer = respawn_decide(&own, now, OUTCOME_FAILED, 0, UINT32_MAX);
                cr_assert_eq(answer.next, NEXT_RESTART);
                cr_assert_geq(answer.respawn.delay_usec, now.delay_usec, "the delay never shrinks");
                now = answer.respawn;
        }
}
