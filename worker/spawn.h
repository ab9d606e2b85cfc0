/* spawn.h - makes a process of the worker: one that watches, or a command; the only place here that does.
 *
 * It starts with default dispositions and an empty mask, with descriptors 0 to 2 and nothing else. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

typedef struct SpawnPlan {
        char *const *argv; /* argv[0] without a slash is looked up in $PATH */
        int fds[3];        /* its 0, 1 and 2; -1: ours */
        bool session;      /* one of its own, and SIGKILL when its parent dies */
} SpawnPlan;

/* 0, and it has reached exec; or -errno of whatever failed before, and nothing is left of it. */
int spawn(const SpawnPlan *plan, pid_t *ret_pid);
