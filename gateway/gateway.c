/* gateway.c - see gateway.h. */
#include "base/clock.h"
#include "base/log.h"
#include "base/take.h"
#include "gateway/gateway_internal.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define HEARTBEAT_USEC  (5 * USEC_PER_SEC)
#define REFRESH_USEC    (100 * USEC_PER_MSEC) /* of the status that ReadyWhen= is judged by, while events come */
#define REFRESH_SLOWLY  (1 * USEC_PER_SEC)    /* where it is long */
#define LONG_STATUS     (128 * 1024)
#define LAST_WORDS_USEC (300 * USEC_PER_MSEC) /* for whoever still follows, when PID 1 is done */

/* ---- The status ---- */

static int on_asker(sd_event_source *source, uint64_t due, void *userdata) {
        Gateway *gateway = userdata;

        (void)source, (void)due;
        gateway->asked = wire_ask_status(gateway->wire) >= 0;
        gateway->asked_usec = clock_now_usec();
        return 0;
}

void gateway_want_status(Gateway *gateway, usec_t span) {
        int enabled = SD_EVENT_OFF;
        uint64_t due = usec_add(gateway->asked_usec, span), before;

        if (gateway->asked || !gateway->subscribed)
                return; /* on its answer, or on the connection, it is asked again for whoever still waits */
        (void)sd_event_source_get_enabled(gateway->asker, &enabled);
        if (enabled != SD_EVENT_OFF && sd_event_source_get_time(gateway->asker, &before) >= 0 && before <= due)
                return;
        (void)sd_event_source_set_time(gateway->asker, due);
        (void)sd_event_source_set_enabled(gateway->asker, SD_EVENT_ONESHOT);
}

static void take_status(Gateway *gateway, Tidings *tidings) {
        snapshot_free(gateway->status);
        gateway->status = TAKE(tidings->status);
        gateway->answers++;
        gateway->asked = false;
        http_wake_waiting(gateway->http);
}

/* So that a silent endwell is noticed, and only then anything is asked when nobody wants to know. */
static int on_heart(sd_event_source *source, uint64_t due, void *userdata) {
        Gateway *gateway = userdata;

        (void)due;
        if (usec_sub(clock_now_usec(), wire_heard_usec(gateway->wire)) >= HEARTBEAT_USEC / 2)
                gateway_want_status(gateway, 0);
        (void)sd_event_source_set_time_relative(source, HEARTBEAT_USEC / 2);
        return 0;
}

/* ---- The journal ---- */

static void begin_anew(Gateway *gateway, const Tidings *tidings) {
        if (gateway->lost_told)
                log_notice("connected to endwell again");
        gateway->subscribed = true;
        gateway->lost_told = gateway->acknowledged = false;
        gateway->newest = tidings->newest;
        gateway->connected = tidings->newest == 0;
        gateway->picture = (Picture){ 0 };
        tally_done(&gateway->tally);
        gateway->tally = (Tally){ 0 };
        recent_clear(gateway->recent);
        gateway_want_status(gateway, 0);
}

/* From here on whoever asks hears no; PID 1 waits for this before it asks anybody to stop. */
static void acknowledge(Gateway *gateway) {
        if (!gateway->picture.ending || gateway->acknowledged || !gateway->connected)
                return;
        gateway->acknowledged = true;
        wire_acknowledge(gateway->wire);
}

static void take_event(Gateway *gateway, const Tidings *tidings, const char *line, size_t length) {
        picture_take(&gateway->picture, tidings);
        tally_take(&gateway->tally, tidings);
        (void)recent_add(gateway->recent, tidings->seq, line, length); /* without memory it is missed, and told so */
        gateway->connected = gateway->connected || tidings->seq >= gateway->newest;
        acknowledge(gateway);
        (void)sd_event_source_set_enabled(gateway->waker, SD_EVENT_ONESHOT);
}

static void on_tidings(void *userdata, Tidings *tidings, const char *line, size_t length) {
        Gateway *gateway = userdata;

        switch (tidings->kind) {
        case TIDINGS_EVENT: take_event(gateway, tidings, line, length); break;
        case TIDINGS_SUBSCRIBED: begin_anew(gateway, tidings); break;
        case TIDINGS_STATUS: take_status(gateway, tidings); break;
        case TIDINGS_REFUSED: log_warning("endwell refused a request: %s", tidings->reason); break;
        case TIDINGS_ANSWER:
        case _TIDINGS_MAX: break;
        }
}

static void try_to_leave(Gateway *gateway);

static void on_lost(void *userdata, int error) {
        Gateway *gateway = userdata;

        if (gateway->subscribed && !gateway->finishing) {
                gateway->lost_told = true;
                log_warning("lost the connection to endwell: %s; /readyz is 503 until it is back",
                            error ? strerrordesc_np(error) : "it was closed");
        }
        gateway->subscribed = gateway->connected = gateway->asked = false;
        gateway->status = snapshot_free(gateway->status);
        http_wake_waiting(gateway->http);
        try_to_leave(gateway);
}

/* ---- Who follows, and the end ---- */

