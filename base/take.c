/* take.c - ends the ownership of descriptors. */
#include "base/take.h"
#include <errno.h>

int close_fd(int fd) {
        if (fd >= 0) {
                int saved = errno;
                close(fd);
                errno = saved;
        }
        return -1;
}
