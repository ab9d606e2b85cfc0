/* wire.c - see wire.h. */
#include "gateway/wire.h"
#include "base/clock.h"
#include "base/socket_address.h"
#include "base/take.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define BUFFER_FIRST    (64 * 1024)
#define BUFFER_MOST     (4 * 1024 * 1024) /* an answer is at most 1 MiB long */
#define TURN_MAX        (256 * 1024)      /* read before others have their turn */
#define RETRY_USEC      (50 * USEC_PER_MSEC)
#define RETRY_MOST_USEC (2 * USEC_PER_SEC)

struct Wire {
        sd_event *event;
        WirePlan plan;
        SocketAddress address;
        int fd;
        sd_event_source *source, *timer;
        unsigned failures; /* in a row, until it answers */
        usec_t heard_usec;
        char *in;
        size_t size, length;
};

static void set_timer(Wire *wire, usec_t span) {
        (void)sd_event_source_set_time_relative(wire->timer, span);
        (void)sd_event_source_set_enabled(wire->timer, SD_EVENT_ONESHOT);
}

static void take_down(Wire *wire) {
        wire->source = sd_event_source_disable_unref(wire->source);
        wire->fd = close_fd(wire->fd);
        wire->length = 0;
}

static void lose(Wire *wire, int error) {
        unsigned doublings = wire->failures < 6 ? wire->failures : 6;

        take_down(wire);
        wire->failures++;
        set_timer(wire, usec_min(RETRY_USEC << doublings, RETRY_MOST_USEC));
        wire->plan.on_lost(wire->plan.userdata, error);
}

/* All or nothing: what does not fit into a socket's buffer at once meets somebody who has not read for long. */
static int say(Wire *wire, const char *line) {
        ssize_t sent = send(wire->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0)
                return -errno;
        return (size_t)sent == strlen(line) ? 0 : -EMSGSIZE;
}

int wire_ask_status(Wire *wire) {
        int r = wire->fd < 0 ? -ENOTCONN : say(wire, "{\"method\":\"status\"}\n");
        if (r >= 0)
                set_timer(wire, WIRE_SILENCE_USEC);
        return r;
}

void wire_acknowledge(Wire *wire) {
        if (wire->fd >= 0)
                (void)say(wire, "{\"method\":\"report\",\"params\":{\"event\":\"readiness_acknowledged\"}}\n");
}

usec_t wire_heard_usec(const Wire *wire) {
        return wire->heard_usec;
}

/* ---- In ---- */

static void on_line(Wire *wire, const char *line, size_t length) {
        Tidings tidings;

        if (tidings_read(line, length, &tidings) < 0)
                return; /* of a version that we do not know */
        if (tidings.kind != TIDINGS_EVENT && tidings.kind != TIDINGS_ANSWER)
                (void)sd_event_source_set_enabled(wire->timer, SD_EVENT_OFF);
        if (tidings.kind == TIDINGS_SUBSCRIBED)
                wire->failures = 0;
        wire->plan.on_tidings(wire->plan.userdata, &tidings, line, length);
        if (tidings.kind == TIDINGS_STATUS)
                snapshot_free(tidings.status);
}

static void take_lines(Wire *wire, size_t from) {
        size_t done = 0;
        char *newline;

        while ((newline = memchr(wire->in + from, '\n', wire->length - from))) {
                size_t end = (size_t)(newline - wire->in);
                on_line(wire, wire->in + done, end - done);
                done = from = end + 1;
        }
        wire->length -= done;
        memmove(wire->in, wire->in + done, wire->length);
}

static int make_room(Wire *wire) {
        if (wire->length < wire->size)
                return 0;
        size_t size = wire->size ? wire->size * 2 : BUFFER_FIRST;
        char *in = size > BUFFER_MOST ? NULL : realloc(wire->in, size);
        if (!in)
                return size > BUFFER_MOST ? -EPROTO : -ENOMEM;
        wire->in = in;
        wire->size = size;
        return 0;
}

/* 1: there may be more; 0: that was all for now; -errno; -EPIPE: the other side is done. */
static int receive(Wire *wire) {
        int r = make_room(wire);
        if (r < 0)
                return r;
        ssize_t n = recv(wire->fd, wire->in + wire->length, wire->size - wire->length, MSG_DONTWAIT);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        if (n == 0)
                return -EPIPE;
        size_t from = wire->length;
        wire->length += (size_t)n;
        wire->heard_usec = clock_now_usec();
        take_lines(wire, from);
        return 1;
}

static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Wire *wire = userdata;
        int r = 1;

        (void)source, (void)fd, (void)revents;
        for (size_t turn = 0; r > 0 && turn < TURN_MAX / BUFFER_FIRST; turn++)
                r = receive(wire);
        if (r < 0)
                lose(wire, r == -EPIPE ? 0 : -r);
        return 0;
}

/* ---- Up ---- */

static int connect_now(Wire *wire) {
        wire->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (wire->fd < 0)
                return -errno;
        if (connect(wire->fd, &wire->address.any, wire->address.length) < 0)
                return -errno;
        int r = sd_event_add_io(wire->event, &wire->source, wire->fd, EPOLLIN, on_ready, wire);
        if (r >= 0)
                r = say(wire, "{\"method\":\"subscribe\",\"params\":{\"since\":0,\"as\":\"gateway\"}}\n");
        if (r >= 0)
                set_timer(wire, WIRE_SILENCE_USEC);
        return r;
}

/* Time to try again; or time is up for an answer. */
static int on_timer(sd_event_source *source, uint64_t due, void *userdata) {
        Wire *wire = userdata;

        (void)source, (void)due;
        int r = wire->fd >= 0 ? -ETIMEDOUT : connect_now(wire);
        if (r < 0)
                lose(wire, -r);
        return 0;
}

/* ---- Life ---- */

int wire_new(Wire **ret, sd_event *event, const WirePlan *plan) {
        SocketAddress address;
        int r = socket_address_parse_path(plan->path, &address);
        if (r < 0)
                return r;
        Wire *wire = calloc(1, sizeof *wire);
        if (!wire)
                return -ENOMEM;
        *wire = (Wire){ .event = sd_event_ref(event),
                        .plan = *plan,
                        .address = address,
                        .fd = -1,
                        .heard_usec = clock_now_usec() };
        wire->plan.path = NULL;
        r = sd_event_add_time_relative(event, &wire->timer, CLOCK_MONOTONIC, 0, USEC_PER_MSEC, on_timer, wire);
        if (r < 0) {
                wire_free(wire);
                return r;
        }
        *ret = wire;
        return 0;
}

Wire *wire_free(Wire *wire) {
        if (!wire)
                return NULL;
        take_down(wire);
        sd_event_source_disable_unref(wire->timer);
        sd_event_unref(wire->event);
        free(wire->in);
        free(wire);
        return NULL;
}
