/* frame.c - see frame.h. */
#include "verify/frame.h"
#include "base/take.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define FRAME_MAX (256u * 1024 * 1024) /* far above the largest trace */

typedef union Control {
        struct cmsghdr header; /* aligns */
        char room[CMSG_SPACE(FRAME_FDS_MAX * sizeof(int))];
} Control;

static int send_all(int socket, const char *bytes, size_t size) {
        while (size > 0) {
                ssize_t n = send(socket, bytes, size, MSG_NOSIGNAL);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                bytes += n;
                size -= (size_t)n;
        }
        return 0;
}

static int send_head(int socket, uint32_t size, const int *fds, size_t n_fds) {
        Control control = { 0 };
        struct iovec bytes = { &size, sizeof size };
        struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };

        if (n_fds > 0) {
                message.msg_control = control.room;
                message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
                struct cmsghdr *header = CMSG_FIRSTHDR(&message);
                header->cmsg_level = SOL_SOCKET;
                header->cmsg_type = SCM_RIGHTS;
                header->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
                memcpy(CMSG_DATA(header), fds, n_fds * sizeof(int));
        }
        return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof size ? 0 : -errno;
}

int frame_send(int socket, const json_t *value, const int *fds, size_t n_fds) {
        _cleanup_(freep) char *text = json_dumps(value, JSON_COMPACT);

        if (!text)
                return -ENOMEM;
        int r = send_head(socket, (uint32_t)strlen(text), fds, n_fds);
        return r < 0 ? r : send_all(socket, text, strlen(text));
}

static int receive_all(int socket, char *bytes, size_t size) {
        while (size > 0) {
                ssize_t n = recv(socket, bytes, size, 0);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n == 0 ? -ECONNRESET : -errno;
                bytes += n;
                size -= (size_t)n;
        }
        return 0;
}

static void take_fds(struct msghdr *message, int *fds, size_t n_fds) {
        for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
                if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
                        continue;
                size_t n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < n; i++) {
                        int fd;
                        memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
                        if (i < n_fds)
                                fds[i] = fd;
                        else
                                close_fd(fd);
                }
        }
}

static int receive_head(int socket, uint32_t *ret_size, int *fds, size_t n_fds) {
        Control control;
        struct iovec bytes = { ret_size, sizeof *ret_size };
        struct msghdr message = {
                .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room
        };
        ssize_t n;

        do
                n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        for (size_t i = 0; i < n_fds; i++)
                fds[i] = -1;
        take_fds(&message, fds, n_fds);
        return n == sizeof *ret_size ? 0 : -ECONNRESET;
}

int frame_receive(int socket, json_t **ret, int *fds, size_t n_fds) {
        uint32_t size;
        int r = receive_head(socket, &size, fds, n_fds);

        if (r < 0)
                return r;
        _cleanup_(freep) char *text = size <= FRAME_MAX ? malloc((size_t)size + 1) : NULL;
        if (!text)
                return size <= FRAME_MAX ? -ENOMEM : -EBADMSG;
        r = receive_all(socket, text, size);
        if (r < 0)
                return r;
        json_t *value = json_loadb(text, size, 0, NULL);
        if (!value)
                return -EBADMSG;
        *ret = value;
        return 0;
}
