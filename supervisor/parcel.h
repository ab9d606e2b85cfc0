/* parcel.h - closes the descriptors that came along with a message, so that the closing does not block.
 *
 * The last reference to a stranger's socket with SO_LINGER may be ours, and close(2) then waits for its peer, for as
 * long as the stranger has said. So lingering is switched off first. Whoever reads from a socket of other processes
 * takes what came with it, even where nothing is expected: what is not received is closed by the kernel, in our name,
 * with the same wait. Never asks what kind of file it is: that may block, too. A file on a dead network is not helped
 * by this. */
#pragma once
#include <stddef.h>
#include <sys/socket.h>

#define PARCEL_DESCRIPTORS_MAX 253 /* the kernel lets no more travel with one message: SCM_MAX_FD */

/* Room for msg_control: the sender's credentials and all the descriptors there can be. */
typedef union Parcel {
        struct cmsghdr alignment;
        char space[CMSG_SPACE(3 * sizeof(int)) + CMSG_SPACE(PARCEL_DESCRIPTORS_MAX * sizeof(int))];
} Parcel;

/* The descriptors that came with a message; how many. They are the caller's then. */
size_t parcel_descriptors(struct msghdr *message, int ret_fds[static PARCEL_DESCRIPTORS_MAX]);

/* Close: one; those that are not -1; all of a message. */
void parcel_close_one(int fd);
void parcel_close_some(const int *fds, size_t n);
void parcel_close(struct msghdr *message);
