/* listener.c - see listener.h. */
#include "gateway/listener.h"
#include "base/log.h"
#include "base/socket_address.h"
#include "base/take.h"
#include "base/usec.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define RETRY_USEC (1 * USEC_PER_SEC)
#define PAUSE_USEC (50 * USEC_PER_MSEC) /* without descriptors nobody can be let in, and the socket stays readable */
#define BACKLOG    1024
#define AT_ONCE    64

struct Listener {
        sd_event *event;
        ListenerPlan plan;
        SocketAddress address;
        int fd;
        sd_event_source *source, *timer;
        int error; /* told last */
};

static void set_timer(Listener *listener, usec_t span) {
        (void)sd_event_source_set_time_relative(listener->timer, span);
        (void)sd_event_source_set_enabled(listener->timer, SD_EVENT_ONESHOT);
}

static int on_connection(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Listener *listener = userdata;
        struct sockaddr_storage peer;

        (void)revents;
        for (unsigned i = 0; i < AT_ONCE; i++) {
                socklen_t length = sizeof peer;
                int client = accept4(fd, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (client >= 0)
                        listener->plan.accepted(listener->plan.userdata, client, &peer, length);
                else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
                        set_timer(listener, PAUSE_USEC);
                        break;
                } else if (errno == EAGAIN)
                        break;
        }
        return 0;
}

static int open_socket(const SocketAddress *address) {
        static const int yes = 1;
        _cleanup_(closep) int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0)
                return -errno;
        if (address->any.sa_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) < 0)
                return -errno;
        if (bind(fd, &address->any, address->length) < 0 || listen(fd, BACKLOG) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static int bind_now(Listener *listener) {
        int fd = open_socket(&listener->address);
        if (fd < 0)
                return fd;
        listener->fd = fd;
        return sd_event_add_io(listener->event, &listener->source, fd, EPOLLIN, on_connection, listener);
}

static void try(Listener *listener) {
        int r = bind_now(listener);

        if (r < 0 && r != -listener->error)
                log_warning("could not listen on %s: %s; tried again every second, nothing else suffers",
                            listener->plan.address, strerrordesc_np(-r));
        else if (r >= 0 && listener->error != 0)
                log_notice("listening on %s, which could not be had before", listener->plan.address);
        listener->error = r < 0 ? -r : 0;
        if (r < 0) {
                listener->fd = close_fd(listener->fd);
                set_timer(listener, RETRY_USEC);
        }
}

static int on_timer(sd_event_source *source, uint64_t due, void *userdata) {
        Listener *listener = userdata;

        (void)source, (void)due;
        if (listener->source)
                (void)sd_event_source_set_enabled(listener->source, SD_EVENT_ON);
        else
                try(listener);
        return 0;
}

int listener_new(Listener **ret, sd_event *event, const ListenerPlan *plan) {
        SocketAddress addresses[SOCKET_ADDRESSES_MAX];
        int r = socket_address_parse_port(plan->address, addresses);
        if (r < 0)
                return r;
        Listener *listener = calloc(1, sizeof *listener);
        if (!listener)
                return -ENOMEM;
        *listener = (Listener){ .event = sd_event_ref(event), .plan = *plan, .address = addresses[0], .fd = -1 };
        r = sd_event_add_time_relative(event, &listener->timer, CLOCK_MONOTONIC, 0, USEC_PER_MSEC, on_timer, listener);
        if (r >= 0)
                r = sd_event_source_set_enabled(listener->timer, SD_EVENT_OFF);
        if (r < 0) {
                listener_free(listener);
                return r;
        }
        try(listener);
        *ret = listener;
        return 0;
}

Listener *listener_free(Listener *listener) {
        if (!listener)
                return NULL;
        sd_event_source_disable_unref(listener->source);
        sd_event_source_disable_unref(listener->timer);
        sd_event_unref(listener->event);
        close_fd(listener->fd);
        free(listener);
        return NULL;
}
