/* upward.h - tells whoever started this endwell how far it is, when it was given a $NOTIFY_SOCKET: sd_notify(3),
 * outwards.
 *
 * Never waits: sd_notify() itself would, for a parent that does not read. What could not be sent is tried again, ever
 * more seldom. A status goes out at most once a second, the newest one, but for those that go with READY=1, STOPPING=1
 * and the last. Lives on the caller's clock: call upward_on_time() at upward_next_usec(), from the main loop and from
 * nowhere else, so that WATCHDOG=1 says that the loop turns. Source: sd_notify(3), sd_watchdog_enabled(3),
 * systemd.service(5). */
#pragma once
#include "shutdown/event.h"

/* Call once, before the first event. From then on no child inherits the parent's socket or its watchdog, unless
 * `pass_on`: then a command that gets no socket of ours may speak for itself. */
void upward_open(bool pass_on, usec_t now_usec);
void upward_close(void);
bool upward_is_open(void); /* false: nobody wants to hear, and nothing will ever be due */

/* `event` happened now: its mono_usec is the clock. */
void upward_tell(const Event *event);
/* True once a second while start-up is not finished, nothing newer is to be said and somebody wants to hear: then
 * upward_wait() takes, for people, what it waits for. */
bool upward_wants_to_wait(usec_t now_usec);
void upward_wait(const char *text, usec_t now_usec);

/* The next instant at which something is due; USEC_INFINITY: none. Ask after each call. */
usec_t upward_next_usec(void);
void upward_on_time(usec_t now_usec);
