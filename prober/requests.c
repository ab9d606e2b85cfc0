/* requests.c - the requests that are open: heard, begun in their turn, answered. */
#include "prober/requests.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/packet.h"
#include "base/take.h"
#include "prober/dial.h"
#include "prober/http.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#define MESSAGE_MAX        (80 * 1024) /* a value of a configuration, and its words */
#define MESSAGES_AT_ONCE   64
#define BUCKETS            512
#define DESCRIPTORS_SPARED 32
#define LATE_USEC          (100 * USEC_PER_MSEC)
#define PRIORITY_TIMEOUT   10 /* what has arrived is read before anything is called late */

typedef enum By { BY_HTTP, BY_TCP, BY_UNIX, _BY_MAX } By;

static const char *const by_words[_BY_MAX] = { [BY_HTTP] = "http", [BY_TCP] = "tcp", [BY_UNIX] = "unix" };

typedef struct Request Request;

struct Request {
        Requests *all;
        Request *same_bucket;
        TAILQ_ENTRY(Request) place; /* among the waiting, the running or the answered */
        uint64_t id;
        By by;
        bool hook, running, late, answered;
        usec_t asked_usec;
        sd_event_source *limit;
        HttpExchange *exchange;
        Dial *dial;
        Finding finding;
        char detail[FINDING_DETAIL_MAX];
        char *method;
        char target[]; /* the method stands behind it */
};

typedef TAILQ_HEAD(RequestList, Request) RequestList;

struct Requests {
        sd_event *event;
        sd_event_source *talk, *turns;
        int socket;
        Http *http;
        unsigned n_running, n_most; /* exchanges and dials that hold descriptors, those of answered requests included */
        RequestList waiting, running, answered;
        Request *buckets[BUCKETS];
        char buffer[MESSAGE_MAX];
};

/* ---- Where they stand ---- */

static Request **find(Requests *all, uint64_t id) {
        Request **link = &all->buckets[id % BUCKETS];
        while (*link && (*link)->id != id)
                link = &(*link)->same_bucket;
        return link;
}

static RequestList *list_of(Request *request) {
        return request->answered  ? &request->all->answered
               : request->running ? &request->all->running
                                  : &request->all->waiting;
}

static void release(Request *request) {
        request->limit = sd_event_source_disable_unref(request->limit);
        if (request->dial) {
                request->dial = dial_free(request->dial);
                request->all->n_running--;
        }
        if (request->exchange) {
                http_cancel(TAKE(request->exchange));
                request->all->n_running--;
        }
}

static void request_free(Request *request) {
        release(request);
        TAILQ_REMOVE(list_of(request), request, place);
        *find(request->all, request->id) = request->same_bucket;
        free(request);
}

/* ---- To PID 1 ---- */

static int send_answer(const Request *request) {
        char text[FINDING_DETAIL_MAX + 128];
        Packet packet;

        packet_init(&packet, text, sizeof text);
        packet_add_unsigned(&packet, "ANSWER", request->id);
        packet_add(&packet, "RESULT", finding_to_string(request->finding));
        packet_add(&packet, "DETAIL", request->detail);
        return packet_send(request->all->socket, &packet);
}

