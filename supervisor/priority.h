/* priority.h - who goes first in the event loop; the one place that says so.
 *
 * A source that is always ready starves every one below it (sd-event runs the most urgent first), so what stands high
 * must be bounded: the mailbox by its rate limit, the collector by 64 processes a turn. The order: a request to end is
 * never late; a message is read before the death of its sender is, so that READY=1 of a short-lived process counts. */
#pragma once

#define PRIORITY_ENDING   (-30) /* SIGTERM and its like */
#define PRIORITY_MAILBOX  (-20)
#define PRIORITY_CHILD    (-10) /* SIGCHLD */
#define PRIORITY_ORDINARY 0     /* everything else, fairly */
#define PRIORITY_CONTROL  10    /* clients of the control socket: after all that concerns services */
