/* rights.h - what a process may do and use: its user, groups, limits, capabilities and scheduling, as one value.
 *
 * rights_apply() runs in the child, between fork and exec: system calls only, nothing is allocated, no lock is taken,
 * no name is looked up. What is already so needs no privilege: an unprivileged endwell may name its own user and
 * groups. Source: systemd.exec(5), credentials(7), capabilities(7), getrlimit(2). */
#pragma once
#include "supervisor/child.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct RightsLimit {
        int resource; /* RLIMIT_… */
        struct rlimit limit;
} RightsLimit;

struct Rights {
        char *user; /* the name, for USER, LOGNAME; NULL: endwell's own */
        char *home, *shell;
        uid_t uid;        /* (uid_t)-1: endwell's own */
        gid_t gid;        /* (gid_t)-1: endwell's own */
        gid_t *groups;    /* all supplementary groups, those of the user's database entry included */
        size_t n_groups;  /* of them */
        bool sets_groups; /* false: endwell's own stay */
        RightsLimit *limits;
        size_t n_limits;
        int umask; /* -1: endwell's own */
        bool sets_nice, sets_oom_score;
        int nice, oom_score; /* -20 to 19; -1000 to 1000 */
        bool no_new_privileges;
        bool sets_bounding;
        uint64_t bounding; /* bit n: capability n; counts with sets_bounding */
        uint64_t ambient;  /* 0: endwell's own, unless the user changes: then none */
};

#define RIGHTS_NONE ((Rights){ .uid = (uid_t)-1, .gid = (gid_t)-1, .umask = -1 })

/* In the order in which they need each other: the score and the limits while we still may, then groups and user, then
 * capabilities, at last no_new_privileges. 0 or -errno, and then *ret_failure says which one failed. */
int rights_apply(const Rights *rights, ChildFailure *ret_failure);
