/* test_usec.c - sums and differences of time stop at their ends: a deadline can never wrap round into the past. */
#include <criterion/criterion.h>

#include "base/take.h"
#include "base/usec.h"

static const usec_t spans[] = {
        0, 1, 2, USEC_PER_SEC, USEC_INFINITY / 2, USEC_INFINITY / 2 + 1, USEC_INFINITY - 1, USEC_INFINITY
};
#define N LENGTH_OF(spans)

Test(usec, a_sum_is_exact_or_infinite) {
        for (size_t i = 0; i < N; i++)
                for (size_t k = 0; k < N; k++) {
                        unsigned __int128 exact = (unsigned __int128)spans[i] + spans[k];
                        cr_assert_eq(usec_add(spans[i], spans[k]),
                                     exact < USEC_INFINITY ? (usec_t)exact : USEC_INFINITY);
                }
}

Test(usec, a_difference_is_exact_or_nought) {
        for (size_t i = 0; i + 1 < N; i++)
                for (size_t k = 0; k < N; k++)
                        cr_assert_eq(usec_sub(spans[i], spans[k]), spans[i] > spans[k] ? spans[i] - spans[k] : 0);
}

Test(usec, infinity_less_anything_stays_infinite) {
        for (size_t i = 0; i < N; i++)
                cr_assert_eq(usec_sub(USEC_INFINITY, spans[i]), USEC_INFINITY);
}

Test(usec, the_smaller_and_the_larger_are_told_apart) {
        for (size_t i = 0; i < N; i++)
                for (size_t k = i; k < N; k++) {
                        cr_assert_eq(usec_min(spans[i], spans[k]), spans[i]);
                        cr_assert_eq(usec_min(spans[k], spans[i]), spans[i]);
                        cr_assert_eq(usec_max(spans[i], spans[k]), spans[k]);
                        cr_assert_eq(usec_max(spans[k], spans[i]), spans[k]);
                }
}
