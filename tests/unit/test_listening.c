/* test_listening.c - sockets begin to listen, once, in the place of nobody who lives. */
#include "base/take.h"
#include "supervisor/listening.h"
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>

#define SOMEBODY 65534

static char folder[] = "/tmp/endwell-listening-XXXXXX";
static struct sockaddr_un path;
static struct sockaddr_in port;
static ListeningSocket sockets[2];
static Listening listening;

/* The first is a Unix socket, the second one of TCP on a port that is free. */
static void open_both(void) {
        int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        socklen_t length = sizeof port;
        cr_assert(mkdtemp(folder) != NULL);
        path = (struct sockaddr_un){ .sun_family = AF_UNIX };
        snprintf(path.sun_path, sizeof path.sun_path, "%s/socket", folder);
        port = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        cr_assert(bind(probe, (struct sockaddr *)&port, sizeof port) == 0);
        cr_assert(getsockname(probe, (struct sockaddr *)&port, &length) == 0);
        close(probe);
        sockets[0] = (ListeningSocket){ .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
                                        .address = (struct sockaddr *)&path,
                                        .length = sizeof path,
                                        .mode = 0640 };
        sockets[1] = (ListeningSocket){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                                        .address = (struct sockaddr *)&port,
                                        .length = sizeof port };
        listening = (Listening){ .sockets = sockets,
                                 .n = 2,
                                 .uid = (uid_t)-1,
                                 .gid = (gid_t)-1,
                                 .lock_fd = memfd_create("lock", MFD_CLOEXEC),
                                 .lock = 7 };
        cr_assert(sockets[0].fd >= 0 && sockets[1].fd >= 0 && listening.lock_fd >= 0);
}

static void close_both(void) {
        close(sockets[0].fd);
        close(sockets[1].fd);
        close(listening.lock_fd);
        (void)unlink(path.sun_path);
        (void)rmdir(folder);
}

TestSuite(listening, .init = open_both, .fini = close_both);

static int begin(void) {
        size_t which = 99;
        int r = listening_begin(&listening, &which);
        cr_assert((r < 0) == (which != 99));
        return r < 0 ? r : 0;
}

static int begin_failing_at(size_t wanted) {
        size_t which = 99;
        int r = listening_begin(&listening, &which);
        cr_assert_eq(which, wanted);
        return r;
}

