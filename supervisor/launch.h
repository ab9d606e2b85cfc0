/* launch.h - what a child does between fork and exec.
 *
 * Runs in the child only: makes system calls, allocates nothing, takes no lock, never returns. Every step that fails is
 * told by name over `failure_fd`. */
#pragma once
#include "supervisor/child.h"
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct Launch {
        const ChildPlan *plan;
        int failure_fd; /* close-on-exec, 3 or more */
        pid_t parent;
        const struct rlimit *limit; /* of descriptors; NULL: leave it */
        bool joins;                 /* its control group, by itself */
        bool greets;                /* says over the pipe that it lives: CHILD_STEP_NONE */
        bool cleared;               /* of handlers of signals, by the kernel */
} Launch;

_Noreturn void launch(const Launch *launch);

/* execvpe() without malloc, over PATH of `envp` instead of our own. Returns only on failure: -errno; -EACCES when
 * something of that name was found on the way but could not be run, as execvp(3) does. */
int launch_exec(char *const *argv, char *const *envp);
