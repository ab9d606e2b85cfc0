/* call_filter.h - the seccomp program that stops a process before a call that may be an effect, and lets reads pass.
 *
 * Pure: makes the program, does not install it. What the kernel can judge by numbers is judged in it: open's flags,
 * signal 0, whether a mapping is shared and writable. What lies in memory is left to the tracer, which looks when the
 * process has stopped. Calls of another architecture's table (32 bit, x32) do not exist in a run: ENOSYS. Source:
 * seccomp(2). */
#pragma once
#include "verify/call_table.h"
#include <linux/filter.h>

typedef enum CallFilterOpens {
        CALL_FILTER_CHANGES, /* stop an open that itself changes something */
        CALL_FILTER_WRITERS, /* and every open for writing: an undo world saves the file then, before the first write */
} CallFilterOpens;

#define CALL_FILTER_MAX 512 /* instructions; asserted */

typedef struct CallFilter {
        struct sock_filter code[CALL_FILTER_MAX];
        unsigned short length;
} CallFilter;

/* `stop`: what the program answers for a call to stop: SECCOMP_RET_TRACE or SECCOMP_RET_USER_NOTIF. */
void call_filter_build(CallFilter *ret, CallArch arch, CallFilterOpens opens, uint32_t stop);
