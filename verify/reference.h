/* reference.h - what a single run makes of the world, with its noise: two runs that were alike, put side by side.
 *
 * Pure but for malloc. Borrows both states. A file in both is compared line by line, rows and requests in any order;
 * a file whose name is random is found by its mask. The number of lines, rows and files is never free. */
#pragma once
#include "verify/difference.h"
#include "verify/mask.h"
#include "verify/state.h"

typedef struct ReferencePair {
        const Item *one, *other; /* other: with another name, where it is random; NULL: it is unstable */
        size_t *partners;        /* of rows and requests: which line of `other` belongs to each of `one` */
} ReferencePair;

typedef struct Reference {
        ReferencePair *pairs;
        size_t n_pairs;
        Differences masks;    /* a sentence each; extras unused */
        Differences unstable; /* what differs and cannot be masked: nothing can be judged by this reference */
} Reference;

/* 0 or -ENOMEM. reference_done() in any case. */
int reference_init(Reference *reference, const State *one, const State *other, StampSpan span);
void reference_done(Reference *reference);

/* Adds to `ret` what `state` has otherwise. */
void reference_compare(const Reference *reference, const State *state, StampSpan span, Differences *ret);

/* The same for text: standard output. `what` begins the sentences. */
void reference_compare_text(const char *what, const char *one, const char *other, const char *text, StampSpan span,
                            Differences *ret);
