/* actor_words.c - speaks the sd_notify protocol by hand, as sd_notify(3) describes it, with no library between. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "actor.h"

static int words_socket(const char *path, struct sockaddr_un *ret_address, socklen_t *ret_length) {
        if (!path)
                path = getenv("NOTIFY_SOCKET");
        if (!path || strlen(path) >= sizeof ret_address->sun_path)
                return -ENOENT;
        *ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
        memcpy(ret_address->sun_path, path, strlen(path));
        *ret_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + (path[0] != '@'));
        if (path[0] == '@')
                ret_address->sun_path[0] = '\0';
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        return fd < 0 ? -errno : fd;
}

static int send_message(int socket_fd, const struct sockaddr_un *address, socklen_t length, const char *text, int fd) {
        union {
                struct cmsghdr header;
                char room[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        struct iovec part = { .iov_base = (void *)text, .iov_len = strlen(text) };
        struct msghdr message = {
                .msg_name = (void *)address, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1
        };
        if (fd >= 0) {
                message.msg_control = control.room;
                message.msg_controllen = sizeof control.room;
                control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
                                                   .cmsg_level = SOL_SOCKET,
                                                   .cmsg_type = SCM_RIGHTS };
                memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
        }
        return sendmsg(socket_fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int words_send(const char *path, const char *text, int fd) {
        struct sockaddr_un address;
        socklen_t length;
        int socket_fd = words_socket(path, &address, &length);
        if (socket_fd < 0)
                return socket_fd;
        int answer = send_message(socket_fd, &address, length, text, fd);
        close(socket_fd);
        return answer;
}

static const char *read_path(const char *file) {
        static char path[256];
        ssize_t n = -1;
        int fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
                n = read(fd, path, sizeof path - 1);
        if (n <= 0)
                actor_die(file);
        close(fd);
        path[n] = '\0';
        return path;
}

/* notify [--to FILE] WORD…: one datagram, a word a line; PID in a word becomes this process's pid. */
void step_notify(char **words) {
        const char *path = NULL;
        char text[4096] = "";
        size_t at = 0;
        if (*words && strcmp(*words, "--to") == 0) {
                path = read_path(words[1]);
                words += 2;
        }
        for (; *words && at < sizeof text; words++) {
                const char *end = strstr(*words, "=PID");
                if (end)
                        at += (size_t)snprintf(text + at, sizeof text - at, "%.*s=%d\n", (int)(end - *words), *words,
                                               (int)getpid());
                else
                        at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", *words);
        }
        actor_log("notified", ",\"answer\":%d", words_send(path, text, -1));
}

/* barrier: returns when the supervisor has handled everything that was sent before (it closes the descriptor). */
void step_barrier(char **words) {
        int ends[2];
        (void)words;
        if (pipe2(ends, O_CLOEXEC) < 0)
                actor_die("pipe");
        int answer = words_send(NULL, "BARRIER=1", ends[1]);
        close(ends[1]);
        struct pollfd hangup = { .fd = ends[0], .events = 0 };
        int seen = answer == 0 ? poll(&hangup, 1, 10000) : -1;
        close(ends[0]);
        actor_log("barrier", ",\"answer\":%d,\"passed\":%s", answer, seen == 1 ? "true" : "false");
}

/* flood: STATUS= as fast as the socket takes it, for ever. SIGTERM ends it by its default action. */
void step_flood(char **words) {
        struct sockaddr_un address;
        socklen_t length;
        char text[64];
        (void)words;
        int fd = words_socket(NULL, &address, &length);
        if (fd < 0)
                actor_die("NOTIFY_SOCKET");
        actor_log("serving", "%s", "");
        for (unsigned long i = 0;; i++) {
                snprintf(text, sizeof text, "STATUS=%lu", i);
                (void)send_message(fd, &address, length, text, -1);
        }
}
