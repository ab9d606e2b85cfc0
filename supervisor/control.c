/* control.c - the control socket: makes it, lets clients in, and holds their connections. */
#include "supervisor/control.h"
#include "base/take.h"
#include "base/usec.h"
#include "supervisor/control_client.h"
#include "supervisor/priority.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define CLIENTS_MAX 64
#define BACKLOG     128

/* More connections than this are left waiting, so that one who does nothing but connect leaves us time. */
#define CONNECTIONS_PER_INTERVAL 200
#define INTERVAL_USEC            (100 * USEC_PER_MSEC)

struct Control {
        ControlPlan plan;
        char path[sizeof((struct sockaddr_un *)NULL)->sun_path];
        sd_event *event;
        int fd, spare_fd; /* the spare makes room for one more when descriptors have run out */
        sd_event_source *listening, *pumping;
        sd_event_source *timer; /* never fires: see watch() */
        ControlClient *clients[CLIENTS_MAX];
        uint64_t turns;
};

static void on_ended(void *holder, ControlClient *client, const char *reason) {
        Control *control = holder;
        pid_t peer = client->peer.pid;

        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (control->clients[i] == client)
                        control->clients[i] = NULL;
        control_client_free(client);
        if (reason)
                control->plan.dropped(control->plan.userdata, peer, reason);
}

/* Says one line to somebody who is not let in, if his socket takes it, and closes. */
static void turn_away(int fd, const char *code, const char *message) {
        ControlAnswer answer = { 0 };

        if (control_answer_error(&answer, code, message) == 0)
                (void)send(fd, answer.text, answer.length, MSG_NOSIGNAL | MSG_DONTWAIT); /* he sees the end anyway */
        free(answer.text);
        close_fd(fd);
}

/* Among those who hold a place without need: no subscription, or a request begun and not ended. */
static ControlClient *idle_longest(const Control *control) {
        ControlClient *found = NULL;

        for (size_t i = 0; i < CLIENTS_MAX; i++) {
                ControlClient *client = control->clients[i];

                if ((!client->subscribed || client->in_length > 0) && (!found || client->turn < found->turn))
                        found = client;
        }
        return found;
}

/* -EBUSY: all places are taken by subscribers. */
static int find_place(Control *control) {
        for (int i = 0; i < CLIENTS_MAX; i++)
                if (!control->clients[i])
                        return i;
        ControlClient *client = idle_longest(control);
        if (!client)
                return -EBUSY;
        on_ended(control, client, "it was idle longest when all 64 places were taken");
        return find_place(control);
}

/* NULL, or why he is not let in. */
static const char *let_in(Control *control, int fd, Peer *ret_peer, char *message, size_t size) {
        if (!peer_may(fd, control->plan.group, ret_peer)) {
                snprintf(message, size, "uid %u may not use this control socket", (unsigned)ret_peer->uid);
                turn_away(fd, "refused", message);
                return message;
        }
        int place = find_place(control);
        if (place < 0) {
                turn_away(fd, "busy", "all 64 places for clients are taken by subscribers");
                return "all 64 places were taken by subscribers";
        }
        int r = control_client_new(&control->clients[place], control->event, fd, &control->plan, *ret_peer, on_ended,
                                   control, &control->turns);
        return r < 0 ? "there was no memory left for its connection" : NULL;
}

