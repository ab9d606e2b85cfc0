/* cgroup_place.h - finds where in the file system a process's control group is: of the hierarchy of version 2, or of a
 * controller of version 1.
 *
 * Reads /proc only. A container may see a part of a hierarchy, in a namespace of its own, or none at all. Source:
 * cgroups(7), cgroup_namespaces(7), proc(5). */
#pragma once
#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct CgroupPlace {
        char path[PATH_MAX];      /* as /proc/PID/cgroup has it: from the root of our cgroup namespace */
        char directory[PATH_MAX]; /* where it can be reached */
} CgroupPlace;

/* Our own group. `controller` NULL: of version 2. 0; -ENOENT: there is no such hierarchy, or no mount of it shows our
 * group; -ENAMETOOLONG; or -errno. */
int cgroup_place_find(const char *controller, CgroupPlace *ret);

/* The group of `pid`, or with 0 our own, as a path. 0, -ENOENT (in none), -ENAMETOOLONG, -ESRCH, or -errno. */
int cgroup_place_path(pid_t pid, const char *controller, char *ret_path, size_t size);

/* Their parts, pure. The path in the text of /proc/PID/cgroup. */
int cgroup_place_parse_path(const char *text, const char *controller, char *ret_path, size_t size);
/* Where `path` is by this line of /proc/self/mountinfo; -ENOENT: the line is of another hierarchy, or does not show it.
 */
int cgroup_place_parse_mount(const char *line, const char *controller, const char *path, char *ret_directory,
                             size_t size);
