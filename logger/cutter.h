/* cutter.h - cuts a stream of bytes that comes in pieces into lines, and a line that is too long into parts.
 *
 * Nothing is left out: the parts put together, with a newline after each that ends a line, are what came. No part is
 * longer than the cutter allows, and none ends inside a character. Only what stands without a newline at the end of a
 * piece is gathered, in memory of its own. NUL is a byte like any other. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct Cutter {
        size_t max;           /* of a part, in bytes; at least 4, so that a character fits */
        char *held;           /* the beginning of a part that is not complete; NULL when nothing is held */
        size_t length, shown; /* of what is held: all, and what the last call showed */
        bool inside;          /* the last part did not end its line */
} Cutter;

typedef struct CutterPart {
        const char *text; /* without a newline; valid until the next call; NULL: no part is complete yet */
        size_t length;
        bool continues; /* the line that the part before it began */
        bool goes_on;   /* its line has not ended with it */
} CutterPart;

void cutter_done(Cutter *cutter);

/* Takes bytes up to the end of the next part. How many it took; all of them when no part is complete. Without memory
 * to gather a line it is cut where the piece ends. */
size_t cutter_take(Cutter *cutter, const char *bytes, size_t length, CutterPart *ret);
/* The stream has ended: what is held is a line, too. */
CutterPart cutter_rest(Cutter *cutter);
