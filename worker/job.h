/* job.h - one claimed job as a value: what the ledger said of it, and what its command is told.
 *
 * Pure but for malloc. The payload passes through byte for byte; only for a stream a line break between its tokens
 * becomes a blank, because a line of the stream ends there. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_CLAIM_MAX 37 /* a uuid and NUL */

typedef struct JobKey { /* what fences every write */
        int64_t id, generation;
        char claim[JOB_CLAIM_MAX];
} JobKey;

typedef struct Job {
        JobKey key;
        int64_t attempt, max_attempts;
        usec_t lease_usec;
        usec_t left_usec;                /* until the queue's own hard limit; USEC_INFINITY: it has none */
        char *kind, *payload, *progress; /* NULL: none; ours */
} Job;

int job_init(Job *ret, const Job *from); /* copies the texts; 0 or -ENOMEM */
void job_done(Job *job);

/* Lines K=V for the environment of a command that runs one job: `notify`: the socket for its words, `file`: a path of
 * the payload or "". Its length; -E2BIG. */
int job_environment(const Job *job, const char *owner, const char *notify, const char *file, char *ret, size_t size);
/* The line that gives it to a stream, with its newline: malloc's. 0 or -ENOMEM. */
int job_line(const Job *job, char **ret, size_t *ret_length);
