/* lines.c - splits bytes into lines, gathering those that come in pieces. */
#include "logger/lines.h"
#include "base/take.h"
#include <string.h>

void lines_done(Lines *lines) {
        free(TAKE(lines->held));
        *lines = (Lines){ 0 };
}

static size_t smaller(size_t a, size_t b) {
        return a < b ? a : b;
}

/* Adds to the held line; true when it can take no more. */
static bool hold(Lines *lines, const char *bytes, size_t length) {
        size_t fits = smaller(length, LINES_LENGTH_MAX - lines->length);

        if (!lines->held)
                lines->held = malloc(LINES_LENGTH_MAX + 1);
        if (!lines->held)
                return true;
        lines->held[LINES_LENGTH_MAX] = '\0'; /* for sanitizers, which take what regexec(3) is given for a string */
        memcpy(lines->held + lines->length, bytes, fits);
        lines->length += fits;
        return lines->length == LINES_LENGTH_MAX;
}

/* Without the end of a line in sight. */
static void take_part(Lines *lines, const char *bytes, size_t length, LinesSpan *ret) {
        if (lines->passing_over || length == 0 || !hold(lines, bytes, length))
                return;
        lines->passing_over = true;
        *ret = lines->held ? (LinesSpan){ lines->held, lines->length }
                           : (LinesSpan){ bytes, smaller(length, LINES_LENGTH_MAX) };
        lines->length = 0;
}

/* With `length` more bytes, the newline not counted, the line is complete. */
static void take_end(Lines *lines, const char *bytes, size_t length, LinesSpan *ret) {
        if (lines->passing_over) {
                lines->passing_over = false;
        } else if (lines->length == 0) {
                *ret = (LinesSpan){ bytes, smaller(length, LINES_LENGTH_MAX) };
        } else {
                hold(lines, bytes, length);
                *ret = (LinesSpan){ lines->held, lines->length };
                lines->length = 0; /* the memory stays until the next call: the span points into it */
        }
}

size_t lines_take(Lines *lines, const char *bytes, size_t length, LinesSpan *ret) {
        const char *newline = memchr(bytes, '\n', length);

        *ret = (LinesSpan){ NULL, 0 };
        if (lines->length == 0)
                free(TAKE(lines->held));
        if (!newline) {
                take_part(lines, bytes, length, ret);
                return length;
        }
        take_end(lines, bytes, (size_t)(newline - bytes), ret);
        return (size_t)(newline - bytes) + 1;
}

LinesSpan lines_rest(const Lines *lines) {
        if (lines->passing_over || lines->length == 0)
                return (LinesSpan){ NULL, 0 };
        return (LinesSpan){ lines->held, lines->length };
}
