/* test_moment.c - when a job shall run, as people write it. */
#include "ledger/moment.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(moment, a_plus_begins_a_span_from_now) {
        static const struct {
                const char *text;
                usec_t usec;
        } table[] = {
                { "+30s", 30 * USEC_PER_SEC }, { "+0", 0 }, { "+1h 30min", 5400 * USEC_PER_SEC }, { "+1.5", 1500000 }
        };

        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                const char *problem;
                Moment moment;
                cr_assert_eq(moment_parse(table[i].text, &moment, &problem), 0, "%s", table[i].text);
                cr_assert(moment.is_span);
                cr_assert_eq(moment.span_usec, table[i].usec);
        }
}

Test(moment, an_instant_with_its_zone_is_passed_on_as_it_is) {
        static const char *const good[] = { "2026-12-01T10:00:00Z", "2026-12-01 10:00+01:00", "2026-12-01t10:00z",
                                            "2026-12-01T10:00:00.123+01", "2026-12-01 10:00:00-0330" };

        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                const char *problem;
                Moment moment;
                cr_assert_eq(moment_parse(good[i], &moment, &problem), 0, "%s", good[i]);
                cr_assert_not(moment.is_span);
                cr_assert_str_eq(moment.instant, good[i]);
        }
}

Test(moment, what_could_mean_another_instant_elsewhere_is_refused) {
        static const char *const bad[] = { "2026-12-01T10:00:00", "2026-12-01 10:00" };

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                const char *problem = "";
                Moment moment;
                cr_assert_eq(moment_parse(bad[i], &moment, &problem), -EINVAL);
                cr_assert(strstr(problem, "zone"));
        }
}

Test(moment, anything_else_is_refused) {
        static const char *const bad[] = { "",
                                           "30s",
                                           "tomorrow",
                                           "+",
                                           "+soon",
                                           "+-3s",
                                           "+infinity",
                                           "2026-12-01",
                                           "10:00Z",
                                           "now",
                                           "2026-12-01T10:00:00 UTC; drop",
                                           "01.12.2026 10:00Z",
                                           "2026-12-01T10:00:00.Z",
                                           "2026-12-01T10:00:00.12345678901234567890123456789012345678901234567Z" };

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                const char *problem = NULL;
                Moment moment;
                cr_assert_eq(moment_parse(bad[i], &moment, &problem), -EINVAL, "%s", bad[i]);
                cr_assert(problem && *problem);
        }
}
