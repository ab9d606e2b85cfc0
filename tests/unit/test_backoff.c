/* test_backoff.c - the wait before the next attempt to connect. */
#include "ledger/backoff.h"
#include <criterion/criterion.h>

#define FIRST (100 * USEC_PER_MSEC)
#define MOST  (5 * USEC_PER_SEC)

Test(backoff, it_doubles_until_the_longest_wait_and_stays_there) {
        static const usec_t whole[] = { 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000 };

        for (unsigned i = 0; i < sizeof whole / sizeof *whole; i++) {
                usec_t least = backoff_usec(i + 1, FIRST, MOST, 0), most = backoff_usec(i + 1, FIRST, MOST, UINT32_MAX);
                cr_assert_eq(least, whole[i] * USEC_PER_MSEC / 2);
                cr_assert_leq(most, whole[i] * USEC_PER_MSEC);
                cr_assert_geq(most, whole[i] * USEC_PER_MSEC - 2);
        }
}

Test(backoff, it_never_leaves_its_bounds_whatever_chance_brings) {
        for (unsigned failures = 1; failures < 200; failures++)
                for (uint64_t chance = 0; chance <= UINT32_MAX; chance += 123456789) {
                        usec_t wait = backoff_usec(failures, FIRST, MOST, (uint32_t)chance);
                        cr_assert(wait >= FIRST / 2 && wait <= MOST);
                }
        cr_assert_leq(backoff_usec(UINT32_MAX, FIRST, MOST, UINT32_MAX), MOST);
}

Test(backoff, chance_spreads_those_that_failed_together) {
        cr_assert_neq(backoff_usec(3, FIRST, MOST, 1U << 30), backoff_usec(3, FIRST, MOST, 1U << 31));
}

Test(backoff, spans_of_any_length_do_not_overflow) {
        usec_t wait = backoff_usec(70, USEC_INFINITY / 3, USEC_INFINITY - 1, UINT32_MAX);

        cr_assert(wait >= USEC_INFINITY / 2 - 1 && wait < USEC_INFINITY);
        cr_assert_leq(backoff_usec(1, MOST, FIRST, UINT32_MAX), FIRST);
}
