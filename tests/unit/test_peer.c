/* test_peer.c - the kernel says who is there: ourselves, on a pair of our own; what is no socket has nobody behind it.
 */
#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/peer.h"
#include "base/take.h"

Test(peer, we_ourselves_may) {
        int ends[2];
        Peer peer;
        cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);

        cr_assert(peer_may(ends[0], -1, &peer));

        cr_assert_eq(peer.pid, getpid());
        cr_assert_eq(peer.uid, geteuid());
        close_fd(ends[0]);
        close_fd(ends[1]);
}

Test(peer, whoever_is_not_known_may_not) {
        Peer peer;

        cr_assert_not(peer_may(-1, -1, &peer));
        cr_assert_eq(peer.uid, (uid_t)-1);
}
