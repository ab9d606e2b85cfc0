/* peer.c - asks the kernel who is at the other end of a Unix connection. */
#include "base/peer.h"
#include <sys/socket.h>
#include <unistd.h>

#define GROUPS_MAX 256 /* who is in more groups than this is not found in the ones beyond */

/* SO_PEERGROUPS: the supplementary groups at the time of connect(). Kernels before 4.13 have none: then only the
 * primary group counts. */
static bool is_in_group(int fd, gid_t group) {
        gid_t groups[GROUPS_MAX];
        socklen_t size = sizeof groups;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
                return false;
        for (size_t i = 0; i < size / sizeof *groups; i++)
                if (groups[i] == group)
                        return true;
        return false;
}

bool peer_may(int fd, int group, Peer *ret_peer) {
        struct ucred who = { .uid = (uid_t)-1, .gid = (gid_t)-1 };
        socklen_t size = sizeof who;

        *ret_peer = (Peer){ .uid = (uid_t)-1 };
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
                return false;
        *ret_peer = (Peer){ .pid = who.pid, .uid = who.uid };
        if (who.uid == 0 || who.uid == geteuid())
                return true;
        return group >= 0 && (who.gid == (gid_t)group || is_in_group(fd, (gid_t)group));
}
