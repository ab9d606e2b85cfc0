/* test_mask.c - what differed between two runs is free, all else is law. */
#include "verify/mask.h"
#include <criterion/criterion.h>

static const StampSpan span = { .since_sec = 1796117220, .until_sec = 1796117230 };

typedef struct Row {
        const char *one, *other, *line;
        MaskFit fit;
} Row;

static const Row rows[] = {
        /* a counter was equal both times: it is never free */
        { "6", "6", "7", MASK_DIFFERS },
        { "6", "6", "6", MASK_SAME },
        { "stops=6 pid=4242", "stops=6 pid=5111", "stops=7 pid=6001", MASK_DIFFERS },
        { "stops=6 pid=4242", "stops=6 pid=5111", "stops=6 pid=6001", MASK_FITS },
        { "stopped", "stopped", "", MASK_DIFFERS },
        { "", "", "x", MASK_DIFFERS },
        { "", "", "", MASK_SAME },
        /* time stamps: of the span always, else where they differed */
        { "at 1796117223", "at 1796117223", "at 1796117224", MASK_SAME },
        { "at 09:27:03", "at 09:27:03", "at 09:27:04", MASK_SAME },
        { "at 2026-12-01T09:27:03.1", "at 2026-12-01T09:27:03.23", "at 2026-12-01T09:27:04", MASK_SAME },
        { "until 2026-12-02", "until 2026-12-02", "until 2026-12-03", MASK_DIFFERS },
        { "at 1796117223", "at 1796117223", "at never", MASK_DIFFERS },
        { "took 12.5ms", "took 9ms", "took 11.25ms", MASK_FITS },
        /* uuids, hex, durations, rows */
        { "id 0f8fad5b-d9cb-469f-a165-70867728950e", "id 7c9e6679-7425-40de-944b-e07fc1f90ae7",
          "id 16fd2706-8baf-433b-82eb-8c7fada847da", MASK_FITS },
        { "id 0f8fad5b-d9cb", "id 7c9e6679-7425", "id 16fd2706", MASK_DIFFERS },
        { "a1b2c3", "ffeedd", "001122", MASK_FITS },
        { "{\"id\": 1, \"n\": 5, \"at\": \"x1\"}", "{\"id\": 1, \"n\": 5, \"at\": \"x2\"}",
          "{\"id\": 1, \"n\": 5, \"at\": \"x3\"}", MASK_FITS },
        { "{\"id\": 1, \"n\": 5, \"at\": \"x1\"}", "{\"id\": 1, \"n\": 5, \"at\": \"x2\"}",
          "{\"id\": 1, \"n\": 6, \"at\": \"x3\"}", MASK_DIFFERS },
        /* the number of tokens is law; the width of a gap is none */
        { "a b", "a b", "a b c", MASK_DIFFERS },
        { "  12 kB", " 999 kB", "   7 kB", MASK_FITS },
        { "a-b", "a+b", "a-b", MASK_DIFFERS },
};

Test(mask, a_line_fits_where_the_two_runs_differed_and_nowhere_else) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                cr_expect_eq(mask_fit(rows[i].one, rows[i].other, rows[i].line, span), rows[i].fit, "row %zu: %s", i,
                             rows[i].line);
}

Test(mask, two_runs_say_what_is_free) {
        cr_expect_eq(mask_of("pid 1", "pid 2", span), MASK_FITS);
        cr_expect_eq(mask_of("pid 1", "pid 1", span), MASK_SAME);
        cr_expect_eq(mask_of("pid 1", "pid", span), MASK_DIFFERS);
}

Test(mask, random_names_have_a_place_a_length_and_something_in_common) {
        cr_expect(mask_is_same_name("/var/tmp/ew.Xa3f", "/var/tmp/ew.9Qbz"));
        cr_expect(mask_is_same_name("/tmp/a8d7f6.lock", "/tmp/99ffee.lock"));
        cr_expect(mask_is_same_name("/tmp/d.AAAA/file", "/tmp/d.BBBB/file"), "a folder with a random name");
        cr_expect(mask_is_same_name("/tmp/Xa3f9k", "/tmp/9Qbz1p"), "nothing in common, but long");
        cr_expect_not(mask_is_same_name("/tmp/a", "/tmp/b"), "two names are two names");
        cr_expect_not(mask_is_same_name("/tmp/x.1", "/tmp/x.12"));
        cr_expect_not(mask_is_same_name("/tmp/a/x.1", "/tmp/b/x.2"), "two folders");
        cr_expect_not(mask_is_same_name("table public.jobs1", "table public.jobs2"));
        cr_expect(mask_admits_name("/tmp/x.11", "/tmp/x.22", "/tmp/x.37"));
        cr_expect_not(mask_admits_name("/tmp/x.11", "/tmp/x.22", "/tmp/x.377"));
        cr_expect_not(mask_admits_name("/tmp/x.11", "/tmp/x.22", "/tmp/y.37"));
        cr_expect_not(mask_admits_name("/tmp/x.11", "/tmp/x.22", "/tmp/x./1"));
}
