/* echo.c - see echo.h. */
#include "worker/echo.h"
#include "base/take.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

Echo echo_open(void) {
        struct stat info;
        if (fstat(STDERR_FILENO, &info) < 0)
                return (Echo){ .fd = -1 };
        if (S_ISREG(info.st_mode) || S_ISSOCK(info.st_mode))
                return (Echo){ .fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), .socket = S_ISSOCK(info.st_mode) };
        return (Echo){ .fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) };
}

void echo_done(Echo *echo) {
        echo->fd = close_fd(echo->fd);
}

void echo_pass(const Echo *echo, const char *bytes, size_t length) {
        if (echo->fd < 0 || length == 0)
                return;
        ssize_t n = echo->socket ? send(echo->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL)
                                 : write(echo->fd, bytes, length);
        (void)n;
}
