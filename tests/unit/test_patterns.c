/* test_patterns.c - which hooks a line belongs to. */
#include "logger/patterns.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
        const char *expression, *line;
        size_t length;
        bool matches;
} table[] = {
        { "^done$", "done", 4, true },
        { "^done$", "done", 3, false },
        { "^done$", "undone", 6, false },
        { "a|b", "xbx", 3, true },
        { "closed [0-9]{2,} sockets", "closed 12 sockets", 17, true },
        { "closed [0-9]{2,} sockets", "closed 1 sockets", 16, false },
        { "end$", "a\0end", 5, true },
        { "end$", "end\0a", 5, false },
        { "^$", "", 0, true },
        { "\xc3\xa9t\xc3\xa9", "l'\xc3\xa9t\xc3\xa9", 7, true },
        { "x", "\xff\xfe x", 4, true },
};

Test(patterns, match_bytes_and_nothing_behind_them) {
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                Patterns patterns = { 0 };
                cr_assert_eq(patterns_add(&patterns, "hook", table[i].expression), 0);
                cr_expect_eq(pattern_matches(&patterns.items[0], table[i].line, table[i].length), table[i].matches,
                             "row %zu: %s", i, table[i].expression);
                patterns_done(&patterns);
        }
}

Test(patterns, what_is_no_expression_is_refused_and_the_others_stay) {
        Patterns patterns = { 0 };
        cr_assert_eq(patterns_add(&patterns, "good", "x"), 0);
        cr_assert_eq(patterns_add(&patterns, "bad", "("), -EINVAL);
        cr_assert_eq(patterns_add(&patterns, "a name that is longer than any name may ever be", "x"), -ENAMETOOLONG);
        cr_assert_eq(patterns.n, 1);
        cr_assert_str_eq(patterns.items[0].hook, "good");
        patterns_done(&patterns);
}

Test(patterns, there_is_a_limit_to_how_many) {
        Patterns patterns = { 0 };
        char name[16];
        for (int i = 0; i < PATTERNS_MAX; i++) {
                snprintf(name, sizeof name, "h%d", i);
                cr_assert_eq(patterns_add(&patterns, name, "x"), 0);
        }
        cr_assert_eq(patterns_add(&patterns, "more", "x"), -E2BIG);
        patterns_done(&patterns);
}
