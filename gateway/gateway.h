/* gateway.h - the gateway itself: what it hears from PID 1, and what it answers to whom.
 *
 * /livez /readyz /startupz answer at once from what is known; /status, /metrics and the page wait for endwell's own
 * answer, 2 s at most; /events follows the journal. There is no other path. */
#pragma once
#include "gateway/invocation.h"
#include <systemd/sd-event.h>

typedef struct Gateway Gateway;

/* `descriptors`: how many may be open. Ends the loop when `parent_fd` is closed by the other side, and all is said. */
int gateway_new(Gateway **ret, sd_event *event, const Invocation *invocation, int parent_fd, unsigned descriptors);
Gateway *gateway_free(Gateway *gateway);
