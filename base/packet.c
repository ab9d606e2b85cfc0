/* packet.c - builds, sends, receives and reads messages of words and descriptors. */
#include "base/packet.h"
#include "base/take.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

typedef union Control {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(int) * PACKET_FDS_MAX)];
} Control;

bool packet_is_socket(int fd) {
        int type;
        socklen_t length = sizeof type;
        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET;
}

void packet_init(Packet *packet, char *buffer, size_t size) {
        *packet = (Packet){ .text = buffer, .size = size };
}

static void append(Packet *packet, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(Packet *packet, const char *format, ...) {
        size_t room = packet->size - packet->length;
        va_list ap;

        va_start(ap, format);
        int n = vsnprintf(packet->text + packet->length, room, format, ap);
        va_end(ap);
        if (n < 0 || (size_t)n >= room)
                packet->overflowed = true;
        else
                packet->length += (size_t)n;
}

void packet_add(Packet *packet, const char *key, const char *value) {
        append(packet, "%s=%s\n", key, value);
}

void packet_add_unsigned(Packet *packet, const char *key, uint64_t value) {
        append(packet, "%s=%" PRIu64 "\n", key, value);
}

void packet_add_fd(Packet *packet, int fd) {
        if (packet->n_fds == PACKET_FDS_MAX)
                packet->overflowed = true;
        else
                packet->fds[packet->n_fds++] = fd;
}

void packet_set_body(Packet *packet, const char *body) {
        packet->body = body;
}

static void attach_fds(struct msghdr *message, Control *control, const Packet *packet) {
        size_t bytes = sizeof(int) * packet->n_fds;

        memset(control, 0, sizeof *control);
        message->msg_control = control;
        message->msg_controllen = CMSG_SPACE(bytes);
        struct cmsghdr *header = CMSG_FIRSTHDR(message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(bytes);
        memcpy(CMSG_DATA(header), packet->fds, bytes);
}

int packet_send(int socket, const Packet *packet) {
        struct iovec parts[3] = { { packet->text, packet->length } };
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = 1 };
        Control control;
        ssize_t n;

        if (packet->overflowed)
                return -EMSGSIZE;
        if (packet->body) {
                parts[1] = (struct iovec){ (char *)"\n", 1 };
                parts[2] = (struct iovec){ (char *)packet->body, strlen(packet->body) };
                message.msg_iovlen = 3;
        }
        if (packet->n_fds > 0)
                attach_fds(&message, &control, packet);
        do
                n = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : 0; /* a message goes whole or not at all */
}

static void keep_fds(struct msghdr *message, Packet *packet) {
        for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
                if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
                        continue;
                size_t n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                const int *fds = (const int *)(const void *)CMSG_DATA(header);
                for (size_t i = 0; i < n; i++) {
                        if (packet->n_fds < PACKET_FDS_MAX)
                                packet->fds[packet->n_fds++] = fds[i];
                        else
                                close_fd(fds[i]);
                }
        }
}

/* Ends each line of the head with NUL and finds the body. */
static void split_lines(Packet *packet) {
        char *line = packet->text, *end = packet->text + packet->length;

        *end = '\0';
        while (line < end) {
                if (*line == '\n') {
                        packet->body = line + 1;
                        packet->length = (size_t)(line - packet->text);
                        return;
                }
                char *newline = memchr(line, '\n', (size_t)(end - line));
                if (!newline)
                        return;
                *newline = '\0';
                line = newline + 1;
        }
}

int packet_receive(int socket, Packet *ret) {
        struct iovec part = { ret->text, ret->size - 1 };
        Control control;
        struct msghdr message = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };
        ssize_t n;

        packet_init(ret, ret->text, ret->size);
        do
                n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == ECONNRESET ? 0 : -errno; /* closed with something of ours unread */
        if (n == 0)
                return 0;
        keep_fds(&message, ret);
        ret->length = (size_t)n;
        split_lines(ret);
        if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
                return PACKET_RECEIVED;
        packet_done(ret);
        return message.msg_flags & MSG_TRUNC ? -EMSGSIZE : -EBADMSG;
}

void packet_done(Packet *packet) {
        for (unsigned i = 0; i < packet->n_fds; i++)
                packet->fds[i] = close_fd(packet->fds[i]);
        packet->n_fds = 0;
}

const char *packet_get(const Packet *packet, const char *key) {
        const char *end = packet->text + packet->length;
        size_t length = strlen(key);

        for (const char *line = packet->text; line < end; line += strlen(line) + 1)
                if (strncmp(line, key, length) == 0 && line[length] == '=')
                        return line + length + 1;
        return NULL;
}

int packet_get_unsigned(const Packet *packet, const char *key, uint64_t *ret) {
        const char *text = packet_get(packet, key);
        char *end;

        if (!text)
                return -ENOENT;
        if (*text < '0' || *text > '9') /* strtoull would take blanks and signs */
                return -EINVAL;
        errno = 0;
        unsigned long long value = strtoull(text, &end, 10);
        if (errno != 0)
                return -errno;
        if (*end != '\0')
                return -EINVAL;
        *ret = value;
        return 0;
}

int packet_take_fd(Packet *packet) {
        for (unsigned i = 0; i < packet->n_fds; i++)
                if (packet->fds[i] >= 0)
                        return TAKE_FD(packet->fds[i]);
        return -1;
}
