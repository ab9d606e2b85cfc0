/* upward.h - tells whoever started this endwell how far it is, when it was given a $NOTIFY_SOCKET: sd_notify(3),
 * outwards.
 *
 * Never waits: sd_notify() itself would, for a parent that does not read. READY=1 and STOPPING=1 that could not be sent
 * go with the next word; a status that could not be sent is lost. */
#pragma once
#include "shutdown/event.h"

/* Call once, before the first event. From then on no child inherits the parent's socket, unless `pass_on`: then a
 * command that gets none of ours may speak for itself. */
void upward_open(bool pass_on);
void upward_close(void);
void upward_tell(const Event *event);
