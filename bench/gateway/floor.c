/* floor.c - the least that can answer: one thread, epoll, a fixed answer; 503 from SIGTERM on. Not a server: it reads
 * no request further than that there is one.
 *
 * floor PORT: answers on 127.0.0.1 until it is killed. */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD    "HTTP/1.1 "
#define REST    "\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n"
#define EVENTS  64
#define BACKLOG 4096

static int watch(int epoll, int fd) {
        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
        return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_listener(int port) {
        static const int yes = 1;
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_port = htons((in_port_t)port),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
            bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, BACKLOG) < 0)
                return -1;
        return fd;
}

static int open_signals(void) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigprocmask(SIG_BLOCK, &set, NULL);
        return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void answer(int fd, const char *text) {
        char request[4096];
        ssize_t n = recv(fd, request, sizeof request, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
                close(fd);
        else if (n > 3 && memcmp(request + n - 4, "\r\n\r\n", 4) == 0)
                (void)!send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

int main(int argc, char **argv) {
        const char *text = HEAD "200 OK" REST;
        int epoll = epoll_create1(EPOLL_CLOEXEC), listener = open_listener(argc > 1 ? atoi(argv[1]) : 0);
        int signals = open_signals();
        struct epoll_event events[EVENTS];

        if (epoll < 0 || listener < 0 || signals < 0 || watch(epoll, listener) < 0 || watch(epoll, signals) < 0)
                return 1;
        for (;;) {
                int n = epoll_wait(epoll, events, EVENTS, -1);
                for (int i = 0; i < n; i++) {
                        int fd = events[i].data.fd;
                        if (fd == signals)
                                text = HEAD "503 Service Unavailable" REST;
                        if (fd == listener)
                                (void)watch(epoll, accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
                        else if (fd != signals)
                                answer(fd, text);
                }
        }
}
