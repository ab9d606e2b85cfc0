/* launches.h - the children that are between fork and exec, and what their error pipes tell.
 *
 * One nested epoll for all pipes, so that a thousand starts at once cost this process no thousand event sources. Slots
 * are numbered by the caller. */
#pragma once
#include "supervisor/child.h"
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Launches Launches;

/* `failure` NULL: exec was reached. One of CHILD_STEP_CONTROL_GROUP ends nothing, and another word follows. */
typedef void (*LaunchHandler)(void *userdata, uint32_t slot, const ChildFailure *failure);

int launches_new(Launches **ret, sd_event *event, uint32_t n_slots, LaunchHandler handler, void *userdata);
Launches *launches_free(Launches *launches);

/* Takes the reading end of the pipe. When it cannot be watched (ENOMEM), it is read when the child ends:
 * launches_settle(). */
void launches_watch(Launches *launches, uint32_t slot, int fd);
/* Tells now what the pipe of `slot` says, if it says anything yet: before a message of its child is heard. */
void launches_look(Launches *launches, uint32_t slot);
/* The same before its child's end is told: what the pipe does not say now it will never say. */
void launches_settle(Launches *launches, uint32_t slot);
