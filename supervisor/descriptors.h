/* descriptors.h - puts a child's descriptors in place: 0 to 2 as planned, and nothing else.
 *
 * Runs in the child, between fork and exec: system calls only, no allocation, no lock. First every source is opened (3
 * or above), then all are placed, so that no source is overwritten before it was used. */
#pragma once
#include "supervisor/child.h"

typedef struct Descriptors {
        int source[3]; /* what becomes 0, 1 and 2; the number itself: it stays what it is */
} Descriptors;

/* 0 or -errno, and then *ret_step says which one could not be opened. */
int descriptors_open(const ChildPlan *plan, Descriptors *ret, ChildStep *ret_step);
int descriptors_place(const Descriptors *descriptors, ChildStep *ret_step);

/* Closes everything from 3 on but `keep` (3 or above). */
int descriptors_close_others(int keep);

/* Moves a descriptor to 3 or above: endwell itself may have been started with one of 0 to 2 closed. Takes `fd`; the new
 * number or -errno. */
int descriptors_lift(int fd);

/* At the very start: /dev/null stands in for each of 0 to 2 that is closed, so that no file or socket of ours takes the
 * number and a child writes into it. Where there is no /dev/null they stay closed. */
void descriptors_fill_standard(void);
