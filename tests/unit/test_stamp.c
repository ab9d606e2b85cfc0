/* test_stamp.c - time stamps of the span are found in every shape, and other numbers are none. */
#include "verify/stamp.h"
#include <criterion/criterion.h>
#include <string.h>

/* 2026-12-01 09:27:03 UTC is 1796117223. */
static const StampSpan span = { .since_sec = 1796117220, .until_sec = 1796117230 };

static const char *const stamps[] = {
        "1796117223",          "1796117223.123456789", "1796117223123",          "1796117223123456",
        "1796117223123456789", "2026-12-01T09:27:03",  "2026-12-01 09:27:03.12", "09:27:03",
        "2026-12-01T10:27:03", "2026-12-01 14:57:03",  "2026-11-30T23:27:03",    "22:27:03,5",
};

Test(stamp, a_moment_of_the_span_is_a_stamp_in_every_shape_and_zone) {
        for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++)
                cr_expect_eq(stamp_length(stamps[i], span), strlen(stamps[i]), "%s", stamps[i]);
}

static const char *const others[] = {
        "",
        "6",
        "x",
        "1796117219",
        "1796117231",
        "1796117223x1" /* see below */,
        "179611722",
        "17961172231",
        "2026-12-02T09:27:03",
        "2026-12-01T09:28:03",
        "2026-12-01",
        "09:29:03",
        "2025-12-01 09:27:03",
        "99:99:99",
};

Test(stamp, other_numbers_dates_and_times_are_none) {
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
                if (!strchr(others[i], 'x') || others[i][0] == 'x')
                        cr_expect_eq(stamp_length(others[i], span), 0, "%s", others[i]);
        cr_expect_eq(stamp_length("1796117223x1", span), 10, "what follows is another token");
}

Test(stamp, without_a_span_nothing_is_a_stamp) {
        cr_expect_eq(stamp_length("1796117223", (StampSpan){ 0 }), 0);
}