static int connect_to(const ListeningSocket *socket_) {
        _cleanup_(closep) int fd = socket(socket_->address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        return connect(fd, socket_->address, socket_->length) < 0 ? -errno : 0;
}

static struct stat file(void) {
        struct stat found;
        cr_assert(lstat(path.sun_path, &found) == 0);
        return found;
}

static int another(int type) {
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
        cr_assert(fd >= 0 && bind(fd, (struct sockaddr *)&path, sizeof path) == 0);
        return fd;
}

Test(listening, both_kinds_can_be_connected_to) {
        cr_assert_not(listening_is_done(sockets[0].fd) || listening_is_done(sockets[1].fd));
        cr_assert_eq(begin(), 0);
        cr_assert(listening_is_done(sockets[0].fd) && listening_is_done(sockets[1].fd));
        cr_assert_eq(connect_to(&sockets[0]), 0);
        cr_assert_eq(connect_to(&sockets[1]), -EINPROGRESS);
}

Test(listening, what_listens_is_left_alone) {
        cr_assert_eq(begin(), 0);
        ino_t before = file().st_ino;
        cr_assert_eq(connect_to(&sockets[0]), 0);
        cr_assert_eq(begin(), 0);
        cr_assert_eq(file().st_ino, before);
        int peer = accept4(sockets[0].fd, NULL, NULL, SOCK_CLOEXEC); /* who waited waits still */
        cr_assert(peer >= 0);
        close(peer);
}

Test(listening, what_was_done_by_half_is_finished) {
        cr_assert(bind(sockets[0].fd, sockets[0].address, sockets[0].length) == 0);
        cr_assert(bind(sockets[1].fd, sockets[1].address, sockets[1].length) == 0);
        ino_t before = file().st_ino;
        cr_assert_eq(begin(), 0);
        cr_assert_eq(file().st_ino, before);
        cr_assert_eq(connect_to(&sockets[0]), 0);
        cr_assert_eq(connect_to(&sockets[1]), -EINPROGRESS);
}

Test(listening, a_file_has_its_mode_whatever_the_mask_is) {
        umask(077);
        cr_assert_eq(begin(), 0);
        cr_assert_eq(file().st_mode & 07777, 0640);
        cr_assert_eq(umask(022), 077);
}

Test(listening, a_file_gets_its_owner) {
        listening.uid = SOMEBODY;
        listening.gid = SOMEBODY - 1;
        cr_assert_eq(begin(), 0);
        cr_assert(file().st_uid == SOMEBODY && file().st_gid == SOMEBODY - 1);
        cr_assert_eq(file().st_mode & 07777, 0640);
}

Test(listening, another_file_in_its_place_is_not_given_away) {
        char other[80];
        struct stat found;
        snprintf(other, sizeof other, "%s/secret", folder);
        int fd = open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        cr_assert(bind(sockets[0].fd, sockets[0].address, sockets[0].length) == 0);
        cr_assert(unlink(path.sun_path) == 0 && symlink(other, path.sun_path) == 0);
        listening.uid = SOMEBODY;
        cr_assert_eq(begin_failing_at(0), -EEXIST);
        cr_assert(fstat(fd, &found) == 0 && found.st_uid == 0);
        cr_assert(unlink(path.sun_path) == 0 && link(other, path.sun_path) == 0);
        cr_assert_eq(begin_failing_at(0), -EEXIST);
        cr_assert(fstat(fd, &found) == 0 && found.st_uid == 0);
        close(fd);
        /* Nor a socket behind a link. */
        cr_assert(unlink(other) == 0 && unlink(path.sun_path) == 0);
        close(another(SOCK_STREAM));
        cr_assert(rename(path.sun_path, other) == 0 && symlink(other, path.sun_path) == 0);
        cr_assert_eq(begin_failing_at(0), -EEXIST);
        cr_assert(stat(other, &found) == 0 && found.st_uid == 0);
        (void)unlink(other);
}

Test(listening, a_port_that_is_taken_is_said) {
        int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        cr_assert(bind(taken, sockets[1].address, sockets[1].length) == 0 && listen(taken, 1) == 0);
        cr_assert_eq(begin_failing_at(1), -EADDRINUSE);
        cr_assert_not(listening_is_done(sockets[0].fd), "all listen or none");
        close(taken);
        cr_assert_eq(begin(), 0);
}

Test(listening, an_address_that_is_not_ours_is_said_and_no_other_port_is_taken) {
        port.sin_addr.s_addr = htonl(0xC0000201); /* 192.0.2.1, for documentation only: RFC 5737 */
        cr_assert_eq(begin_failing_at(1), -EADDRNOTAVAIL);
        cr_assert_not(listening_is_done(sockets[1].fd));
}

Test(listening, a_file_that_nobody_answers_on_is_replaced) {
        int dead = another(SOCK_STREAM);
        cr_assert(listen(dead, 1) == 0);
        close(dead);
        ino_t before = file().st_ino;
        int keep = open(folder, O_RDONLY | O_CLOEXEC); /* so that the number is not given again */
        char kept[80];
        snprintf(kept, sizeof kept, "%s/kept", folder);
        cr_assert(link(path.sun_path, kept) == 0);
        cr_assert_eq(begin(), 0);
        cr_assert_neq(file().st_ino, before);
        cr_assert_eq(connect_to(&sockets[0]), 0);
        close(keep);
        (void)unlink(kept);
}

Test(listening, one_that_somebody_answers_on_is_never_replaced) {
        int living = another(SOCK_STREAM);
        cr_assert(listen(living, 0) == 0);
        ino_t before = file().st_ino;
        cr_assert_eq(begin_failing_at(0), -EADDRINUSE);
        /* Nor when its queue is full, of our own questions for example. */
        while (connect_to(&sockets[0]) == 0)
                ;
        cr_assert_eq(connect_to(&sockets[0]), -EAGAIN);
        cr_assert_eq(begin_failing_at(0), -EADDRINUSE);
        cr_assert_eq(file().st_ino, before);
        close(living);
        cr_assert_eq(begin(), 0);
}

Test(listening, one_of_another_type_is_somebodys_too) {
        static const int types[] = { SOCK_DGRAM, SOCK_SEQPACKET };
        for (size_t i = 0; i < LENGTH_OF(types); i++) {
                int living = another(types[i]);
                cr_assert(types[i] == SOCK_DGRAM || listen(living, 1) == 0);
                cr_assert_eq(begin_failing_at(0), -EADDRINUSE);
                close(living);
                cr_assert(unlink(path.sun_path) == 0);
        }
}

Test(listening, a_file_that_is_no_socket_is_never_touched) {
        close(open(path.sun_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        cr_assert_eq(begin_failing_at(0), -EEXIST);
        cr_assert(S_ISREG(file().st_mode));
        cr_assert(unlink(path.sun_path) == 0 && symlink("/dev/null", path.sun_path) == 0);
        cr_assert_eq(begin_failing_at(0), -EEXIST);
        cr_assert(S_ISLNK(file().st_mode));
        cr_assert(unlink(path.sun_path) == 0 && mkdir(path.sun_path, 0700) == 0);
        cr_assert_eq(begin_failing_at(0), -EEXIST);
        cr_assert(rmdir(path.sun_path) == 0);
}

Test(listening, folders_are_not_made) {
        snprintf(path.sun_path, sizeof path.sun_path, "%s/no/socket", folder);
        cr_assert_eq(begin_failing_at(0), -ENOENT);
}
