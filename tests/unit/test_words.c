/* test_words.c - commands split as a shell splits them. */
#include "base/take.h"
#include "base/words.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

/* The words between < and >, so that one string says all. */
static void expect_words(const char *text, const char *expected) {
        _cleanup_(freep) char **words = NULL;
        const char *problem = NULL;
        char joined[256] = "";
        size_t n = 99, length = 0;

        cr_assert_eq(words_split(text, &words, &n, &problem), 0, "%s: %s", text, problem);
        for (size_t i = 0; i < n; i++)
                length += (size_t)snprintf(joined + length, sizeof joined - length, "<%s>", words[i]);
        cr_expect_str_eq(joined, expected);
        cr_expect_null(words[n]);
}

Test(words, text_is_split_as_the_shell_splits_it) {
        static const struct {
                const char *text, *expected;
        } cases[] = {
                { "", "" },
                { " \t ", "" },
                { "a", "<a>" },
                { "  a  b\tc\n", "<a><b><c>" },
                { "/bin/sh -c \"a ; b\"", "</bin/sh><-c><a ; b>" },
                { "a ; b | c > d & e # f *", "<a><;><b><|><c><>><d><&><e><#><f><*>" },
                { "'a b' \"c d\"", "<a b><c d>" },
                { "a'b c'd\"e f\"g", "<ab cde fg>" },
                { "'' \"\" ''\"\"", "<><><>" },
                { "a''", "<a>" },
                { "'a\\b\"c'", "<a\\b\"c>" },
                { "\"\\$\\`\\\"\\\\\"", "<$`\"\\>" },
                { "\"\\a\\'\"", "<\\a\\'>" },
                { "\"a\\\nb\"", "<ab>" },
                { "'a\nb'", "<a\nb>" },
                { "a\\ b", "<a b>" },
                { "\\'\\\"\\\\", "<'\"\\>" },
                { "a\\\nb", "<ab>" },
                { "a \\\n b", "<a><b>" },
                { "\\\n", "" },
                { "$HOME ${X}", "<$HOME><${X}>" },
                { "\xC3\xA4 \xE2\x82\xAC", "<\xC3\xA4><\xE2\x82\xAC>" },
        };
        for (size_t i = 0; i < LENGTH_OF(cases); i++)
                expect_words(cases[i].text, cases[i].expected);
}

Test(words, what_is_not_closed_is_named) {
        static const struct {
                const char *text, *problem;
        } cases[] = {
                { "sh -c \"sleep 1000", "a quote \" is not closed" },
                { "'", "a quote ' is not closed" },
                { "a 'b", "a quote ' is not closed" },
                { "\"a\\\"", "a quote \" is not closed" },
                { "\"a\\", "a quote \" is not closed" },
                { "a\\", "a backslash at the end" },
                { "\\", "a backslash at the end" },
        };
        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                char **words = NULL;
                const char *problem = NULL;
                size_t n = 99;
                cr_expect_eq(words_split(cases[i].text, &words, &n, &problem), -EINVAL, "%s", cases[i].text);
                cr_expect(problem && strcmp(problem, cases[i].problem) == 0, "%s: %s", cases[i].text, problem);
                cr_expect(!words && n == 99, "out-parameters are untouched");
        }
}

Test(words, as_many_words_as_letters_allow_find_room) {
        char text[2001];
        for (size_t i = 0; i < sizeof text - 1; i++)
                text[i] = i % 2 ? ' ' : 'x';
        text[sizeof text - 1] = '\0';

        _cleanup_(freep) char **words = NULL;
        const char *problem;
        size_t n;
        cr_assert_eq(words_split(text, &words, &n, &problem), 0);
        cr_assert_eq(n, 1000);
        cr_assert_str_eq(words[999], "x");
}
