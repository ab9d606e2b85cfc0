/* overlay.h - builds the inside of an overlay world, and moves the calling process into it.
 *
 * For a process that is alone in fresh mount, PID, network, IPC and UTS namespaces. What is written inside goes into
 * layers on a tmpfs that no path leads to: when the last process and the last descriptor are gone, so are they. Block
 * devices are hidden, the kernel's knobs read-only, live Unix sockets bound (overlayfs refuses to connect to one). */
#pragma once
#include "verify/mounts.h"

typedef struct OverlayPlan {
        const Mounts *mounts;
        char *const *sockets; /* paths of Unix sockets that somebody listens on; NULL-terminated */
        unsigned first_pid;   /* the next process's number is about this; 0: as it comes */
} OverlayPlan;

typedef struct Overlay {
        int root;   /* the world's root folder */
        int layers; /* the folder of what was written: `upper/N` for points[N] */
        char **points;
        size_t n_points;
        char **notes; /* what is weaker here than it should be, for people */
        size_t n_notes;
} Overlay;

/* 0; or -errno, and *ret_why says what failed: the process is then of no use any more. */
int overlay_build(const OverlayPlan *plan, Overlay *ret, char **ret_why);
void overlay_done(Overlay *overlay);
