/* termination.c - leaves one line where the container's platform looks for the reason of an end. */
#include "supervisor/termination.h"
#include "base/take.h"
#include "base/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLATFORM_PATH "/dev/termination-log"

/* O_NONBLOCK: a FIFO without a reader is an error at once, and a full one at the write. */
static int open_message(const char *path) {
        int flags = O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
        int fd = path ? open(path, flags | O_CREAT, 0644) : open(PLATFORM_PATH, flags);

        return fd < 0 ? -errno : fd;
}

int termination_write(const char *path, int code, const char *explanation) {
        char message[TERMINATION_MESSAGE_MAX + 1];
        _cleanup_(closep) int fd = open_message(path);

        if (fd == -ENOENT && !path)
                return 0;
        if (fd < 0)
                return fd;
        snprintf(message, sizeof message, "exit %d: %s", code, explanation);
        size_t length = utf8_cut(message, strlen(message), TERMINATION_MESSAGE_MAX - 1);
        utf8_clean(message, length);
        message[length++] = '\n';
        ssize_t n = write(fd, message, length);
        if (n < 0)
                return -errno;
        return (size_t)n < length ? -ENOSPC : 0;
}
