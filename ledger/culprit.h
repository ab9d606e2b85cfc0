/* culprit.h - puts failures together that have one cause, so that neither hides the other.
 *
 * Pure but for malloc. Of the same queue, kind, error class and fingerprint is one cause. Causes that many jobs share
 * come first: one poisonous job that failed 300 times stands behind the fault that 40 jobs have. */
#pragma once
#include "ledger/fingerprint.h"
#include <stddef.h>
#include <stdint.h>

#define CULPRIT_JOBS_MAX 10 /* ids that are kept of each cause */

typedef struct Culprit {
        char *queue, *kind, *class;
        char text[FINGERPRINT_MAX];
        uint64_t failures, n_jobs;
        int64_t jobs[CULPRIT_JOBS_MAX]; /* those with the most failures, when they come so */
        uint64_t worst_failures;        /* of jobs[0] */
        int64_t ago_usec;               /* since the newest */
        int64_t *seen;                  /* every job's id, sorted */
} Culprit;

typedef struct Culprits {
        Culprit *items;
        size_t n;
        uint64_t failures, n_jobs; /* in all; a job with two causes is one job */
        int64_t *seen;
} Culprits;

/* `failures` of one job with one text. 0 or -ENOMEM. */
int culprits_add(Culprits *culprits, const char *queue, const char *kind, const char *class, const char *error,
                 int64_t job, uint64_t failures, int64_t ago_usec);
void culprits_sort(Culprits *culprits);
void culprits_done(Culprits *culprits);
