/* lines.h - finds the lines in a stream of bytes that comes in pieces.
 *
 * Never looks at what a line says. A line that lies whole in one piece is shown where it lies; only one that is split
 * is gathered, in memory of its own, at most LINES_LENGTH_MAX bytes of it: of a longer line the first LINES_LENGTH_MAX
 * are shown, as soon as they are there, and the rest is passed over. NUL is a byte like any other. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define LINES_LENGTH_MAX (64 * 1024)

typedef struct Lines {
        char *held; /* the beginning of a line that is not complete; NULL when nothing is held */
        size_t length;
        bool passing_over; /* the line has been shown and has not ended */
} Lines;

typedef struct LinesSpan {
        const char *text; /* without its newline; valid until the next call; NULL: no line is complete yet */
        size_t length;
} LinesSpan;

void lines_done(Lines *lines);

/* Takes bytes up to and including the end of the next line. How many it took; all of them when no line is complete.
 * Without memory to gather a split line its first part is shown as if it were the whole. */
size_t lines_take(Lines *lines, const char *bytes, size_t length, LinesSpan *ret);
/* The stream has ended: what is held is a line, too. */
LinesSpan lines_rest(const Lines *lines);
