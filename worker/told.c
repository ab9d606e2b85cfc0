/* told.c - see told.h. */
#include "worker/told.h"
#include "base/take.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#define TEXT_MAX   8192
#define FDS_MAX    253 /* of one datagram: unix(7) */
#define BYTES_MAX  16
#define FLOOD_USEC (100 * USEC_PER_MSEC)
#define FLOOD_MAX  500

struct Told {
        sd_event_source *source;
        ToldTake take;
        void *userdata;
        int fd;
        char address[64];
};

typedef union Control {
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int) * FDS_MAX)];
        struct cmsghdr aligned;
} Control;

/* Closes what came along: the barrier of sd_notify_barrier(3) is over when its descriptor is. */
static uid_t read_control(struct msghdr *message) {
        uid_t sender = (uid_t)-1;
        for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
                if (header->cmsg_level != SOL_SOCKET)
                        continue;
                if (header->cmsg_type == SCM_CREDENTIALS) {
                        struct ucred credentials;
                        memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
                        sender = credentials.uid;
                } else if (header->cmsg_type == SCM_RIGHTS) {
                        const int *fds = (const int *)(const void *)CMSG_DATA(header);
                        for (size_t i = 0; i < (header->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
                                close_fd(fds[i]);
                }
        }
        return sender;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        static char text[TEXT_MAX];
        static Control control;
        const Told *told = userdata;
        struct iovec part = { text, sizeof text };
        struct msghdr message = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };
        NotifyWords words;
        (void)source, (void)revents;

        ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n < 0)
                return 0;
        uid_t sender = read_control(&message);
        if (n == 0 || (sender != getuid() && sender != 0))
                return 0;
        notify_words_parse(text, (size_t)n, &words);
        told->take(told->userdata, &words);
        return 0;
}

static int open_socket(Told *told) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        unsigned char chance[BYTES_MAX];
        const int on = 1;

        if (getrandom(chance, sizeof chance, 0) != sizeof chance)
                return -EIO;
        size_t n = (size_t)sprintf(told->address, "@endwell-worker/");
        for (size_t i = 0; i < sizeof chance; i++)
                n += (size_t)sprintf(told->address + n, "%02x", chance[i]);
        memcpy(address.sun_path + 1, told->address + 1, n - 1);
        told->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (told->fd < 0)
                return -errno;
        if (setsockopt(told->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
            bind(told->fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
                return -errno;
        return 0;
}

int told_new(Told **ret, sd_event *event, ToldTake take, void *userdata) {
        Told *told = calloc(1, sizeof *told);
        if (!told)
                return -ENOMEM;
        *told = (Told){ .take = take, .userdata = userdata, .fd = -1 };
        int r = open_socket(told);
        if (r >= 0)
                r = sd_event_add_io(event, &told->source, told->fd, EPOLLIN, on_readable, told);
        if (r >= 0)
                r = sd_event_source_set_ratelimit(told->source, FLOOD_USEC, FLOOD_MAX);
        if (r < 0) {
                told_free(told);
                return r;
        }
        *ret = told;
        return 0;
}

Told *told_free(Told *told) {
        if (!told)
                return NULL;
        told->source = sd_event_source_disable_unref(told->source);
        close_fd(told->fd);
        free(told);
        return NULL;
}

const char *told_address(const Told *told) {
        return told->address;
}