/* What cannot be sent now is sent when the socket can be written; when PID 1 is gone, whoever reads learns of that. */
static void send_answers(Requests *all) {
        Request *request;
        int r = 0;

        while (r >= 0 && (request = TAILQ_FIRST(&all->answered))) {
                r = send_answer(request);
                if (r >= 0)
                        request_free(request);
        }
        (void)sd_event_source_set_io_events(all->talk, r == -EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void answer(Request *request, Finding finding, const char *detail) {
        Requests *all = request->all;

        release(request);
        TAILQ_REMOVE(list_of(request), request, place);
        request->answered = true;
        TAILQ_INSERT_TAIL(&all->answered, request, place);
        request->finding = finding;
        snprintf(request->detail, sizeof request->detail, "%s", detail);
        send_answers(all);
        if (!TAILQ_EMPTY(&all->waiting)) /* never from in here: we may be inside libcurl */
                (void)sd_event_source_set_enabled(all->turns, SD_EVENT_ONESHOT);
}

static void answer_error(Request *request, int error) {
        char detail[FINDING_DETAIL_MAX];
        Finding finding = finding_of_error(error, detail);
        answer(request, finding, detail);
}

/* ---- What is done ---- */

static void on_exchange_answered(void *userdata, Finding finding, const char *detail) {
        Request *request = userdata;
        request->exchange = NULL; /* reads on without us, see on_exchange_over() */
        answer(request, finding, detail);
}

static void on_exchange_over(void *userdata) {
        Requests *all = userdata;
        all->n_running--;
        if (!TAILQ_EMPTY(&all->waiting))
                (void)sd_event_source_set_enabled(all->turns, SD_EVENT_ONESHOT);
}

static void on_dialled(void *userdata, int error) {
        Request *request = userdata;
        if (error == 0)
                answer(request, FINDING_SUCCEEDED, "connected");
        else
                answer_error(request, error);
}

static void begin_http(Request *request) {
        uint64_t due = 0;

        (void)sd_event_source_get_time(request->limit, &due);
        HttpRequest what = { .method = request->method,
                             .url = request->target,
                             .hook = request->hook,
                             .timeout_usec = usec_sub(due, clock_now_usec()),
                             .answered = on_exchange_answered,
                             .userdata = request };
        int r = http_begin(request->all->http, &what, &request->exchange);
        if (r == -EINVAL)
                answer(request, FINDING_FAILED, "this URL is not asked");
        else if (r < 0)
                answer_error(request, -r);
        else
                request->all->n_running++;
}

static void begin_dial(Request *request) {
        SocketAddress addresses[SOCKET_ADDRESSES_MAX];
        int n = 1, r;

        if (request->by == BY_TCP)
                r = n = socket_address_parse_port(request->target, addresses);
        else
                r = socket_address_parse_path(request->target, &addresses[0]);
        if (r >= 0)
                r = dial_begin(&request->dial, request->all->event, addresses, (unsigned)n, on_dialled, request);
        if (r == 0)
                request->all->n_running++;
        else
                on_dialled(request, r == DIAL_CONNECTED ? 0 : -r);
}

static void begin(Request *request) {
        Requests *all = request->all;

        uint64_t due = 0;

        (void)sd_event_source_get_time(request->limit, &due);
        usec_t now = clock_now_usec();
        request->late = usec_sub(now, request->asked_usec) > usec_sub(due, now);
        TAILQ_REMOVE(&all->waiting, request, place);
        request->running = true;
        TAILQ_INSERT_TAIL(&all->running, request, place);
        if (request->by == BY_HTTP)
                begin_http(request);
        else
                begin_dial(request);
}

static int on_turns(sd_event_source *source, void *userdata) {
        Requests *all = userdata;
        Request *request;

        (void)source;
        while (all->n_running < all->n_most && (request = TAILQ_FIRST(&all->waiting)))
                begin(request);
        return 0;
}

/* We were stopped, or had no processor: what nobody looked at has not failed. */
static int on_limit(sd_event_source *source, uint64_t due, void *userdata) {
        Request *request = userdata;

        (void)source;
        if (!request->running || request->late)
                answer(request, FINDING_UNKNOWN, "could not look: too many checks at once");
        else if (clock_now_usec() > usec_add(due, LATE_USEC))
                answer(request, FINDING_UNKNOWN, "could not look in time");
        else
                answer(request, FINDING_FAILED, "timed out");
        return 0;
}

/* ---- From PID 1 ---- */

static int read_by(const Packet *packet, By *ret) {
        const char *word = packet_get(packet, "BY");

        for (unsigned i = 0; word && i < _BY_MAX; i++)
                if (strcmp(word, by_words[i]) == 0) {
                        *ret = (By)i;
                        return 0;
                }
        return -EINVAL;
}

static int set_limit(Request *request, usec_t timeout) {
        int r = sd_event_add_time(request->all->event, &request->limit, CLOCK_MONOTONIC,
                                  usec_add(request->asked_usec, timeout), USEC_PER_MSEC, on_limit, request);
        return r < 0 ? r : sd_event_source_set_priority(request->limit, PRIORITY_TIMEOUT);
}

static Request *request_new(Requests *all, const Packet *packet, By by) {
        const char *method = packet_get(packet, "METHOD");
        size_t target_size = strlen(packet->body) + 1;

        if (!method)
                method = "GET";
        Request *request = calloc(1, sizeof *request + target_size + strlen(method) + 1);
        if (!request)
                return NULL;
        request->all = all;
        request->by = by;
        request->asked_usec = clock_now_usec();
        request->hook = packet_get(packet, "HOOK") != NULL;
        request->method = request->target + target_size;
        memcpy(request->target, packet->body, target_size);
        strcpy(request->method, method);
        return request;
}

/* 0; or an error with which nothing of it was kept. */
static int take(Requests *all, const Packet *packet, uint64_t id) {
        Request **place = find(all, id);
        uint64_t timeout;
        By by;

        if (*place)
                return -EEXIST;
        if (!packet->body || read_by(packet, &by) < 0 || packet_get_unsigned(packet, "TIMEOUT", &timeout) < 0)
                return -EINVAL;
        Request *request = request_new(all, packet, by);
        if (!request)
                return -ENOMEM;
        int r = set_limit(request, timeout);
        if (r < 0) {
                sd_event_source_disable_unref(request->limit);
                free(request);
                return r;
        }
        request->id = id;
        *place = request;
        TAILQ_INSERT_TAIL(&all->waiting, request, place);
        return 0;
}

static void refuse(const Requests *all, uint64_t id, int error) {
        Request refused = { .all = (Requests *)all, .id = id, .finding = FINDING_UNKNOWN };

        log_err("a request of PID 1 could not be taken: %s", strerrordesc_np(error));
        (void)finding_of_error(error, refused.detail);
        (void)send_answer(&refused);
}

static void on_message(Requests *all, const Packet *packet) {
        uint64_t id;

        if (packet_get_unsigned(packet, "ASK", &id) == 0) {
                int r = take(all, packet, id);
                if (r < 0)
                        refuse(all, id, -r);
        } else if (packet_get_unsigned(packet, "CANCEL", &id) == 0) {
                Request *request = *find(all, id);
                if (request && !request->answered)
                        answer(request, FINDING_UNKNOWN, "called off");
        } else {
                log_err("a message of PID 1 was not understood, and ignored");
        }
}

static int hear(Requests *all) {
        Packet packet;
        int r = PACKET_RECEIVED;

        packet_init(&packet, all->buffer, sizeof all->buffer);
        for (unsigned i = 0; i < MESSAGES_AT_ONCE && r > 0; i++) {
                r = packet_receive(all->socket, &packet);
                if (r == PACKET_RECEIVED)
                        on_message(all, &packet);
                packet_done(&packet);
        }
        return r;
}

static int on_talk(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Requests *all = userdata;
        int r;

        (void)source, (void)fd;
        if (revents & EPOLLOUT)
                send_answers(all);
        if (!(revents & (EPOLLIN | EPOLLHUP | EPOLLERR)))
                return 0;
        r = hear(all);
        if (r == 0 || (r < 0 && r != -EAGAIN && r != -EMSGSIZE && r != -EBADMSG))
                return sd_event_exit(all->event, 0); /* PID 1 has closed */
        return on_turns(NULL, all);
}

/* ---- The whole ---- */

int requests_new(Requests **ret, sd_event *event, int socket, unsigned n_descriptors) {
        Requests *all = calloc(1, sizeof *all);
        if (!all)
                return -ENOMEM;
        all->event = sd_event_ref(event);
        all->socket = socket;
        unsigned n = n_descriptors > DESCRIPTORS_SPARED ? (n_descriptors - DESCRIPTORS_SPARED) / HTTP_DESCRIPTORS : 0;
        all->n_most = n < 1 ? 1 : n > REQUESTS_AT_ONCE ? REQUESTS_AT_ONCE : n;
        TAILQ_INIT(&all->waiting);
        TAILQ_INIT(&all->running);
        TAILQ_INIT(&all->answered);
        int r = http_new(&all->http, event, on_exchange_over, all);
        if (r >= 0)
                r = sd_event_add_io(event, &all->talk, socket, EPOLLIN, on_talk, all);
        if (r >= 0)
                r = sd_event_add_defer(event, &all->turns, on_turns, all);
        if (r >= 0)
                r = sd_event_source_set_enabled(all->turns, SD_EVENT_OFF);
        if (r < 0) {
                requests_free(all);
                return r;
        }
        *ret = all;
        return 0;
}

static void free_list(RequestList *list) {
        while (!TAILQ_EMPTY(list))
                request_free(TAILQ_FIRST(list));
}

Requests *requests_free(Requests *all) {
        if (!all)
                return NULL;
        free_list(&all->waiting);
        free_list(&all->running);
        free_list(&all->answered);
        sd_event_source_disable_unref(all->talk);
        sd_event_source_disable_unref(all->turns);
        http_free(all->http);
        sd_event_unref(all->event);
        free(all);
        return NULL;
}
