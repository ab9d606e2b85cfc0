/* test_lines.c - lines are found wherever the pieces are cut, and no line costs more memory than it may. */
#include "logger/lines.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Everything that is shown, each line followed by '|'; at most 1 MiB. */
typedef struct Shown {
        char text[1 << 20];
        size_t length;
} Shown;

static void show(Shown *shown, LinesSpan span) {
        if (!span.text)
                return;
        memcpy(shown->text + shown->length, span.text, span.length);
        shown->length += span.length;
        shown->text[shown->length++] = '|';
}

static void feed(Lines *lines, Shown *shown, const char *bytes, size_t length) {
        for (size_t done = 0; done < length;) {
                LinesSpan span;
                size_t n = lines_take(lines, bytes + done, length - done, &span);
                cr_assert(n > 0 && n <= length - done);
                show(shown, span);
                done += n;
        }
}

static Shown *in_pieces_of(size_t piece, const char *bytes, size_t length) {
        Shown *shown = calloc(1, sizeof *shown);
        Lines lines = { 0 };

        for (size_t done = 0; done < length; done += piece) {
                char *copy = malloc(piece); /* so that a span into an older piece is seen by the sanitizer */
                size_t n = length - done < piece ? length - done : piece;
                memcpy(copy, bytes + done, n);
                feed(&lines, shown, copy, n);
                free(copy);
        }
        show(shown, lines_rest(&lines));
        lines_done(&lines);
        return shown;
}

static void expect(const Shown *shown, const char *text, size_t length) {
        cr_assert_eq(shown->length, length, "%zu bytes were shown, %zu expected", shown->length, length);
        cr_assert(memcmp(shown->text, text, length) == 0);
}

Test(lines, are_the_same_wherever_the_pieces_are_cut) {
        static const char bytes[] = "one\n\ntwo words\nnul \0 inside\n\n\nno newline at the end";
        static const char expected[] = "one||two words|nul \0 inside|||no newline at the end|";
        for (size_t piece = 1; piece < sizeof bytes; piece++) {
                Shown *shown = in_pieces_of(piece, bytes, sizeof bytes - 1);
                expect(shown, expected, sizeof expected - 1);
                free(shown);
        }
}

Test(lines, of_a_long_line_the_beginning_is_shown_once_and_the_next_line_is_whole) {
        static const size_t lengths[] = { LINES_LENGTH_MAX - 1, LINES_LENGTH_MAX, LINES_LENGTH_MAX + 1,
                                          3 * LINES_LENGTH_MAX };
        static const size_t pieces[] = { 1000, 4096, LINES_LENGTH_MAX, LINES_LENGTH_MAX + 7, 1 << 19 };

        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
                for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
                        size_t length = lengths[i] + 6,
                               shown_length = lengths[i] < LINES_LENGTH_MAX ? lengths[i] : LINES_LENGTH_MAX;
                        char *bytes = malloc(length), *expected = malloc(shown_length + 6);
                        memset(bytes, 'x', lengths[i]);
                        memcpy(bytes + lengths[i], "\nnext\n", 6);
                        memset(expected, 'x', shown_length);
                        memcpy(expected + shown_length, "|next|", 6);
                        Shown *shown = in_pieces_of(pieces[p], bytes, length);
                        expect(shown, expected, shown_length + 6);
                        free(shown);
                        free(expected);
                        free(bytes);
                }
}

Test(lines, a_long_line_is_shown_before_it_ends) {
        static char bytes[LINES_LENGTH_MAX];
        Lines lines = { 0 };
        LinesSpan span;

        cr_assert_eq(lines_take(&lines, bytes, 100, &span), 100);
        cr_assert_null(span.text);
        lines_take(&lines, bytes, LINES_LENGTH_MAX - 100, &span);
        cr_assert_eq(span.length, LINES_LENGTH_MAX);
        cr_assert_null(lines_rest(&lines).text);
        lines_done(&lines);
}

Test(lines, a_line_in_one_piece_is_shown_where_it_lies) {
        static const char bytes[] = "here\n";
        Lines lines = { 0 };
        LinesSpan span;

        lines_take(&lines, bytes, 5, &span);
        cr_assert_eq(span.text, bytes);
        cr_assert_null(lines.held);
}

Test(lines, nothing_is_held_once_a_line_has_ended) {
        Lines lines = { 0 };
        LinesSpan span;

        lines_take(&lines, "par", 3, &span);
        cr_assert_not_null(lines.held);
        lines_take(&lines, "t\n", 2, &span);
        lines_take(&lines, "whole\n", 6, &span);
        cr_assert_null(lines.held);
        cr_assert_null(lines_rest(&lines).text);
}
