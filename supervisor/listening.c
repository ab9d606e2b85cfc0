/* listening.c - see listening.h. */
#include "supervisor/listening.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/un.h>

/* As many as net.core.somaxconn allows: the kernel cuts it. While a service is down they wait in this queue. */
#define BACKLOG INT_MAX

bool listening_is_done(int fd) {
        int listens = 0;
        return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){ sizeof listens }) >= 0 && listens;
}

/* Another child may have been ended between the two steps. */
static bool is_bound(int fd, sa_family_t family) {
        union {
                struct sockaddr_un path;
                struct sockaddr_in port; /* IPv6 has it at the same place */
        } name = { 0 };
        socklen_t length = sizeof name;
        if (getsockname(fd, (struct sockaddr *)&name, &length) < 0)
                return false;
        return family == AF_UNIX ? length > offsetof(struct sockaddr_un, sun_path) : name.port.sin_port != 0;
}

/* 1: somebody answers, or would if he had the time. 0: nobody. Or -errno. */
static int is_answered(const struct sockaddr *address, socklen_t length) {
        _cleanup_(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        if (connect(fd, address, length) >= 0 || errno == EAGAIN || errno == EPROTOTYPE)
                return 1;
        return errno == ECONNREFUSED || errno == ENOENT ? 0 : -errno;
}

static int make_room(const ListeningSocket *socket) {
        const char *path = ((const struct sockaddr_un *)(const void *)socket->address)->sun_path;
        struct stat found;
        if (lstat(path, &found) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!S_ISSOCK(found.st_mode)) /* connect(2) to it would be refused, too */
                return -EEXIST;
        int r = is_answered(socket->address, socket->length);
        if (r != 0)
                return r < 0 ? r : -EADDRINUSE;
        return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

/* By the file that is there and no link in its place: whoever may write into its folder must not get other files. */
static int give_away(const ListeningSocket *socket, uid_t uid, gid_t gid) {
        const char *path = ((const struct sockaddr_un *)(const void *)socket->address)->sun_path;
        struct stat found;
        _cleanup_(closep) int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &found) < 0)
                return -errno;
        if (!S_ISSOCK(found.st_mode))
                return -EEXIST;
        return fchownat(fd, "", uid, gid, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

static int bind_to(const ListeningSocket *socket) {
        return bind(socket->fd, socket->address, socket->length) < 0 ? -errno : 0;
}

/* The file has its mode from the instant in which it appears. */
static int bind_path(const ListeningSocket *socket) {
        mode_t saved = umask(~socket->mode & 0777);
        int r = bind_to(socket);
        umask(saved);
        return r;
}

static int begin_path(const ListeningSocket *socket) {
        int r = make_room(socket);
        return r < 0 ? r : bind_path(socket);
}

/* Until it listens nobody can connect to it, so nobody comes before its owner is set. */
static int prepare(const Listening *listening, const ListeningSocket *socket) {
        bool is_path = socket->address->sa_family == AF_UNIX;
        int r = 0;
        if (listening_is_done(socket->fd))
                return 0;
        if (!is_bound(socket->fd, socket->address->sa_family))
                r = is_path ? begin_path(socket) : bind_to(socket);
        if (r >= 0 && is_path && (listening->uid != (uid_t)-1 || listening->gid != (gid_t)-1))
                r = give_away(socket, listening->uid, listening->gid);
        return r;
}

static int begin(const Listening *listening, const ListeningSocket *socket) {
        (void)listening;
        if (listening_is_done(socket->fd))
                return 0;
        return listen(socket->fd, BACKLOG) < 0 ? -errno : 0;
}

static int with_each(const Listening *listening, int (*act)(const Listening *, const ListeningSocket *),
                     size_t *ret_which) {
        for (size_t i = 0; i < listening->n; i++) {
                int r = act(listening, &listening->sockets[i]);
                if (r < 0) {
                        *ret_which = i;
                        return r;
                }
        }
        return 0;
}

/* A lock of a process and not of a descriptor, which all children would share. It goes with the process, or with exec,
 * where our copies of its file are closed. */
static int lock(const Listening *listening, short how) {
        struct flock range = { .l_type = how, .l_whence = SEEK_SET, .l_start = listening->lock, .l_len = 1 };
        return fcntl(listening->lock_fd, F_SETLKW, &range) < 0 ? -errno : 0;
}

/* None listens before all have their addresses: nobody gets through to a service that is not to start. */
int listening_begin(const Listening *listening, size_t *ret_which) {
        size_t which = 0;
        int r = lock(listening, F_WRLCK);
        if (r >= 0)
                r = with_each(listening, prepare, &which);
        if (r >= 0)
                r = with_each(listening, begin, &which);
        if (r >= 0)
                r = lock(listening, F_UNLCK);
        if (r < 0)
                *ret_which = which;
        return r;
}
