/* dial.c - one connection attempt after another. */
#include "prober/dial.h"
#include "base/take.h"
#include "base/usec.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#define AGAIN_USEC (20 * USEC_PER_MSEC)

struct Dial {
        sd_event *event;
        sd_event_source *source;
        SocketAddress addresses[SOCKET_ADDRESSES_MAX];
        unsigned n, next;
        int fd, first_error;
        DialHandler handler;
        void *userdata;
};

static void hang_up(Dial *dial) {
        dial->source = sd_event_source_disable_unref(dial->source);
        dial->fd = close_fd(dial->fd);
}

static int go_on(Dial *dial);

static void end(Dial *dial, int r) {
        if (r != 0)
                dial->handler(dial->userdata, r < 0 ? -r : 0);
}

static void note_error(Dial *dial, int error) {
        if (dial->first_error == 0)
                dial->first_error = error;
}

static int on_connected(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Dial *dial = userdata;
        int error = 0;
        socklen_t length = sizeof error;

        (void)source, (void)revents;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
                error = errno;
        hang_up(dial);
        if (error == 0) {
                end(dial, DIAL_CONNECTED);
        } else {
                note_error(dial, error);
                end(dial, go_on(dial));
        }
        return 0;
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Dial *dial = userdata;

        (void)source, (void)usec;
        dial->next--;
        end(dial, go_on(dial));
        return 0;
}

/* DIAL_CONNECTED; 0: it is to be heard of; or -errno. */
static int try(Dial *dial, const SocketAddress *address) {
        hang_up(dial);
        dial->fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (dial->fd < 0)
                return -errno;
        int error = connect(dial->fd, &address->any, address->length) < 0 ? errno : 0;
        if (error == 0)
                return DIAL_CONNECTED;
        int r = -error;
        if (error == EINPROGRESS)
                r = sd_event_add_io(dial->event, &dial->source, dial->fd, EPOLLOUT, on_connected, dial);
        else if (error == EAGAIN) /* the queue of a Unix socket is full; nothing tells when it is not */
                r = sd_event_add_time_relative(dial->event, &dial->source, CLOCK_MONOTONIC, AGAIN_USEC, USEC_PER_MSEC,
                                               on_again, dial);
        return r < 0 ? r : 0;
}

/* The next address, and the one after it, until one does not fail at once. */
static int go_on(Dial *dial) {
        while (dial->next < dial->n) {
                int r = try(dial, &dial->addresses[dial->next++]);
                if (r >= 0)
                        return r;
                note_error(dial, -r);
        }
        return -dial->first_error;
}

int dial_begin(Dial **ret, sd_event *event, const SocketAddress *addresses, unsigned n, DialHandler handler,
               void *userdata) {
        Dial *dial = calloc(1, sizeof *dial);
        if (!dial)
                return -ENOMEM;
        *dial = (Dial){ .event = sd_event_ref(event), .n = n, .fd = -1, .handler = handler, .userdata = userdata };
        memcpy(dial->addresses, addresses, n * sizeof *addresses);
        int r = go_on(dial);
        if (r != 0)
                dial_free(dial);
        else
                *ret = dial;
        return r;
}

Dial *dial_free(Dial *dial) {
        if (!dial)
                return NULL;
        hang_up(dial);
        sd_event_unref(dial->event);
        free(dial);
        return NULL;
}
