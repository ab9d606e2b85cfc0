/* control_peer.h - asks the kernel who is at the other end of a control connection, and says whether he may be there.
 *
 * root, endwell's own uid, or a member of the group. Nothing that the peer says counts. Source: unix(7), SO_PEERCRED.
 */
#pragma once
#include "supervisor/control.h"
#include <stdbool.h>

/* `group` is a gid, or -1. *ret_peer is filled in as far as the kernel tells, also when the answer is no. */
bool control_peer_may(int fd, int group, ControlPeer *ret_peer);