/* Out of descriptors: whoever waits would keep the socket readable for ever. He is let in on the spare one, and out. */
static const char *shake_off(Control *control) {
        static const char reason[] = "endwell had no file descriptor left for another client";

        control->spare_fd = close_fd(control->spare_fd);
        int fd = accept4(control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
                turn_away(fd, "busy", reason);
        control->spare_fd = fcntl(control->fd, F_DUPFD_CLOEXEC, 3); /* before anybody else takes it */
        return fd >= 0 ? reason : NULL;
}

/* Failures other than those two concern one connection, or pass. */
static int on_connection(sd_event_source *source, int listening, uint32_t revents, void *userdata) {
        Control *control = userdata;
        const char *reason = NULL;
        Peer peer = { 0 };
        char message[96];
        int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        (void)source, (void)revents;
        if (fd >= 0)
                reason = let_in(control, fd, &peer, message, sizeof message);
        else if (errno == EMFILE || errno == ENFILE)
                reason = shake_off(control);
        if (reason)
                control->plan.dropped(control->plan.userdata, peer.pid, reason);
        return 0;
}

static int on_pump(sd_event_source *source, void *userdata) {
        Control *control = userdata;

        (void)source;
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (control->clients[i])
                        control_client_pump(control->clients[i]);
        return 0;
}

/* The mode is set before the name appears, so that there is no moment at which others may connect. */
static int make_socket(Control *control) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        if (fd < 0 || fchmod(fd, 0600) < 0)
                return -errno;
        memcpy(address.sun_path, control->path, sizeof address.sun_path);
        if (unlink(control->path) < 0 && errno != ENOENT)
                return -errno;
        if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
                return -errno;
        int group = control->plan.group;
        if ((group >= 0 && (chown(control->path, (uid_t)-1, (gid_t)group) < 0 || chmod(control->path, 0660) < 0)) ||
            listen(fd, BACKLOG) < 0) {
                int r = -errno;
                unlink(control->path);
                return r;
        }
        control->fd = TAKE_FD(fd);
        return 0;
}

static int on_never(sd_event_source *source, uint64_t usec, void *userdata) {
        (void)source, (void)usec, (void)userdata;
        return 0;
}

/* The rate limit needs a timer descriptor of the loop. sd-event makes it when it is first needed, and ends the loop
 * when it cannot: at the very moment at which a flood has used up all descriptors. So it is made now. */
static int watch(Control *control) {
        int r = sd_event_add_time(control->event, &control->timer, CLOCK_MONOTONIC, UINT64_MAX, 1, on_never, NULL);

        if (r >= 0)
                r = sd_event_add_io(control->event, &control->listening, control->fd, EPOLLIN, on_connection, control);

        if (r >= 0)
                r = sd_event_source_set_priority(control->listening, PRIORITY_CONTROL);
        if (r >= 0)
                r = sd_event_source_set_ratelimit(control->listening, INTERVAL_USEC, CONNECTIONS_PER_INTERVAL);
        if (r >= 0)
                r = sd_event_add_defer(control->event, &control->pumping, on_pump, control);
        if (r >= 0)
                r = sd_event_source_set_enabled(control->pumping, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_priority(control->pumping, PRIORITY_CONTROL);
        return r;
}

int control_new(Control **ret, sd_event *event, const ControlPlan *plan) {
        if (strlen(plan->path) >= sizeof((Control *)NULL)->path)
                return -ENAMETOOLONG;
        Control *control = calloc(1, sizeof *control);
        if (!control)
                return -ENOMEM;
        *control = (Control){ .plan = *plan, .event = sd_event_ref(event), .fd = -1, .spare_fd = -1 };
        strcpy(control->path, plan->path);
        int r = make_socket(control);
        if (r >= 0)
                r = watch(control);
        if (r < 0) {
                control_free(control);
                return r;
        }
        control->spare_fd =
                fcntl(control->fd, F_DUPFD_CLOEXEC, 3); /* without it we only come off worse when all are used */
        *ret = control;
        return 0;
}

void control_leave(Control *control) {
        if (!control)
                return;
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (control->clients[i])
                        control_client_flush(control->clients[i]);
        if (control->fd >= 0)
                unlink(control->path); /* a name that stays behind is unlinked by the next run */
}

Control *control_free(Control *control) {
        if (!control)
                return NULL;
        control_leave(control);
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (control->clients[i])
                        control_client_free(control->clients[i]);
        sd_event_source_disable_unref(control->listening);
        sd_event_source_disable_unref(control->pumping);
        sd_event_source_disable_unref(control->timer);
        sd_event_unref(control->event);
        close_fd(control->fd);
        close_fd(control->spare_fd);
        free(control);
        return NULL;
}

/* Only marks: what an ending has to do comes first, and many lines leave in one piece. */
void control_pump(Control *control) {
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (control->clients[i] && control->clients[i]->subscribed) {
                        (void)sd_event_source_set_enabled(control->pumping, SD_EVENT_ONESHOT);
                        return;
                }
}

bool control_has_gateway(const Control *control) {
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (control->clients[i] && control->clients[i]->gateway)
                        return true;
        return false;
}
