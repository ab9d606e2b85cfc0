/* parcel.c - see parcel.h. */
#include "supervisor/parcel.h"
#include "base/take.h"
#include <string.h>

static void close_at_once(int fd) {
        /* No socket: it says so, and nothing lingers. One that others hold too loses no byte by this: only the last
         * close waits or does not. */
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 0 }, sizeof(struct linger));
        close_fd(fd);
}

static void close_descriptors(const struct cmsghdr *header) {
        const unsigned char *data = CMSG_DATA(header);
        for (size_t left = header->cmsg_len - CMSG_LEN(0); left >= sizeof(int); left -= sizeof(int)) {
                int fd;
                memcpy(&fd, data, sizeof fd);
                close_at_once(fd);
                data += sizeof fd;
        }
}

void parcel_close(struct msghdr *message) {
        for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header))
                if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
                        close_descriptors(header);
}
