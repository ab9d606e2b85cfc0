/* tail.h - keeps the last bytes of a stream, and makes text of them.
 *
 * Pure. */
#pragma once
#include <stddef.h>

#define TAIL_MAX 3800 /* what fits into the ledger's 4,000 letters beside a sentence */

typedef struct Tail { /* all zero: empty */
        char bytes[2 * TAIL_MAX];
        size_t length;
} Tail;

void tail_add(Tail *tail, const char *bytes, size_t length);
/* The last TAIL_MAX bytes as UTF-8: what is no character becomes '?', line breaks and tabs stay, blanks at the end go.
 * Whole lines, when the first one was cut and others follow. Valid until the tail changes. */
const char *tail_text(Tail *tail, char ret_text[static TAIL_MAX + 1]);
