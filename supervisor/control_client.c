/* control_client.c - one connection to the control socket. */
#include "supervisor/control_client.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/control_params.h"
#include "supervisor/control_request.h"
#include "supervisor/parcel.h"
#include "supervisor/priority.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define IN_SIZE_FIRST 512
#define CHUNK         8192        /* of the journal, for one send() */
#define TURN_MAX      (64 * 1024) /* of the journal, before others have their turn */
#define FLUSH_MAX     (1024 * 1024)

/* What a step says about the connection. Every text but GONE is a reason for the journal. */
#define GOES_ON     NULL
#define GONE        ""
#define NO_MEMORY   "there is no memory left for its request"
#define NOT_READING "it did not read while the journal grew by 1 MiB"

static const char *drop_out(ControlClient *client) {
        free(client->out.text);
        client->out = (ControlAnswer){ 0 };
        client->sent = 0;
        return client->closing ? GONE : GOES_ON;
}

/* Hands the socket what it takes of `out`. */
static const char *send_out(ControlClient *client) {
        if (!client->out.text)
                return GOES_ON;
        ssize_t n = send(client->fd, client->out.text + client->sent, client->out.length - client->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? GOES_ON : GONE;
        client->sent += (size_t)n;
        client->total_when_read = archive_total(client->plan->archive);
        return client->sent == client->out.length ? drop_out(client) : GOES_ON;
}

static const char *refuse(ControlClient *client, const char *code, const char *message) {
        return control_answer_error(&client->out, code, message) < 0 ? NO_MEMORY : send_out(client);
}

/* After such a line nobody knows where the next one begins. */
static const char *refuse_and_close(ControlClient *client, const char *code, const char *message) {
        client->closing = true;
        return refuse(client, code, message);
}

/* {"since":SEQ,"as":"gateway"}: without `since` only what happens from now on. */
static const char *read_subscription(ControlClient *client, const json_t *params) {
        uint64_t newest = archive_newest(client->plan->archive), since = newest;
        const char *as = "";

        if (client->subscribed)
                return "this connection is subscribed already";
        if (control_params_unsigned(params, "since", &since) < 0)
                return "\"since\" must be the number of an event, or 0";
        if (control_params_string(params, "as", &as) < 0 || (as[0] && !name_is_valid(as)))
                return "\"as\" must be a name";
        archive_cursor_init(&client->cursor, since < newest ? since : newest);
        client->gateway = strcmp(as, "gateway") == 0;
        return NULL;
}

static int write_subscribed(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                            char *ret_message) {
        const ControlClient *client = userdata;

        (void)peer, (void)params, (void)ret_code, (void)ret_message;
        json_open_object(result, NULL);
        json_put_bool(result, "subscribed", true);
        json_put_unsigned(result, "since", client->cursor.seq - 1);
        json_put_unsigned(result, "newest", archive_newest(client->plan->archive));
        json_close(result);
        return 0;
}

static const char *subscribe(ControlClient *client, const json_t *params) {
        static const ControlMethodEntry entry = { .name = "subscribe", .method = write_subscribed, .result_max = 128 };
        const char *problem = read_subscription(client, params);

        if (problem)
                return refuse(client, "bad_params", problem);
        client->total_when_read = archive_total(client->plan->archive);
        client->subscribed = true;
        if (control_answer_call(&client->out, &entry, client, &client->peer, NULL) < 0)
                return NO_MEMORY;
        return send_out(client);
}

static const char *carry_out(ControlClient *client, const ControlRequest *request) {
        char message[CONTROL_MESSAGE_MAX];

        if (strcmp(request->method, "subscribe") == 0)
                return subscribe(client, request->params);
        for (const ControlMethodEntry *entry = client->plan->methods; entry->name; entry++)
                if (strcmp(entry->name, request->method) == 0)
                        return control_answer_call(&client->out, entry, client->plan->userdata, &client->peer,
                                                   request->params) < 0
                                       ? NO_MEMORY
                                       : send_out(client);
        snprintf(message, sizeof message, "there is no method \"%.100s\"", request->method);
        return refuse(client, "unknown_method", message);
}

static void find_line(ControlClient *client, size_t from) {
        char *newline = memchr(client->in + from, '\n', client->in_length - from);

        client->line_end = newline ? (size_t)(newline - client->in) + 1 : 0;
}

static void consume_line(ControlClient *client) {
        client->in_length -= client->line_end;
        memmove(client->in, client->in + client->line_end, client->in_length);
        client->line_end = 0;
        if (client->in_length > 0) {
                find_line(client, 0);
                return;
        }
        free(client->in);
        client->in = NULL;
        client->in_size = 0;
}

/* One request a turn, so that a client with many of them waits like the others. */
static const char *take_up_line(ControlClient *client) {
        char message[CONTROL_MESSAGE_MAX];
        const char *code, *end;
        ControlRequest request;

        if (client->line_end == 0 || client->out.text || client->closing)
                return GOES_ON;
        int r = control_request_parse(client->in, client->line_end - 1, &request, &code, message);
        consume_line(client);
        if (r < 0)
                return refuse_and_close(client, code, message);
        end = carry_out(client, &request);
        control_request_done(&request);
        return end;
}

static int make_room(ControlClient *client) {
        size_t size = client->in_size ? client->in_size * 2 : IN_SIZE_FIRST;

        if (client->in_length < client->in_size)
                return 0;
        char *in = realloc(client->in, size);
        if (!in)
                return -ENOMEM;
        client->in = in;
        client->in_size = size;
        return 0;
}

static bool may_receive(const ControlClient *client) {
        return client->line_end == 0 && !client->out.text && !client->closing && !client->half_closed;
}

/* No descriptor is wanted, but see parcel.h. */
static ssize_t receive_some(ControlClient *client) {
        Parcel parcel;
        struct iovec room = { .iov_base = client->in + client->in_length,
                              .iov_len = client->in_size - client->in_length };
        struct msghdr message = {
                .msg_iov = &room, .msg_iovlen = 1, .msg_control = &parcel, .msg_controllen = sizeof parcel
        };
        ssize_t n = recvmsg(client->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n >= 0)
                parcel_close(&message);
        return n;
}

static const char *receive(ControlClient *client) {
        if (make_room(client) < 0)
                return NO_MEMORY;
        ssize_t n = receive_some(client);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? GOES_ON : GONE;
        client->half_closed = n == 0;
        client->in_length += (size_t)n;
        find_line(client, client->in_length - (size_t)n);
        if (client->line_end == 0 && client->in_length == CONTROL_LINE_MAX)
                return refuse_and_close(client, "too_long", "a request line is at most 65536 bytes long");
        if (n == 0 && client->in_length > 0)
                return refuse_and_close(client, "bad_request", "the last request line has no newline");
        return GOES_ON;
}

static bool is_behind(const ControlClient *client) {
        return client->subscribed && client->cursor.seq <= archive_newest(client->plan->archive);
}

/* What the socket does not take at once is kept, at most CHUNK; the rest stays where it is, in the archive. */
static const char *send_journal(ControlClient *client, size_t most) {
        char chunk[CHUNK];

        for (size_t sent = 0; sent < most && !client->out.text && !client->closing && is_behind(client);) {
                ssize_t n = archive_read(client->plan->archive, &client->cursor, chunk, sizeof chunk);
                if (n <= 0)
                        return GOES_ON;
                client->out.text = malloc((size_t)n);
                if (!client->out.text)
                        return NO_MEMORY;
                memcpy(client->out.text, chunk, (size_t)n);
                client->out.length = (size_t)n;
                sent += (size_t)n;
                const char *end = send_out(client);
                if (end)
                        return end;
        }
        return GOES_ON;
}

static const char *serve(ControlClient *client, uint32_t revents) {
        const char *end = send_out(client);

        if (!end && (revents & (EPOLLIN | EPOLLHUP | EPOLLERR)) && may_receive(client))
                end = receive(client);
        if (!end)
                end = take_up_line(client);
        if (!end)
                end = send_journal(client, TURN_MAX);
        if (end || client->out.text || client->line_end > 0)
                return end;
        /* Who has said all and hears nothing is done; who is subscribed may have closed his own half only. */
        return client->half_closed && (!client->subscribed || (revents & EPOLLHUP)) ? GONE : GOES_ON;
}

/* The connection waits for exactly what it can go on with. */
static void wait_for_more(ControlClient *client) {
        bool has_work = client->out.text || client->line_end > 0 || is_behind(client);
        uint32_t events = (may_receive(client) ? EPOLLIN : 0) | (has_work ? EPOLLOUT : 0);

        if (sd_event_source_set_io_events(client->source, events) < 0)
                client->ended(client->holder, client, "its connection could not be watched");
}

static void settle(ControlClient *client, const char *end) {
        if (!end)
                wait_for_more(client);
        else
                client->ended(client->holder, client, end[0] ? end : NULL);
}

static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        ControlClient *client = userdata;

        (void)source, (void)fd;
        client->turn = ++*client->turns;
        settle(client, serve(client, revents));
        return 0;
}

