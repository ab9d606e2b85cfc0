/* relay.c - see relay.h. */
#include "verify/relay.h"
#include "base/take.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define PIECE      32768
#define EVENTS_MAX 32

typedef struct Way { /* one direction of a connection */
        char bytes[PIECE];
        size_t begin, end;
        bool over; /* nothing more will come from there */
} Way;

typedef struct Pair {
        struct Pair *next;
        int fds[2]; /* the world's end, the server's end */
        Way ways[2];
} Pair;

struct Relay {
        int listener, epoll;
        SocketAddress address;
        Pair *pairs;
};

static void free_pair(Pair *pair) {
        close_fd(pair->fds[0]);
        close_fd(pair->fds[1]);
        free(pair);
}

int relay_new(Relay **ret, int listener, const SocketAddress *address) {
        Relay *relay = calloc(1, sizeof *relay);
        struct epoll_event event = { .events = EPOLLIN };

        if (!relay) {
                close_fd(listener);
                return -ENOMEM;
        }
        *relay = (Relay){ .listener = listener, .epoll = epoll_create1(EPOLL_CLOEXEC), .address = *address };
        if (relay->epoll < 0 || epoll_ctl(relay->epoll, EPOLL_CTL_ADD, listener, &event) < 0) {
                int r = -errno;
                relay_free(relay);
                return r;
        }
        *ret = relay;
        return 0;
}

Relay *relay_free(Relay *relay) {
        if (!relay)
                return NULL;
        for (Pair *pair = relay->pairs, *next; pair; pair = next) {
                next = pair->next;
                free_pair(pair);
        }
        close_fd(relay->listener);
        close_fd(relay->epoll);
        free(relay);
        return NULL;
}

int relay_descriptor(const Relay *relay) {
        return relay->epoll;
}

/* The server is on this machine or near: the connection stands or is refused soon, and the world waits for it. */
static int connect_to(const SocketAddress *address) {
        _cleanup_(closep) int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || (connect(fd, &address->any, address->length) < 0 && errno != EINPROGRESS))
                return -errno;
        return TAKE_FD(fd);
}

static void take_in(Relay *relay) {
        int from = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        int to = from < 0 ? -1 : connect_to(&relay->address);
        Pair *pair = to < 0 ? NULL : calloc(1, sizeof *pair);

        if (!pair) {
                close_fd(from);
                close_fd(to);
                return;
        }
        *pair = (Pair){ .next = relay->pairs, .fds = { from, to } };
        relay->pairs = pair;
        struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = pair };
        (void)epoll_ctl(relay->epoll, EPOLL_CTL_ADD, from, &event);
        (void)epoll_ctl(relay->epoll, EPOLL_CTL_ADD, to, &event);
}

/* As far as both sides go now. False: this direction is broken. */
static bool move(Way *way, int from, int to) {
        for (;;) {
                if (way->begin == way->end && !way->over) {
                        ssize_t n = recv(from, way->bytes, PIECE, 0);
                        if (n < 0)
                                return errno == EAGAIN || errno == EINTR;
                        way->begin = 0;
                        way->end = (size_t)n;
                        if (n == 0) {
                                way->over = true;
                                (void)shutdown(to, SHUT_WR);
                        }
                }
                if (way->begin == way->end)
                        return true;
                ssize_t n = send(to, way->bytes + way->begin, way->end - way->begin, MSG_NOSIGNAL);
                if (n < 0)
                        return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
                way->begin += (size_t)n;
        }
}

static bool is_done(Pair *pair) {
        bool good =
                move(&pair->ways[0], pair->fds[0], pair->fds[1]) && move(&pair->ways[1], pair->fds[1], pair->fds[0]);

        return !good || (pair->ways[0].over && pair->ways[1].over);
}

void relay_serve(Relay *relay) {
        struct epoll_event events[EVENTS_MAX];
        int n = epoll_wait(relay->epoll, events, EVENTS_MAX, 0);

        for (int i = 0; i < n; i++)
                if (!events[i].data.ptr)
                        take_in(relay);
        if (n <= 0)
                return;
        /* Few connections: all of them are looked at, whichever woke us. */
        for (Pair **at = &relay->pairs; *at;) {
                Pair *pair = *at;
                if (!is_done(pair)) {
                        at = &pair->next;
                        continue;
                }
                *at = pair->next;
                free_pair(pair);
        }
}
