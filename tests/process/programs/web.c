/* web.c - a small HTTP server that is given its sockets, and ends as a server should that is held by its supervisor.
 *
 * `web [--delay-ms N] [--last]`: every request on each socket of $LISTEN_FDS is answered with "ok", after a delay. At
 * SIGTERM it accepts what is queued, until there is nothing, and closes its sockets at once; then it finishes what is
 * in hand, tells every client that this was the last answer, and exits with 0. With --last it knows that nobody comes
 * after it, and lets nobody in while it looks. What it did is in $ACTOR_LOG. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actor.h"

#define FIRST       3
#define FDS_MAX     4096
#define IDLE_USEC   300000 /* a client that said nothing for so long says nothing more */
#define HALF_WAY_MS 20
#define ROOM        2048
#define EVENTS_MAX  64

typedef struct Client {
        bool there, asked, last; /* asked: its request is whole and is answered at `due` */
        size_t length;
        uint64_t due, since; /* since: of the last answer, or its arrival */
        char text[ROOM];
} Client;

static Client *clients; /* by descriptor */
static int epoll_fd, n_sockets, n_clients, highest;
static uint64_t delay_usec;
static bool draining, last;
static unsigned long accepted, asked, answered, left;

static void watch(int fd) {
        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
                actor_die("watching");
}

static void drop(int fd) {
        clients[fd].there = false;
        n_clients--;
        close(fd);
}

/* Once: from now on there is enough to do that an ending would find something. */
static void say_busy(void) {
        if (answered == 50)
                actor_log("busy", "%s", "");
}

static void answer(int fd) {
        Client *client = &clients[fd];
        char text[160];
        bool closes = client->last || draining;
        int n = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: %s\r\n\r\nok\n",
                         closes ? "close" : "keep-alive");
        client->asked = false;
        client->length = 0;
        client->since = actor_now_usec();
        if (send(fd, text, (size_t)n, MSG_NOSIGNAL) == n)
                answered++;
        else
                left++; /* it did not wait for its answer */
        say_busy();
        if (closes)
                drop(fd);
}

static void take_request(int fd) {
        Client *client = &clients[fd];
        client->text[client->length] = '\0';
        if (!strstr(client->text, "\r\n\r\n"))
                return;
        asked++;
        client->asked = true;
        client->last = strcasestr(client->text, "\r\nconnection: close") != NULL;
        client->due = actor_now_usec() + delay_usec;
        if (delay_usec == 0)
                answer(fd);
}

static void hear(int fd) {
        Client *client = &clients[fd];
        ssize_t n = recv(fd, client->text + client->length, ROOM - 1 - client->length, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
                return;
        if (n > 0) {
                client->length += (size_t)n;
                take_request(fd);
                return;
        }
        left += client->asked;
        drop(fd);
}

/* False: nobody is queued. */
static bool take_client(int socket) {
        int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED)
                actor_die("accepting");
        if (fd < 0)
                return errno == ECONNABORTED;
        if (fd >= FDS_MAX)
                actor_die("too many clients");
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)); /* a Unix socket has none */
        accepted++;
        n_clients++;
        clients[fd] = (Client){ .there = true, .since = actor_now_usec() };
        highest = fd > highest ? fd : highest;
        watch(fd);
        hear(fd);
        return true;
}

/* The first packet of a new client (SYN alone) is passed over; who has come half-way comes in. It must not be done
 * where another run comes, which has the same socket. */
static void shut_the_door(int socket) {
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13), /* the flags */
                BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TH_SYN | TH_ACK),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TH_SYN, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, 0),
                BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        };
        struct sock_fprog program = { .len = sizeof filter / sizeof *filter, .filter = filter };
        if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0)
                actor_die("shutting the door");
}

/* Whether one of those has come by now. */
static bool somebody_was_half_way(int socket) {
        struct pollfd door = { .fd = socket, .events = POLLIN };
        return poll(&door, 1, HALF_WAY_MS) > 0;
}

/* Between the last look into the queue and the close lies as little as can be: who comes there the kernel turns away,
 * though he was let in. */
static void drain(void) {
        words_send(NULL, "STOPPING=1", -1);
        draining = true;
        for (int fd = FIRST; fd < FIRST + n_sockets; fd++) {
                if (last)
                        shut_the_door(fd);
                do
                        while (take_client(fd))
                                ;
                while (last && somebody_was_half_way(fd));
                close(fd);
        }
}

/* Answers what is due and lets go who is idle; how long until there is more of that, in milliseconds. */
static int look_after_clients(void) {
        uint64_t now = actor_now_usec(), next = UINT64_MAX;
        for (int fd = 0; fd <= highest; fd++) {
                Client *client = &clients[fd];
                if (!client->there || (!client->asked && !draining))
                        continue;
                uint64_t due = client->asked ? client->due : client->since + IDLE_USEC;
                if (due > now)
                        next = due < next ? due : next;
                else if (client->asked)
                        answer(fd);
                else
                        drop(fd);
        }
        return next == UINT64_MAX ? -1 : (int)((next - now) / 1000 + 1);
}

static void serve(int signals) {
        struct epoll_event events[EVENTS_MAX];
        for (;;) {
                int most_ms = look_after_clients();
                if (draining && n_clients == 0)
                        return;
                int n = epoll_wait(epoll_fd, events, EVENTS_MAX, most_ms);
                for (int i = 0; i < n; i++) {
                        int fd = events[i].data.fd;
                        if (fd == signals) {
                                struct signalfd_siginfo info;
                                if (read(signals, &info, sizeof info) == sizeof info && !draining)
                                        drain();
                        } else if (fd < FIRST + n_sockets && fd >= FIRST)
                                (void)(draining || take_client(fd));
                        else if (clients[fd].there && !clients[fd].asked)
                                hear(fd);
                        else if (clients[fd].there && events[i].events & (EPOLLHUP | EPOLLERR))
                                hear(fd);
                }
        }
}

static void take_sockets(void) {
        const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
        if (!pid || !count || actor_number(pid) != getpid())
                actor_die("no sockets were passed");
        n_sockets = (int)actor_number(count);
        for (int fd = FIRST; fd < FIRST + n_sockets; fd++) {
                if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
                        actor_die("a socket that was passed");
                watch(fd);
        }
}

int main(int argc, char **argv) {
        sigset_t set;
        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--last") == 0)
                        last = true;
                else if (strcmp(argv[i], "--delay-ms") == 0)
                        delay_usec = (uint64_t)actor_number(argv[++i]) * 1000;
        actor_log_open();
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigprocmask(SIG_BLOCK, &set, NULL);
        clients = calloc(FDS_MAX, sizeof *clients);
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        int signals = signalfd(-1, &set, SFD_CLOEXEC);
        if (!clients || epoll_fd < 0 || signals < 0)
                actor_die("beginning");
        take_sockets();
        watch(signals);
        words_send(NULL, "READY=1", -1);
        serve(signals);
        actor_log("served", ",\"accepted\":%lu,\"asked\":%lu,\"answered\":%lu,\"left\":%lu", accepted, asked, answered,
                  left);
        return 0;
}
