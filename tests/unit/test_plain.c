/* test_plain.c - other people's text on our terminal. */
#include "base/take.h"
#include "ledger/plain.h"
#include <criterion/criterion.h>

static void becomes(const char *text, const char *indent, const char *expected) {
        _cleanup_(freep) char *copy = plain_text(text, indent);

        cr_assert_str_eq(copy, expected);
}

Test(plain, good_text_stays) {
        becomes("", "  ", "");
        becomes("Jörg 🎉 {\"a\": 1}", "  ", "Jörg 🎉 {\"a\": 1}");
}

Test(plain, nothing_moves_the_cursor) {
        becomes("a\033[2Jb\a\b\177c\377d", "  ", "a?[2Jb???c?d");
        becomes("a\tb\r", "  ", "a b ");
}

Test(plain, what_has_several_lines_forges_none_of_ours) {
        becomes("boom\n  status  done\n", "    ", "boom\n      status  done");
}

Test(plain, without_an_indent_it_is_one_line) {
        becomes("a\nb\n\nc\n\n", NULL, "a b  c");
        becomes("\n", NULL, "");
}
