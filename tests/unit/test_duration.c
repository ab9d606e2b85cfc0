/* test_duration.c - spans and sizes as people write them, there and back. */
#include "base/duration.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>

Test(duration, what_people_write_is_read) {
        static const struct {
                const char *text;
                usec_t span;
        } cases[] = {
                { "0", 0 },
                { "30", 30 * USEC_PER_SEC },
                { "0.5", 500000 },
                { "0.1", 100000 },
                { "1.0000019", 1000001 },
                { "500ms", 500000 },
                { "2us", 2 },
                { "2usec", 2 },
                { "2\xC2\xB5s", 2 },
                { "30s", 30 * USEC_PER_SEC },
                { "30sec", 30 * USEC_PER_SEC },
                { "1 second", USEC_PER_SEC },
                { "5min", 300 * USEC_PER_SEC },
                { "5m", 300 * USEC_PER_SEC },
                { "1h", 3600 * USEC_PER_SEC },
                { "1 h", 3600 * USEC_PER_SEC },
                { "1hr", 3600 * USEC_PER_SEC },
                { "1.5h", 5400 * USEC_PER_SEC },
                { "1h 30min", 5400 * USEC_PER_SEC },
                { "1h30min", 5400 * USEC_PER_SEC },
                { "1h 30min 0.25s", UINT64_C(5400250000) },
                { "7 days", 7 * 86400 * USEC_PER_SEC },
                { "2d", 2 * 86400 * USEC_PER_SEC },
                { "1w", 7 * 86400 * USEC_PER_SEC },
                { "  3s  ", 3 * USEC_PER_SEC },
                { "0.3333333333333333333333333333333333333333333333333333w", UINT64_C(201600000000) - 1 },
                { "infinity", USEC_INFINITY },
                { " infinity ", USEC_INFINITY },
                { "18446744073709551614us", USEC_INFINITY - 1 },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                usec_t span = 77;
                cr_expect_eq(duration_parse(cases[i].text, &span), 0, "%s", cases[i].text);
                cr_expect_eq(span, cases[i].span, "%s gave %lu", cases[i].text, span);
        }
}

Test(duration, what_is_no_duration_is_refused_and_nothing_is_written) {
        static const struct {
                const char *text;
                int error;
        } cases[] = {
                { "", -EINVAL },
                { " ", -EINVAL },
                { "-1", -EINVAL },
                { "+1", -EINVAL },
                { "s", -EINVAL },
                { "10 parsecs", -EINVAL },
                { "1S", -EINVAL },
                { "1.", -EINVAL },
                { ".5", -EINVAL },
                { "1.2.3", -EINVAL },
                { "1e3", -EINVAL },
                { "0x10", -EINVAL },
                { "1,5s", -EINVAL },
                { "1 30min", -EINVAL },
                { "1h 30", -EINVAL },
                { "1 2", -EINVAL },
                { "infinity s", -EINVAL },
                { "infinit", -EINVAL },
                { "1 month", -EINVAL },
                { "18446744073709551615us", -ERANGE },
                { "18446744073709551616us", -ERANGE },
                { "99999999999999999999999", -ERANGE },
                { "18446744073710", -ERANGE },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                usec_t span = 77;
                cr_expect_eq(duration_parse(cases[i].text, &span), cases[i].error, "%s", cases[i].text);
                cr_expect_eq(span, 77, "%s", cases[i].text);
        }
}

Test(duration, a_sum_that_is_too_long_is_told_from_nonsense) {
        usec_t span;
        cr_assert_eq(duration_parse("9223372036854775808us 9223372036854775808us", &span), -ERANGE);
        cr_assert_eq(duration_parse("18446744073709551614us 1us", &span), -ERANGE);
}

Test(duration, spans_are_written_for_people) {
        static const struct {
                usec_t span;
                const char *text;
        } cases[] = {
                { 0, "0 s" },
                { 7, "7 us" },
                { 999, "999 us" },
                { 1500, "1.5 ms" },
                { 2000, "2 ms" },
                { 10000, "10 ms" },
                { 211400, "211 ms" },
                { 540000, "540 ms" },
                { 999999, "999 ms" },
                { 1000000, "1 s" },
                { 1500000, "1.5 s" },
                { 26460000, "26.46 s" },
                { 27000000, "27 s" },
                { 59999999, "59.99 s" },
                { 60000000, "1 min" },
                { 125000000, "2 min 5 s" },
                { UINT64_C(5400000000), "1 h 30 min" },
                { UINT64_C(90061000000), "1 d 1 h 1 min" },
                { UINT64_C(86405000000), "1 d" },
                { 7 * 86400 * USEC_PER_SEC, "7 d" },
                { USEC_INFINITY, "infinity" },
                { USEC_INFINITY - 1, "213503982 d 8 h 1 min" },
        };
        char text[DURATION_TEXT_MAX];

        for (size_t i = 0; i < LENGTH_OF(cases); i++)
                cr_expect_str_eq(duration_format(cases[i].span, text), cases[i].text);
}

Test(duration, what_is_written_is_read_back_to_within_what_was_left_out) {
        char text[DURATION_TEXT_MAX];

        for (usec_t span = 1; span < 100 * 86400 * USEC_PER_SEC; span = span * 5 / 4 + 1) {
                usec_t back;
                cr_assert_eq(duration_parse(duration_format(span, text), &back), 0, "%s", text);
                cr_assert(back <= span && span - back <= span / 10, "%lu became %s", span, text);
        }
}

Test(duration, sizes_are_powers_of_1024) {
        static const struct {
                const char *text;
                int answer;
                uint64_t bytes;
        } cases[] = {
                { "0", 0, 0 },
                { "100", 0, 100 },
                { "64K", 0, 65536 },
                { "64 K", 0, 65536 },
                { " 2M ", 0, 2097152 },
                { "1G", 0, UINT64_C(1073741824) },
                { "16777215T", 0, UINT64_C(16777215) << 40 },
                { "16777216T", -ERANGE, 77 },
                { "18446744073709551616", -ERANGE, 77 },
                { "", -EINVAL, 77 },
                { "K", -EINVAL, 77 },
                { "-1", -EINVAL, 77 },
                { "1k", -EINVAL, 77 },
                { "1KK", -EINVAL, 77 },
                { "1K 1M", -EINVAL, 77 },
                { "1.5G", -EINVAL, 77 },
                { "infinity", -EINVAL, 77 },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                uint64_t bytes = 77;
                cr_expect_eq(size_parse(cases[i].text, &bytes), cases[i].answer, "%s", cases[i].text);
                cr_expect_eq(bytes, cases[i].bytes, "%s", cases[i].text);
        }
}
