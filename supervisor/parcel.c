/* parcel.c - see parcel.h. */
#include "supervisor/parcel.h"
#include "base/take.h"
#include <string.h>

void parcel_close_one(int fd) {
        /* No socket: it says so, and nothing lingers. One that others hold too loses no byte by this: only the last
         * close waits or does not. */
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 0 }, sizeof(struct linger));
        close_fd(fd);
}

void parcel_close_some(const int *fds, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (fds[i] >= 0)
                        parcel_close_one(fds[i]);
}

size_t parcel_descriptors(struct msghdr *message, int ret_fds[static PARCEL_DESCRIPTORS_MAX]) {
        size_t n = 0;
        for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
                if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
                        continue;
                size_t here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                memcpy(ret_fds + n, CMSG_DATA(header), here * sizeof(int));
                n += here;
        }
        return n;
}

void parcel_close(struct msghdr *message) {
        int fds[PARCEL_DESCRIPTORS_MAX];
        parcel_close_some(fds, parcel_descriptors(message, fds));
}
