/* cgroup_tree.h - removes control groups: empty ones, and those that a dead endwell left.
 *
 * The group of a living endwell is locked (flock(2)), so whoever starts beside it tells it from one that is left over,
 * and a lock ends with its process however that ends. */
#pragma once
#include <stdbool.h>

#define CGROUP_TREE_PREFIX "endwell."

/* Locks the group `name` in `parent_fd`. Its descriptor, or -errno; -ENOENT: somebody removed it meanwhile. */
int cgroup_tree_lock(int parent_fd, const char *name);
/* Removes a group with all that is below it; false: a process is in it, and what was empty is gone all the same. */
bool cgroup_tree_remove(int parent_fd, const char *name);
void cgroup_tree_remove_below(int fd);
/* Removes the groups in `directory` that were an endwell's and are nobody's any more. */
void cgroup_tree_sweep(const char *directory);
