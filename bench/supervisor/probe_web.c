/* probe_web.c - the least server: answers "ok" on a socket that was passed to it, or on one of its own. */
#include "member.h"
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PASSED 3

/* The port of a place is $BENCH_PORT and its number. */
static int open_own(const Board *board, const BoardPlace *place) {
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        const char *first = getenv("BENCH_PORT");
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        address.sin_port = htons((uint16_t)(atoi(first ? first : "0") + (int)(place - board->places)));
        if (!first || fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) < 0 ||
            bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, SOMAXCONN) < 0) {
                perror("probe_web");
                _exit(3);
        }
        return fd;
}

int main(int argc, char **argv) {
        Board *board = member_begin(argc, argv);
        int fd = getenv("LISTEN_FDS") ? PASSED : open_own(board, member_place());
        for (;;) {
                int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
                if (client < 0)
                        continue;
                (void)!write(client, "ok", 2);
                close(client);
        }
}
