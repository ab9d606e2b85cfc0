/* control_groups.h - puts each member into a control group of its own, where we may make some: then it is certain whose
 * a process is, and a whole tree can be killed at one stroke.
 *
 * Of version 2 only, below our own group, in a group whose name nobody else has; one leaf a member, made at its first
 * spawn, removed when it is empty. Limits nothing and turns on no controller. Nobody needs it: what cannot be made
 * costs only what it would have been good for. Never blocks. Source: cgroups(7), the kernel's cgroup-v2.rst, systemd's
 * CGROUP_DELEGATION.md. */
#pragma once
#include "supervisor/cgroup_place.h"
#include "supervisor/crew.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct ControlGroups ControlGroups;

/* `ours`: our own group. 0; or -errno, and then *ret_problem says what was in the way. Groups that other runs of
 * endwell left behind are removed. */
int control_groups_new(ControlGroups **ret, const Crew *crew, const CgroupPlace *ours, const char **ret_problem);
ControlGroups *control_groups_free(ControlGroups *groups); /* removes all that is empty */
const char *control_groups_directory(const ControlGroups *groups);

/* The directory of a member's leaf for its next run, made when it is not there; valid until the next call. Or -errno.
 */
int control_groups_leaf(ControlGroups *groups, uint32_t member, const char **ret_directory);
/* Whose leaf a process is in; CREW_NOBODY: nobody's, or gone. */
uint32_t control_groups_owner_of(const ControlGroups *groups, pid_t pid);
/* Calls `each` for every living process of a leaf, until it answers non-zero. 0, that answer, or -errno. */
int control_groups_each(ControlGroups *groups, uint32_t member, int (*each)(void *userdata, pid_t pid), void *userdata);
/* SIGKILL to all of them, and to whatever they are forking. -ENOENT: there is no leaf, or the kernel is older
 * than 5.14.
 */
int control_groups_kill(ControlGroups *groups, uint32_t member);

/* The main process is gone: the leaf is removed by the first control_groups_tidy() that finds it empty. That tries a
 * few only, in constant time, so it may be called at each death. */
void control_groups_retire(ControlGroups *groups, uint32_t member);
void control_groups_tidy(ControlGroups *groups);
