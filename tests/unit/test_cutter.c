/* test_cutter.c - nothing is left out or added, wherever the pieces are cut and however long a line is. */
#include "logger/cutter.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MAX 16

typedef struct Shown {
        char text[1 << 16]; /* the parts put together again, a newline behind each line */
        size_t length;
        unsigned n_parts, n_continuing, n_going_on;
} Shown;

static void show(Shown *shown, const CutterPart *part) {
        if (!part->text)
                return;
        cr_assert_leq(part->length, MAX);
        cr_assert(shown->n_parts == 0 || part->continues == (shown->n_going_on > shown->n_continuing));
        memcpy(shown->text + shown->length, part->text, part->length);
        shown->length += part->length;
        shown->n_parts++;
        shown->n_continuing += part->continues;
        shown->n_going_on += part->goes_on;
        if (!part->goes_on)
                shown->text[shown->length++] = '\n';
}

static Shown *in_pieces_of(size_t piece, const char *bytes, size_t length) {
        Shown *shown = calloc(1, sizeof *shown);
        Cutter cutter = { .max = MAX };
        CutterPart part;

        for (size_t done = 0; done < length; done += piece) {
                size_t n = length - done < piece ? length - done : piece;
                char *copy = malloc(n); /* so that a part that points into an older piece is seen by the sanitizer */
                memcpy(copy, bytes + done, n);
                for (size_t at = 0; at < n;) {
                        size_t took = cutter_take(&cutter, copy + at, n - at, &part);
                        cr_assert(took > 0 && took <= n - at);
                        show(shown, &part);
                        at += took;
                }
                free(copy);
        }
        part = cutter_rest(&cutter);
        show(shown, &part);
        cutter_done(&cutter);
        return shown;
}

Test(cutter, the_parts_put_together_are_what_came_however_it_was_cut) {
        static const char text[] =
                "one\n\n0123456789abcde\n0123456789abcdef\n0123456789abcdefg\nlast \0 of all, and long\n";
        for (size_t piece = 1; piece < sizeof text; piece++) {
                Shown *shown = in_pieces_of(piece, text, sizeof text - 1);
                cr_assert_eq(shown->length, sizeof text - 1, "pieces of %zu: %zu bytes", piece, shown->length);
                cr_assert_arr_eq(shown->text, text, sizeof text - 1);
                cr_assert_eq(shown->n_continuing, shown->n_going_on);
                free(shown);
        }
}

Test(cutter, a_last_line_without_a_newline_is_a_line) {
        for (size_t piece = 1; piece < 40; piece++) {
                Shown *shown = in_pieces_of(piece, "a\n0123456789abcdef0123456789abcdef", 34);
                cr_assert_eq(shown->length, 35);
                cr_assert_arr_eq(shown->text, "a\n0123456789abcdef0123456789abcdef\n", 35);
                free(shown);
        }
}

Test(cutter, no_character_is_cut_in_two) {
        static const char text[] = "x€€€€€€€€€€€€€€€€€€€€\n"; /* three bytes each */
        for (size_t piece = 1; piece < sizeof text; piece++) {
                Cutter cutter = { .max = MAX };
                for (size_t done = 0; done < sizeof text - 1; done += piece)
                        for (size_t at = done, end = done + piece < sizeof text - 1 ? done + piece : sizeof text - 1;
                             at < end;) {
                                CutterPart part;
                                at += cutter_take(&cutter, text + at, end - at, &part);
                                cr_assert(part.length == 0 || ((unsigned char)part.text[0] & 0xC0) != 0x80,
                                          "pieces of %zu", piece);
                        }
                cutter_done(&cutter);
        }
}

Test(cutter, bytes_that_are_no_characters_are_cut_somewhere) {
        char bytes[200];
        memset(bytes, 0x80, sizeof bytes);
        for (size_t piece = 1; piece < sizeof bytes; piece++) {
                Shown *shown = in_pieces_of(piece, bytes, sizeof bytes);
                cr_assert_eq(shown->length, sizeof bytes + 1);
                cr_assert_arr_eq(shown->text, bytes, sizeof bytes);
                free(shown);
        }
}

Test(cutter, a_stream_without_a_byte_has_no_line) {
        Shown *shown = in_pieces_of(1, "", 0);
        cr_assert_eq(shown->n_parts, 0);
        free(shown);
}
