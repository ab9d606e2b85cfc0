/* descriptors.h - puts a child's descriptors in place: 0 to 2 as planned, those that it was promised, and nothing else.
 *
 * Runs in the child, between fork and exec: system calls only, no allocation, no lock. First every source, and the pipe
 * over which a failure is told, is moved above all the numbers that the plan names, then all are placed, so that none
 * is overwritten before it was used. */
#pragma once
#include "supervisor/child.h"

typedef struct Descriptors {
        int source[3];  /* what becomes 0, 1 and 2; the number itself: it stays what it is */
        int failure_fd; /* the pipe: before descriptors_open() where it was, after it where it is */
        int *promised;  /* the sources of ChildPlan.descriptors; a mapping of this process */
        int *kept;      /* room for one number more than that: what stays open */
} Descriptors;

/* 0 or -errno, and then *ret_step says which one could not be opened. `failure_fd` is right in either case. */
int descriptors_open(const ChildPlan *plan, Descriptors *descriptors, ChildStep *ret_step);
/* Places them and closes everything else, but for a plan that inherits. */
int descriptors_place(const ChildPlan *plan, const Descriptors *descriptors, ChildStep *ret_step);

/* Moves a descriptor to 3 or above: endwell itself may have been started with one of 0 to 2 closed. Takes `fd`; the new
 * number or -errno. */
int descriptors_lift(int fd);

/* At the very start: /dev/null stands in for each of 0 to 2 that is closed, so that no file or socket of ours takes the
 * number and a child writes into it. Where there is no /dev/null they stay closed. */
void descriptors_fill_standard(void);
