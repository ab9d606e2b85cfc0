/* target.c - gets bytes out without ever waiting, whatever the descriptor is. */
#include "logger/target.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define POLLED_BYTES_MAX 64 /* a terminal that polls as writable has room for that much */

void target_done(Target *target) {
        close_fd(target->fd);
        close_fd(target->pipe_read);
        close_fd(target->pipe_write);
        log_file_release(target->log);
        *target = TARGET_NOWHERE;
}

static int open_own(int fd) {
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

static TargetWay make_splice(Target *target) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
                return TARGET_POLLED; /* out of descriptors: may wait for a moment, loses nothing */
        target->pipe_read = ends[0];
        target->pipe_write = ends[1];
        return TARGET_SPLICE;
}

static TargetWay choose_way(Target *target, mode_t mode) {
        target->can_poll = !S_ISREG(mode);
        if (S_ISREG(mode))
                return TARGET_PLAIN; /* a description of our own would write over what others write */
        if (S_ISSOCK(mode))
                return TARGET_SOCKET;
        int own = open_own(target->fd);
        if (own >= 0) {
                close_fd(target->fd);
                target->fd = own;
                return TARGET_PLAIN;
        }
        return S_ISFIFO(mode) ? make_splice(target) : TARGET_POLLED;
}

void target_from_fd(Target *ret, int fd) {
        struct stat st;

        *ret = TARGET_NOWHERE;
        if (fstat(fd, &st) < 0)
                return;
        ret->fd = fd;
        ret->way = choose_way(ret, st.st_mode);
}

int target_open(Target *ret, const char *path, bool truncate) {
        struct stat st;
        /* O_NONBLOCK: a FIFO without a reader is an error that can be retried, not a wait. */
        int fd =
                open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (truncate ? O_TRUNC : 0),
                     0666);
        if (fd < 0)
                return -errno;
        *ret = TARGET_NOWHERE;
        ret->fd = fd;
        ret->way = TARGET_PLAIN;
        ret->can_poll = fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
        return 0;
}

void target_from_log(Target *ret, LogFile *log) {
        *ret = TARGET_NOWHERE;
        ret->way = TARGET_LOG;
        ret->log = log;
}

bool target_is_terminal(const Target *target) {
        return target->fd >= 0 && isatty(target->fd);
}

/* What a pipe takes whole or not at all, cut after its last line if there is one. */
static size_t atomic_length(const char *bytes, size_t length) {
        if (length <= PIPE_BUF)
                return length;
        const char *newline = memrchr(bytes, '\n', PIPE_BUF);
        return newline ? (size_t)(newline - bytes) + 1 : PIPE_BUF;
}

static ssize_t write_once(int fd, const char *bytes, size_t length) {
        ssize_t n;
        do
                n = write(fd, bytes, length);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

static ssize_t send_once(int fd, const char *bytes, size_t length) {
        ssize_t n;
        do
                n = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

static ssize_t write_polled(int fd, const char *bytes, size_t length) {
        struct pollfd ready = { .fd = fd, .events = POLLOUT };

        if (poll(&ready, 1, 0) <= 0)
                return -EAGAIN;
        return write_once(fd, bytes, length < POLLED_BYTES_MAX ? length : POLLED_BYTES_MAX);
}

static void empty_private_pipe(Target *target) {
        char scrap[PIPE_BUF];
        while (read(target->pipe_read, scrap, sizeof scrap) > 0)
                continue;
        target->staged = 0;
}

int target_flush(Target *target) {
        while (target->staged > 0) {
                ssize_t n = splice(target->pipe_read, NULL, target->fd, NULL, target->staged, SPLICE_F_NONBLOCK);
                if (n > 0) {
                        target->staged -= (size_t)n;
                        continue;
                }
                if (n < 0 && errno == EINTR)
                        continue;
                int r = n < 0 ? -errno : -EIO;
                if (r != -EAGAIN)
                        empty_private_pipe(target);
                return r;
        }
        return 0;
}

static ssize_t write_splice(Target *target, const char *bytes, size_t length) {
        int r = target_flush(target);
        if (r < 0)
                return r;
        ssize_t n = write_once(target->pipe_write, bytes, length);
        if (n < 0)
                return n;
        target->staged = (size_t)n;
        r = target_flush(target);
        return r < 0 && r != -EAGAIN ? r : n; /* on its way counts as taken: it is flushed before anything else */
}

static ssize_t write_log(LogFile *log, const char *bytes, size_t length) {
        int error;
        size_t n = log_file_append(log, bytes, length, &error);
        return n > 0 ? (ssize_t)n : error;
}

ssize_t target_write(Target *target, const char *bytes, size_t length) {
        size_t piece = target->can_poll ? atomic_length(bytes, length) : length;

        switch (target->way) {
        case TARGET_NULL: break;
        case TARGET_PLAIN: return write_once(target->fd, bytes, piece);
        case TARGET_SOCKET: return send_once(target->fd, bytes, piece);
        case TARGET_SPLICE: return write_splice(target, bytes, piece);
        case TARGET_LOG: return write_log(target->log, bytes, length);
        case TARGET_POLLED: return write_polled(target->fd, bytes, piece);
        }
        return (ssize_t)length;
}
