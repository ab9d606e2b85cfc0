/* test_clock.c - instants written by RFC 3339, checked against the calendar of the libc. */
#include "base/clock.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <time.h>

Test(clock, a_wall_time_is_written_by_rfc_3339) {
        static const struct {
                usec_t wall;
                const char *text;
        } cases[] = {
                { 0, "1970-01-01T00:00:00.000000Z" },
                { UINT64_C(951782399999999), "2000-02-28T23:59:59.999999Z" },
                { UINT64_C(951782400000000), "2000-02-29T00:00:00.000000Z" },
                { UINT64_C(951868800000000), "2000-03-01T00:00:00.000000Z" },
                { UINT64_C(1796069640123456), "2026-11-30T20:14:00.123456Z" },
                { UINT64_C(4107542400000000), "2100-03-01T00:00:00.000000Z" },
        };
        char text[CLOCK_TEXT_MAX];

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                clock_format_wall(cases[i].wall, text);
                cr_expect_str_eq(text, cases[i].text);
        }
}

Test(clock, the_calendar_agrees_with_the_library_on_every_day_of_eight_centuries) {
        char text[CLOCK_TEXT_MAX], expected[CLOCK_TEXT_MAX];

        for (time_t day = 0; day < 800 * 366; day++) {
                time_t at = day * 86400 + day % 86400;
                struct tm tm;
                gmtime_r(&at, &tm);
                strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.000000Z", &tm);
                clock_format_wall((usec_t)at * USEC_PER_SEC, text);
                cr_assert_str_eq(text, expected);
        }
}

Test(clock, what_was_written_is_read_back) {
        static const usec_t walls[] = { 0,
                                        1,
                                        86399999999,
                                        UINT64_C(951782399999999),
                                        UINT64_C(951868800000000),
                                        UINT64_C(1795551240123456),
                                        UINT64_C(253402300799999999) };
        for (size_t i = 0; i < LENGTH_OF(walls); i++) {
                char text[CLOCK_TEXT_MAX];
                usec_t wall = 42;
                clock_format_wall(walls[i], text);
                cr_assert_eq(clock_parse_wall(text, &wall), 0, "%s", text);
                cr_assert_eq(wall, walls[i], "%s", text);
        }
}

Test(clock, every_day_of_eight_centuries_is_read_back) {
        for (uint64_t day = 0; day < 800 * 365; day++) {
                char text[CLOCK_TEXT_MAX];
                usec_t wall = 42, written = (day * 86400 + day % 86400) * USEC_PER_SEC + day;
                clock_format_wall(written, text);
                cr_assert_eq(clock_parse_wall(text, &wall), 0, "%s", text);
                cr_assert_eq(wall, written, "%s", text);
        }
}

Test(clock, what_is_no_such_time_is_refused) {
        static const char *const bad[] = {
                "",
                "2026-11-30",
                "2026-11-30T20:14:00Z",
                "2026-11-30T20:14:00.123456",
                "2026-11-30T20:14:00.123456Z ",
                "2026-11-30T20:14:00.123456+",
                "2026-11-30 20:14:00.123456Z",
                "1969-12-31T23:59:59.999999Z",
                "2026-02-29T00:00:00.000000Z",
                "2026-04-31T00:00:00.000000Z",
                "2026-13-01T00:00:00.000000Z",
                "2026-00-01T00:00:00.000000Z",
                "2026-01-00T00:00:00.000000Z",
                "2026-01-01T24:00:00.000000Z",
                "2026-01-01T00:60:00.000000Z",
                "2026-01-01T00:00:60.000000Z",
                "2026- 1-01T00:00:00.000000Z",
        };
        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                usec_t wall = 42;
                cr_assert_eq(clock_parse_wall(bad[i], &wall), -EINVAL, "%s", bad[i]);
                cr_assert_eq(wall, 42, "%s", bad[i]);
        }
}

Test(clock, the_last_moment_there_is_still_fits) {
        char text[CLOCK_TEXT_MAX];
        clock_format_wall(USEC_INFINITY, text);
        cr_assert_str_eq(text, "586524-01-19T08:01:49.551615Z");
}

Test(clock, monotonic_time_never_runs_backwards) {
        usec_t before = clock_now_usec();
        for (int i = 0; i < 1000; i++) {
                usec_t now = clock_now_usec();
                cr_assert_geq(now, before);
                before = now;
        }
        cr_assert_gt(before, 0);
}

Test(clock, wall_time_is_that_of_the_system) {
        time_t now = time(NULL);
        time_t told = (time_t)(clock_wall_usec() / USEC_PER_SEC);
        cr_assert(told >= now && told <= now + 5);
}
