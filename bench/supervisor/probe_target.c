/* probe_target.c - the least server that can be asked whether it is well: says so to everybody, and counts on the
 * board.
 *
 *   probe_target DESCRIPTOR
 *
 * It is a listening socket's. It runs outside the namespace that is measured. */
#include "board.h"
#include <err.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static int queue;

static void watch(int fd) {
        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
        if (epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event) < 0)
                err(1, "epoll_ctl");
}

/* What is asked does not matter; a request comes in one piece. */
static void answer(Board *board, int fd) {
        static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
        char request[4096];
        if (recv(fd, request, sizeof request, MSG_DONTWAIT) > 0 && send(fd, text, strlen(text), MSG_NOSIGNAL) > 0)
                atomic_fetch_add(&board->checks, 1);
        close(fd);
}

int main(int argc, char **argv) {
        struct epoll_event events[64];
        Board *board = board_open();
        int listening = argc == 2 ? atoi(argv[1]) : -1;
        queue = epoll_create1(EPOLL_CLOEXEC);
        if (!board || queue < 0)
                errx(3, "no board");
        watch(listening);
        for (;;) {
                int n = epoll_wait(queue, events, 64, -1);
                for (int i = 0; i < n; i++) {
                        if (events[i].data.fd != listening) {
                                answer(board, events[i].data.fd);
                                continue;
                        }
                        int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
                        if (client >= 0)
                                watch(client);
                }
        }
}
