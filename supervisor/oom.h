/* oom.h - says whether a process that was killed was the OOM killer's.
 *
 * The kernel counts its kills, of version 2 in memory.events of our own control group and all below it, of version 1 in
 * memory.oom_control of our own. Each that was counted since a run began explains one death; a kill of a process that
 * is not ours to hear of (a service's own child) may be taken for one of ours. Both files are read in memory: nothing
 * waits. Where there is neither, nobody is ever found to be the OOM killer's. Source: the kernel's cgroup-v2.rst and
 * cgroup-v1/memory.rst. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OOM_COUNTERS 2

typedef struct Oom {
        int fds[OOM_COUNTERS]; /* -1: there is none */
        uint64_t counted, unexplained;
        usec_t looked_usec;
} Oom;

#define OOM_NONE ((Oom){ .fds = { -1, -1 } })

void oom_open(Oom *oom);
void oom_close(Oom *oom);
/* A run begins: what was killed before it is none of its deaths. At most one look a second. */
void oom_begin(Oom *oom);
/* A process died of SIGKILL and nobody here sent it: was it the OOM killer? */
bool oom_explains(Oom *oom);

/* The number behind `oom_kill` in the text of one of these files. Pure. 0, or -EBADMSG. */
int oom_parse(const char *text, uint64_t *ret);
