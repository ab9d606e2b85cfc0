/* test_tail.c - the last bytes of a stream. */
#include "worker/tail.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static Tail tail;
static char text[TAIL_MAX + 1];

static void add(const char *bytes) {
        tail_add(&tail, bytes, strlen(bytes));
}

Test(tail, a_short_text_is_kept_without_the_blanks_at_its_end) {
        add("one\n");
        add("two\n\n");
        cr_expect_str_eq(tail_text(&tail, text), "one\ntwo");
}

Test(tail, nothing_is_an_empty_text) {
        cr_expect_str_eq(tail_text(&tail, text), "");
        add("\n");
        cr_expect_str_eq(tail_text(&tail, text), "");
}

Test(tail, what_cannot_be_printed_becomes_a_question_mark) {
        tail_add(&tail, "a\0b\x1b[1m\xff\tc", 10);
        cr_expect_str_eq(tail_text(&tail, text), "a?b?[1m?\tc");
}

Test(tail, of_much_the_last_whole_lines_are_kept_in_whatever_pieces_it_came) {
        for (size_t piece = 1; piece < 5000; piece = piece * 3 + 1) {
                char all[20000];
                tail.length = 0;
                size_t n = 0;
                for (int i = 0; n + 16 < sizeof all; i++)
                        n += (size_t)sprintf(all + n, "line %d\n", i);
                for (size_t at = 0; at < n; at += piece)
                        tail_add(&tail, all + at, n - at < piece ? n - at : piece);
                const char *got = tail_text(&tail, text);
                size_t length = strlen(got);
                cr_assert_gt(length, (size_t)TAIL_MAX - 40, "%zu", piece);
                cr_expect_eq(strncmp(got, "line ", 5), 0, "%zu", piece);
                cr_expect_eq(memcmp(got, all + n - 1 - length, length), 0, "%zu", piece);
        }
}