void control_client_pump(ControlClient *client) {
        if (!client->subscribed)
                return;
        const char *end = send_journal(client, TURN_MAX);
        if (!end && archive_total(client->plan->archive) - client->total_when_read > CONTROL_STALLED_MAX)
                end = NOT_READING;
        settle(client, end);
}

void control_client_flush(ControlClient *client) {
        if (!send_out(client) && !client->out.text)
                (void)send_journal(client, FLUSH_MAX);
}

int control_client_new(ControlClient **ret, sd_event *event, int fd, const ControlPlan *plan, Peer peer,
                       ControlClientEnded ended, void *holder, uint64_t *turns) {
        ControlClient *client = calloc(1, sizeof *client);

        if (!client) {
                close_fd(fd);
                return -ENOMEM;
        }
        *client = (ControlClient){
                .plan = plan, .peer = peer, .fd = fd, .ended = ended, .holder = holder, .turns = turns
        };
        client->turn = ++*turns;
        archive_cursor_init(&client->cursor, 0);
        int r = sd_event_add_io(event, &client->source, fd, EPOLLIN, on_ready, client);
        if (r >= 0)
                r = sd_event_source_set_priority(client->source, PRIORITY_CONTROL);
        if (r < 0) {
                control_client_free(client);
                return r;
        }
        *ret = client;
        return 0;
}

ControlClient *control_client_free(ControlClient *client) {
        if (!client)
                return NULL;
        sd_event_source_disable_unref(client->source);
        archive_cursor_done(&client->cursor);
        close_fd(client->fd);
        free(client->in);
        free(client->out.text);
        free(client);
        return NULL;
}
