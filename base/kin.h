/* kin.h - finds out from /proc whose a process is, and which processes belong to a tree.
 *
 * A dead service's descendants are always below children of PID 1, so a look at our own list of children
 * (/proc/self/task/TID/children; /proc/PID/stat of all where the kernel lacks it) finds every orphan in constant time
 * per child. Attribution (contracts/config.md): by session, by the last parent seen, by ENDWELL_OWNER in the
 * environment where it may be read; else nobody's. Reads only; signals nobody. Work a call is bounded; what does not
 * fit follows. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct KinProcess {
        pid_t pid, parent, session;
        unsigned long long start_ticks; /* field 22 of /proc/PID/stat: with the pid it names one process for ever */
        char comm[16];                  /* cut, and control characters are '?' */
        char state;                     /* R, S, D, Z, … */
        unsigned threads;               /* 0 or 1 in a zombie; more: only the first thread has ended */
} KinProcess;

/* 0: /proc shows this PID namespace. -ENOENT: there is none; -EXDEV: it shows another one, where the same numbers are
 * other processes, so that nothing here may be believed. */
int kin_check(void);

/* False for the dead that are not yet collected. */
bool kin_is_living(const KinProcess *process);

/* /proc/PID/stat. 0, -ESRCH (gone, or hidden from us), -ENOENT (there is no /proc), or -errno. */
int kin_read(pid_t pid, KinProcess *ret);
/* The same from its text. Pure. 0 or -EBADMSG. */
int kin_parse_stat(const char *text, size_t length, KinProcess *ret);

/* Calls `each` for every child of this process, dead or alive, in the kernel's order, until it answers non-zero. 0,
 * that answer, or -errno. `each` must not collect children: the kernel's list is read in pieces by position. */
int kin_children(int (*each)(void *userdata, pid_t pid), void *userdata);

/* Calls `each` for every living descendant of `root` (itself not included), parents before children, until it answers
 * non-zero; at most `most` of them. Other threads' children are included. 0, that answer, or -errno (-ESRCH: no root).
 * What changes during the look may be missed: look again. */
int kin_descendants(pid_t root, size_t most, int (*each)(void *userdata, const KinProcess *process), void *userdata);

/* True when `pid` is `root` or at most 1,023 generations below it. */
bool kin_is_below(pid_t pid, pid_t root);

/* The value of ENDWELL_OWNER in the environment that `pid` was started with. 0, -ENOENT (not in there), -EBADMSG (too
 * long to be an owner), -EACCES, -ESRCH, … */
int kin_owner(pid_t pid, char ret_owner[static 37]);

/* What the two above do where the kernel lists no children. */
int kin_children_by_scan(int (*each)(void *userdata, pid_t pid), void *userdata);
int kin_descendants_by_scan(pid_t root, size_t most, int (*each)(void *userdata, const KinProcess *process),
                            void *userdata);

/* Their parts. Each pid of a file of numbers, each name of a directory that is a number: until `each` answers non-zero.
 */
int kin_list(const char *path, int (*each)(void *userdata, pid_t pid), void *userdata);
int kin_each_number(const char *path, int (*each)(void *userdata, pid_t pid), void *userdata);
