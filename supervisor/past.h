/* past.h - finds in the journal of an earlier run who was cut off with it.
 *
 * A run that was killed leaves a journal without ending_finished. Its owners are gone, and nobody said so: whoever
 * holds jobs for them need not wait for the lease. Source: contracts/events.md, last paragraph. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct PastRun {
        char service[41];
        char owner[37];
        unsigned instance;
        pid_t pid;
} PastRun;

typedef struct Past {
        PastRun *runs; /* started and not told gone */
        size_t n_runs;
        bool pid_namespace; /* it was PID 1: nothing can have outlived it */
} Past;

/* Reads a journal before it is rotated away. A missing file, or one that ended well, gives no runs. 0, -ENOMEM, or
 * -errno. */
int past_read(const char *path, Past *ret);
void past_done(Past *past);