static int on_waker(sd_event_source *source, void *userdata) {
        Gateway *gateway = userdata;
        bool is_long = gateway->status && gateway->status->length > LONG_STATUS;

        (void)source;
        if (gateway->invocation->ready_when && gateway->connected)
                gateway_want_status(gateway, is_long ? REFRESH_SLOWLY : REFRESH_USEC);
        http_wake_followers(gateway->http);
        try_to_leave(gateway);
        return 0;
}

/* PID 1 is done with us; the last lines of its journal are still under way. */
static void try_to_leave(Gateway *gateway) {
        if (!gateway->finishing || (gateway->subscribed && !gateway->picture.finished))
                return;
        http_wake_followers(gateway->http); /* they hear the end of it */
        if (http_followers(gateway->http) == 0)
                (void)sd_event_exit(gateway->event, 0);
        else
                (void)sd_event_source_set_enabled(gateway->waker, SD_EVENT_OFF);
}

static int on_last(sd_event_source *source, uint64_t due, void *userdata) {
        Gateway *gateway = userdata;

        (void)source, (void)due;
        (void)sd_event_exit(gateway->event, 0);
        return 0;
}

static int on_parent(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Gateway *gateway = userdata;
        char byte;

        if (!(revents & (EPOLLHUP | EPOLLERR)) && recv(fd, &byte, 1, MSG_DONTWAIT) != 0)
                return 0; /* nothing is said here but the end */
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
        gateway->finishing = true;
        (void)sd_event_source_set_time_relative(gateway->last, LAST_WORDS_USEC);
        (void)sd_event_source_set_enabled(gateway->last, SD_EVENT_ONESHOT);
        try_to_leave(gateway);
        return 0;
}

/* ---- Life ---- */

static void on_accepted(void *userdata, int fd, const void *address, size_t length) {
        Gateway *gateway = userdata;
        http_let_in(gateway->http, fd, address, length);
}

static int add_timer(Gateway *gateway, sd_event_source **ret, usec_t span, sd_event_time_handler_t handler) {
        int r = sd_event_add_time_relative(gateway->event, ret, CLOCK_MONOTONIC, span, USEC_PER_MSEC, handler, gateway);
        return r < 0 ? r : sd_event_source_set_enabled(*ret, span > 0 ? SD_EVENT_ON : SD_EVENT_OFF);
}

static int make_sources(Gateway *gateway, int parent_fd) {
        int r = add_timer(gateway, &gateway->asker, 0, on_asker);
        if (r >= 0)
                r = add_timer(gateway, &gateway->last, 0, on_last);
        if (r >= 0)
                r = add_timer(gateway, &gateway->heart, HEARTBEAT_USEC / 2, on_heart);
        if (r >= 0)
                r = sd_event_add_io(gateway->event, &gateway->parent, parent_fd, EPOLLIN, on_parent, gateway);
        if (r >= 0)
                r = sd_event_add_defer(gateway->event, &gateway->waker, on_waker, gateway);
        return r < 0 ? r : sd_event_source_set_enabled(gateway->waker, SD_EVENT_OFF);
}

static int make_parts(Gateway *gateway, unsigned descriptors) {
        int r = recent_new(&gateway->recent);
        if (r >= 0)
                r = http_new(&gateway->http, gateway->event, descriptors,
                             &(HttpPlan){ .ask = gateway_on_ask, .next = gateway_on_next, .userdata = gateway });
        if (r >= 0)
                r = wire_new(&gateway->wire, gateway->event,
                             &(WirePlan){ .path = gateway->invocation->socket,
                                          .on_tidings = on_tidings,
                                          .on_lost = on_lost,
                                          .userdata = gateway });
        if (r >= 0)
                r = listener_new(&gateway->listener, gateway->event,
                                 &(ListenerPlan){ .address = gateway->invocation->listen,
                                                  .accepted = on_accepted,
                                                  .userdata = gateway });
        return r;
}

int gateway_new(Gateway **ret, sd_event *event, const Invocation *invocation, int parent_fd, unsigned descriptors) {
        Gateway *gateway = calloc(1, sizeof *gateway);
        if (!gateway)
                return -ENOMEM;
        gateway->event = sd_event_ref(event);
        gateway->invocation = invocation;
        int r = make_sources(gateway, parent_fd);
        if (r >= 0)
                r = make_parts(gateway, descriptors);
        if (r < 0) {
                gateway_free(gateway);
                return r;
        }
        *ret = gateway;
        return 0;
}

Gateway *gateway_free(Gateway *gateway) {
        if (!gateway)
                return NULL;
        listener_free(gateway->listener);
        http_free(gateway->http);
        wire_free(gateway->wire);
        recent_free(gateway->recent);
        tally_done(&gateway->tally);
        snapshot_free(gateway->status);
        sd_event_source *const sources[] = { gateway->asker, gateway->heart, gateway->waker, gateway->parent,
                                             gateway->last };
        for (size_t i = 0; i < LENGTH_OF(sources); i++)
                sd_event_source_disable_unref(sources[i]);
        sd_event_unref(gateway->event);
        free(gateway);
        return NULL;
}
