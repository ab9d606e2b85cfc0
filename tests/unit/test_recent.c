/* test_recent.c - the last lines: found by number, dropped by age. */
#include "gateway/recent.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

Test(recent, the_first_line_behind_a_number_is_found_over_gaps) {
        Recent *recent = NULL;
        cr_assert_eq(recent_new(&recent), 0);
        cr_assert_null(recent_after(recent, 0));
        for (uint64_t seq = 2; seq <= 10; seq += 2)
                cr_assert_eq(recent_add(recent, seq, "line", 4), 0);
        cr_expect_eq(recent_after(recent, 0)->seq, 2u);
        cr_expect_eq(recent_after(recent, 2)->seq, 4u);
        cr_expect_eq(recent_after(recent, 5)->seq, 6u);
        cr_expect_null(recent_after(recent, 10));
        recent_clear(recent);
        cr_expect_null(recent_after(recent, 0));
        cr_expect_eq(recent_count(recent), 0u);
        recent_free(recent);
}

Test(recent, it_stays_within_its_bytes_and_drops_the_oldest) {
        static char line[4000];
        Recent *recent = NULL;
        size_t bytes = 0;

        memset(line, 'x', sizeof line);
        cr_assert_eq(recent_new(&recent), 0);
        for (uint64_t seq = 1; seq <= 5000; seq++)
                cr_assert_eq(recent_add(recent, seq, line, seq % 2 ? sizeof line : 1), 0);
        for (size_t i = 0; i < recent_count(recent); i++)
                bytes += recent_at(recent, i)->length;
        cr_expect_leq(bytes, (size_t)RECENT_BYTES_MAX);
        cr_expect_geq(bytes, (size_t)RECENT_BYTES_MAX - 2 * sizeof line);
        cr_expect_eq(recent_at(recent, recent_count(recent) - 1)->seq, 5000u);
        cr_expect_eq(recent_after(recent, 0)->seq, recent_at(recent, 0)->seq);
        recent_free(recent);
}

Test(recent, short_lines_are_bounded_too_and_a_huge_one_is_refused) {
        Recent *recent = NULL;
        char *huge = calloc(1, RECENT_BYTES_MAX + 1);

        cr_assert_eq(recent_new(&recent), 0);
        for (uint64_t seq = 1; seq <= 100000; seq++)
                cr_assert_eq(recent_add(recent, seq, "", 0), 0);
        cr_expect_lt(recent_count(recent), 10000u);
        cr_expect_eq(recent_add(recent, 100001, huge, RECENT_BYTES_MAX + 1), -EMSGSIZE);
        cr_expect_eq(recent_at(recent, recent_count(recent) - 1)->seq, 100000u);
        recent_free(recent);
        free(huge);
}
