/* wire.c - one connection to PID 1, kept up; see wire.h. */
#include "reaper/wire.h"
#include "base/take.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BUFFER_SIZE     (64 * 1024) /* a line of the journal is at most 4 KiB long */
#define RETRY_USEC      (100 * USEC_PER_MSEC)
#define RETRY_MOST_USEC (5 * USEC_PER_SEC)
#define REQUEST_MAX     (WIRE_REPORT_MAX + 64)

struct Wire {
        sd_event *event;
        WirePlan plan;
        struct sockaddr_un address;
        int fd;
        sd_event_source *source, *timer;
        unsigned failures; /* to get an answer, in a row */
        bool subscribed, renew;
        bool asked; /* a report is under way */
        char reports[WIRE_REPORTS_MAX][WIRE_REPORT_MAX];
        size_t n_reports;
        char in[BUFFER_SIZE];
        size_t length;
};

/* ---- Up and down ---- */

static int set_timer(Wire *wire, usec_t span) {
        int r = sd_event_source_set_time_relative(wire->timer, span);
        return r < 0 ? r : sd_event_source_set_enabled(wire->timer, SD_EVENT_ONESHOT);
}

static void take_down(Wire *wire) {
        wire->source = sd_event_source_disable_unref(wire->source);
        wire->fd = close_fd(wire->fd);
        wire->length = 0;
        wire->subscribed = wire->asked = wire->renew = false;
}

static void lose(Wire *wire, int error) {
        bool was = wire->subscribed;
        unsigned doublings = wire->failures < 6 ? wire->failures : 6;

        take_down(wire);
        wire->failures++;
        (void)set_timer(wire, usec_min(RETRY_USEC << doublings, RETRY_MOST_USEC));
        wire->plan.on_lost(wire->plan.userdata, error, was);
}

/* ---- Out ---- */

/* All or nothing: what does not fit into a socket's buffer at once meets somebody who has not read for long. */
static int send_request(Wire *wire, const char *method, const char *params) {
        char request[REQUEST_MAX];
        int n = snprintf(request, sizeof request, "{\"method\":\"%s\",\"params\":%s}\n", method, params);
        ssize_t sent = send(wire->fd, request, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0)
                return -errno;
        return sent == n ? 0 : -EMSGSIZE;
}

static int subscribe(Wire *wire) {
        char params[64];

        snprintf(params, sizeof params, "{\"since\":%" PRIu64 ",\"as\":\"reaper\"}",
                 wire->plan.since(wire->plan.userdata));
        return send_request(wire, "subscribe", params);
}

static void send_report(Wire *wire) {
        if (wire->n_reports == 0 || !wire->subscribed || wire->asked)
                return;
        int r = send_request(wire, "report", wire->reports[0]);
        wire->asked = r == 0;
        if (r == -EAGAIN)
                (void)sd_event_source_set_io_events(wire->source, EPOLLIN | EPOLLOUT);
        else if (r < 0)
                (void)shutdown(wire->fd, SHUT_RDWR); /* on_ready() hears the end, and it is said anew */
}

static void drop_report(Wire *wire) {
        if (!wire->asked)
                return;
        wire->asked = false;
        wire->n_reports--;
        memmove(wire->reports[0], wire->reports[1], wire->n_reports * sizeof *wire->reports);
        send_report(wire);
}

/* ---- In ---- */

static void on_line(Wire *wire, const char *line, size_t length) {
        News news;

        if (news_read(line, length, &news) < 0)
                return; /* of a version that we do not know; its number is missed, and that is said */
        if (news.kind == NEWS_SUBSCRIBED) {
                wire->subscribed = true;
                wire->failures = 0;
                (void)sd_event_source_set_enabled(wire->timer, SD_EVENT_OFF);
        }
        wire->plan.on_news(wire->plan.userdata, &news);
        if (news.kind == NEWS_SUBSCRIBED)
                send_report(wire);
        else if (news.kind == NEWS_TAKEN || news.kind == NEWS_REFUSED)
                drop_report(wire);
}

static void take_lines(Wire *wire) {
        size_t done = 0;
        char *newline;

        while (!wire->renew && (newline = memchr(wire->in + done, '\n', wire->length - done))) {
                size_t end = (size_t)(newline - wire->in);
                on_line(wire, wire->in + done, end - done);
                done = end + 1;
        }
        wire->length -= done;
        memmove(wire->in, wire->in + done, wire->length);
}

static int connect_now(Wire *wire);

static void renew(Wire *wire) {
        take_down(wire);
        int r = connect_now(wire);
        if (r < 0)
                lose(wire, -r);
}

static void receive(Wire *wire) {
        ssize_t n = recv(wire->fd, wire->in + wire->length, sizeof wire->in - wire->length, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0) {
                lose(wire, n == 0 ? 0 : errno);
                return;
        }
        wire->length += (size_t)n;
        take_lines(wire);
        if (!wire->renew && wire->length == sizeof wire->in)
                lose(wire, EPROTO);
}

static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Wire *wire = userdata;

        (void)fd;
        if (revents & EPOLLOUT) {
                (void)sd_event_source_set_io_events(source, EPOLLIN);
                send_report(wire);
        }
        if (!wire->renew)
                receive(wire);
        if (wire->renew)
                renew(wire);
        return 0;
}

static int connect_now(Wire *wire) {
        wire->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (wire->fd < 0)
                return -errno;
        if (connect(wire->fd, (const struct sockaddr *)&wire->address, sizeof wire->address) < 0)
                return -errno;
        int r = sd_event_add_io(wire->event, &wire->source, wire->fd, EPOLLIN, on_ready, wire);
        if (r >= 0)
                r = subscribe(wire);
        return r < 0 ? r : set_timer(wire, WIRE_SILENCE_USEC);
}

/* Time to try again; or time is up for the answer to our subscription. */
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
        if (strlen(plan->path) >= sizeof((struct sockaddr_un *)NULL)->sun_path)
                return -ENAMETOOLONG;
        Wire *wire = calloc(1, sizeof *wire);
        if (!wire)
                return -ENOMEM;
        wire->event = sd_event_ref(event);
        wire->plan = *plan;
        wire->plan.path = NULL;
        wire->fd = -1;
        wire->address.sun_family = AF_UNIX;
        strcpy(wire->address.sun_path, plan->path);
        int r = sd_event_add_time_relative(event, &wire->timer, CLOCK_MONOTONIC, 0, USEC_PER_MSEC, on_timer, wire);
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
        free(wire);
        return NULL;
}

bool wire_is_subscribed(const Wire *wire) {
        return wire->subscribed;
}

void wire_renew(Wire *wire) {
        if (!wire->subscribed || wire->renew)
                return; /* a subscription is on its way, and asks from where its holder is */
        wire->renew = true;
        /* Outside on_news there is nobody to look: an end that we make ourselves wakes on_ready(). */
        (void)shutdown(wire->fd, SHUT_RDWR);
}

int wire_report(Wire *wire, const char *params) {
        if (wire->n_reports == WIRE_REPORTS_MAX || strlen(params) >= WIRE_REPORT_MAX)
                return -ENOBUFS;
        strcpy(wire->reports[wire->n_reports++], params);
        send_report(wire);
        return 0;
}

size_t wire_unsaid(const Wire *wire) {
        return wire->n_reports;
}
