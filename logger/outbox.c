/* outbox.c - a ring of short messages in front of a socket that may be full. */
#include "logger/outbox.h"
#include "base/packet.h"
#include "base/take.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

struct Outbox {
        int socket; /* its own number for the same socket: epoll knows a number only once */
        sd_event_source *source;
        void (*on_room)(void *userdata);
        void *userdata;
        unsigned first, n;
        bool stopped;
        char texts[OUTBOX_MAX][OUTBOX_TEXT_MAX];
};

/* 0: nothing waits any more; -EAGAIN: the socket is full; or -errno. */
static int send_waiting(Outbox *outbox) {
        while (outbox->n > 0) {
                char *text = outbox->texts[outbox->first];
                Packet packet;

                packet_init(&packet, text, OUTBOX_TEXT_MAX);
                packet.length = strlen(text);
                int r = packet_send(outbox->socket, &packet);
                if (r < 0)
                        return r;
                outbox->first = (outbox->first + 1) % OUTBOX_MAX;
                outbox->n--;
        }
        return 0;
}

/* Until it can be sent, or, when PID 1 is gone, never: whoever reads the socket learns of that. */
static void send_or_wait(Outbox *outbox) {
        int r = send_waiting(outbox);

        if (r < 0 && r != -EAGAIN)
                outbox_stop(outbox);
        else
                sd_event_source_set_enabled(outbox->source, r < 0 ? SD_EVENT_ON : SD_EVENT_OFF);
}

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Outbox *outbox = userdata;

        (void)source, (void)fd, (void)revents;
        send_or_wait(outbox);
        if (outbox->n == 0)
                outbox->on_room(outbox->userdata);
        return 0;
}

int outbox_new(Outbox **ret, sd_event *event, int socket, void (*on_room)(void *userdata), void *userdata) {
        Outbox *outbox = calloc(1, sizeof *outbox);
        if (!outbox)
                return -ENOMEM;
        *outbox = (Outbox){ .on_room = on_room, .userdata = userdata, .socket = fcntl(socket, F_DUPFD_CLOEXEC, 3) };
        int r = outbox->socket < 0
                        ? -errno
                        : sd_event_add_io(event, &outbox->source, outbox->socket, EPOLLOUT, on_writable, outbox);
        if (r >= 0)
                r = sd_event_source_set_enabled(outbox->source, SD_EVENT_OFF);
        if (r < 0) {
                outbox_free(outbox);
                return r;
        }
        *ret = outbox;
        return 0;
}

Outbox *outbox_free(Outbox *outbox) {
        if (outbox) {
                sd_event_source_disable_unref(outbox->source);
                close_fd(outbox->socket);
                free(outbox);
        }
        return NULL;
}

unsigned outbox_room(const Outbox *outbox) {
        return OUTBOX_MAX - outbox->n;
}

void outbox_say(Outbox *outbox, const char *format, ...) {
        va_list ap;

        if (outbox->stopped)
                return;
        assert(outbox->n < OUTBOX_MAX);
        va_start(ap, format);
        int n = vsnprintf(outbox->texts[(outbox->first + outbox->n) % OUTBOX_MAX], OUTBOX_TEXT_MAX, format, ap);
        va_end(ap);
        assert(n > 0 && n < OUTBOX_TEXT_MAX);
        (void)n;
        outbox->n++;
        send_or_wait(outbox);
}

void outbox_stop(Outbox *outbox) {
        outbox->stopped = true;
        outbox->n = 0;
        sd_event_source_set_enabled(outbox->source, SD_EVENT_OFF);
}
