/* test_utf8.c - characters, and bytes that are none. */
#include "base/take.h"
#include "base/utf8.h"
#include <criterion/criterion.h>

Test(utf8, characters_are_told_from_bytes_that_are_none) {
        static const struct {
                const char *text;
                size_t length, expected;
        } cases[] = {
                { "a", 1, 1 },
                { "", 0, 0 },
                { "\0", 1, 1 },
                { "\xC3\xA4", 2, 2 },
                { "\xC3", 1, 0 },
                { "\x80", 1, 0 },
                { "\xC0\x80", 2, 0 },         /* overlong NUL */
                { "\xC1\xBF", 2, 0 },         /* overlong */
                { "\xE0\x9F\xBF", 3, 0 },     /* overlong */
                { "\xE0\xA0\x80", 3, 3 },     /* U+0800 */
                { "\xED\x9F\xBF", 3, 3 },     /* U+D7FF */
                { "\xED\xA0\x80", 3, 0 },     /* a surrogate */
                { "\xE2\x82\xAC", 3, 3 },     /* the euro */
                { "\xE2\x82", 2, 0 },         /* cut */
                { "\xF0\x8F\xBF\xBF", 4, 0 }, /* overlong */
                { "\xF0\x9F\x98\x80", 4, 4 },
                { "\xF0\x9F\x98 ", 4, 0 },
                { "\xF4\x8F\xBF\xBF", 4, 4 }, /* U+10FFFF */
                { "\xF4\x90\x80\x80", 4, 0 }, /* one more */
                { "\xFF", 1, 0 },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++)
                cr_expect_eq(utf8_character(cases[i].text, cases[i].length), cases[i].expected, "case %zu", i);
}

Test(utf8, text_is_cut_between_characters) {
        static const char text[] = "a\xE2\x82\xAC"
                                   "b"; /* 1 + 3 + 1 bytes */
        static const size_t expected[] = { 0, 1, 1, 1, 4, 5, 5 };
        for (size_t max = 0; max < LENGTH_OF(expected); max++)
                cr_expect_eq(utf8_cut(text, 5, max), expected[max], "max %zu", max);
        cr_assert_eq(utf8_cut("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 7), 4, "what is no UTF-8 is cut all the same");
}

Test(utf8, what_could_forge_a_line_is_cleaned_away) {
        char text[] = "a\nb\x1B[2J\x7F\xC2\x9B\xFF\xC3\xA4\0z";
        utf8_clean(text, sizeof text - 1);
        cr_assert_str_eq(text, "a?b?[2J????\xC3\xA4?z");
}
