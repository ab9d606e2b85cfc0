/* peer.h - asks the kernel who is at the other end of a Unix connection, and says whether he may be there.
 *
 * root, our own uid, or a member of the group. Nothing that the peer says counts. Source: unix(7), SO_PEERCRED. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

typedef struct Peer {
        pid_t pid;
        uid_t uid;
} Peer;

/* `group` is a gid, or -1. *ret_peer is filled in as far as the kernel tells, also when the answer is no. */
bool peer_may(int fd, int group, Peer *ret_peer);
