/* http.c - see http.h. */
#include "base/clock.h"
#include "base/take.h"
#include "base/usec.h"
#include "gateway/http_internal.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>

#define MEMORY_OF_ONE (16 * 1024) /* request line and headers, beyond it 414 or 431; and what is sent */
#define CLOCK_USEC    (500 * USEC_PER_MSEC)
#define OTHERS        32 /* descriptors that are not connections */

static void arm(Http *http) {
        MHD_UNSIGNED_LONG_LONG msec;

        if (MHD_get_timeout(http->daemon, &msec) != MHD_YES) {
                (void)sd_event_source_set_enabled(http->timer, SD_EVENT_OFF);
                return;
        }
        (void)sd_event_source_set_time_relative(http->timer, msec * USEC_PER_MSEC);
        (void)sd_event_source_set_enabled(http->timer, SD_EVENT_ONESHOT);
}

void http_run(Http *http) {
        (void)MHD_run(http->daemon);
        arm(http);
}

static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        (void)source, (void)fd, (void)revents;
        http_run(userdata);
        return 0;
}

static int on_timer(sd_event_source *source, uint64_t due, void *userdata) {
        (void)source, (void)due;
        http_run(userdata);
        return 0;
}

static int on_clock(sd_event_source *source, uint64_t due, void *userdata) {
        Http *http = userdata;

        (void)due;
        if (http->waiting.n + http->following.n > 0) {
                visits_on_clock(http);
                http_run(http);
        }
        (void)sd_event_source_set_time_relative(source, CLOCK_USEC);
        return 0;
}

void http_let_in(Http *http, int fd, const void *address, size_t length) {
        if (http->guests.n >= http->places) {
                guests_make_room(http);
                http_run(http); /* closes those that were shut */
        }
        if (MHD_add_connection(http->daemon, fd, address, (socklen_t)length) == MHD_YES)
                http_run(http); /* a failure has closed it */
}

size_t http_followers(const Http *http) {
        return http->following.n;
}

/* A NUL would end the path before its end: such a request is for nothing that there is. */
static size_t unescape(void *userdata, struct MHD_Connection *connection, char *text) {
        (void)userdata, (void)connection;
        size_t n = MHD_http_unescape(text);

        if (strlen(text) != n)
                text[0] = '\0';
        return strlen(text);
}

/* What clients do wrong is theirs to know. */
static void say_nothing(void *userdata, const char *format, va_list ap) {
        (void)userdata, (void)format, (void)ap;
}

static int start_daemon(Http *http) {
        /* Twice the places: those that were shut are still there until they are looked at. */
        http->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                                                MHD_USE_ERROR_LOG,
                                        0, NULL, NULL, visits_on_request, http, MHD_OPTION_EXTERNAL_LOGGER, say_nothing,
                                        NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)(http->places * 2),
                                        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_SEC,
                                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_OF_ONE,
                                        MHD_OPTION_NOTIFY_CONNECTION, guests_on_notify, http,
                                        MHD_OPTION_NOTIFY_COMPLETED, visits_on_completed, http,
                                        MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
        return http->daemon ? 0 : -EIO;
}

static int watch(Http *http) {
        const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
        if (!info)
                return -EIO;
        int r = sd_event_add_io(http->event, &http->source, info->epoll_fd, EPOLLIN, on_ready, http);
        if (r >= 0)
                r = sd_event_add_time_relative(http->event, &http->timer, CLOCK_MONOTONIC, 0, 1, on_timer, http);
        if (r >= 0)
                r = sd_event_add_time_relative(http->event, &http->clock, CLOCK_MONOTONIC, CLOCK_USEC,
                                               50 * USEC_PER_MSEC, on_clock, http);
        return r < 0 ? r : sd_event_source_set_enabled(http->clock, SD_EVENT_ON);
}

int http_new(Http **ret, sd_event *event, unsigned descriptors, const HttpPlan *plan) {
        Http *http = calloc(1, sizeof *http);
        if (!http)
                return -ENOMEM;
        size_t room = descriptors > OTHERS + 4 ? (descriptors - OTHERS) / 2 : 2;
        *http = (Http){ .event = sd_event_ref(event),
                        .plan = *plan,
                        .places = room < HTTP_PLACES ? room : HTTP_PLACES };
        int r = start_daemon(http);
        if (r >= 0)
                r = watch(http);
        if (r < 0) {
                http_free(http);
                return r;
        }
        *ret = http;
        return 0;
}

Http *http_free(Http *http) {
        if (!http)
                return NULL;
        visits_resume_all(http); /* a suspended connection must not outlive its daemon */
        if (http->daemon)
                MHD_stop_daemon(http->daemon);
        sd_event_source_disable_unref(http->source);
        sd_event_source_disable_unref(http->timer);
        sd_event_source_disable_unref(http->clock);
        sd_event_unref(http->event);
        free(http);
        return NULL;
}
