/* http_visits.c - what becomes of a request: an answer now, an answer later, or events for as long as the client stays.
 */
#include "base/clock.h"
#include "base/take.h"
#include "base/usec.h"
#include "gateway/http_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_SIZE   4096
#define POLICY_EMPTY "default-src 'none'; frame-ancestors 'none'"
#define PING         ": still here\n\n"

/* ---- Lists ---- */

static void join(VisitList *list, Visit *visit) {
        visit->before = NULL;
        visit->after = list->first;
        if (list->first)
                list->first->before = visit;
        list->first = visit;
        list->n++;
}

static void part(VisitList *list, Visit *visit) {
        if (visit->before)
                visit->before->after = visit->after;
        else
                list->first = visit->after;
        if (visit->after)
                visit->after->before = visit->before;
        visit->before = visit->after = NULL;
        list->n--;
}

static void resume(Visit *visit) {
        if (!visit->suspended)
                return;
        visit->suspended = false;
        MHD_resume_connection(visit->connection);
}

static void suspend(Visit *visit) {
        visit->suspended = true;
        MHD_suspend_connection(visit->connection);
}

/* ---- Answers ---- */

static void add_headers(struct MHD_Response *response, const HttpAnswer *answer) {
        const struct Header {
                const char *name, *value;
        } headers[] = {
                { MHD_HTTP_HEADER_CONTENT_TYPE, answer->type },
                { MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
                { "X-Content-Type-Options", "nosniff" },
                { "Referrer-Policy", "no-referrer" },
                { "Content-Security-Policy", answer->policy ? answer->policy : POLICY_EMPTY },
                { MHD_HTTP_HEADER_ALLOW, answer->status == MHD_HTTP_METHOD_NOT_ALLOWED ? "GET, HEAD" : NULL },
                { MHD_HTTP_HEADER_RETRY_AFTER, answer->retry ? "1" : NULL },
        };

        for (size_t i = 0; i < LENGTH_OF(headers); i++)
                if (headers[i].value)
                        (void)MHD_add_response_header(response, headers[i].name, headers[i].value);
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, HttpAnswer *answer) {
        struct MHD_Response *response =
                MHD_create_response_from_buffer(answer->length, answer->body, MHD_RESPMEM_MUST_FREE);

        if (!response) {
                free(answer->body);
                return MHD_NO; /* no memory: the connection is closed */
        }
        add_headers(response, answer);
        /* Who asks for readiness and hears no should not keep what he has open to one that goes. */
        if (answer->status == MHD_HTTP_SERVICE_UNAVAILABLE)
                (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
        enum MHD_Result result = MHD_queue_response(connection, answer->status, response);
        MHD_destroy_response(response);
        return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *text) {
        HttpAnswer answer = { .status = status, .type = "text/plain; charset=utf-8", .body = strdup(text) };

        answer.length = answer.body ? strlen(answer.body) : 0;
        return send_answer(connection, &answer);
}

/* ---- Events ---- */

static int next_message(Visit *visit) {
        char message[HTTP_MESSAGE_MAX];
        int n = visit->http->plan.next(visit->http->plan.userdata, &visit->since, message);

        if (n == 0 && clock_now_usec() >= visit->due_usec)
                n = snprintf(message, sizeof message, PING);
        if (n <= 0)
                return n;
        visit->message = malloc((size_t)n);
        if (!visit->message)
                return -1;
        memcpy(visit->message, message, (size_t)n);
        visit->length = (size_t)n;
        visit->sent = 0;
        visit->due_usec = usec_add(clock_now_usec(), HTTP_PING_USEC);
        return n;
}

/* As much of the messages as there is room for; a message may be cut anywhere, the rest follows. */
static ssize_t on_more(void *userdata, uint64_t position, char *buffer, size_t size) {
        Visit *visit = userdata;
        size_t filled = 0;

        (void)position;
        while (filled < size) {
                int n = visit->message ? 1 : next_message(visit);
                if (n < 0 && filled == 0)
                        return MHD_CONTENT_READER_END_OF_STREAM;
                if (n <= 0)
                        break;
                size_t part_length =
                        visit->length - visit->sent < size - filled ? visit->length - visit->sent : size - filled;
                memcpy(buffer + filled, visit->message + visit->sent, part_length);
                filled += part_length;
                visit->sent += part_length;
                if (visit->sent == visit->length) {
                        free(visit->message);
                        visit->message = NULL;
                }
        }
        if (filled == 0)
                suspend(visit);
        return (ssize_t)filled;
}

static enum MHD_Result follow(Visit *visit) {
        static const char first[] = "retry: 1000\n\n";
        const HttpAnswer headers = { .status = MHD_HTTP_OK, .type = "text/event-stream; charset=utf-8" };

        if (visit->http->following.n >= HTTP_FOLLOWERS)
                return send_text(visit->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many follow the events\n");
        struct MHD_Response *response =
                MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, on_more, visit, NULL);
        visit->message = strdup(first);
        if (!response || !visit->message)
                return MHD_NO;
        visit->length = sizeof first - 1;
        visit->state = VISIT_FOLLOWS;
        visit->due_usec = usec_add(clock_now_usec(), HTTP_PING_USEC);
        join(&visit->http->following, visit);
        add_headers(response, &headers);
        enum MHD_Result result = MHD_queue_response(visit->connection, MHD_HTTP_OK, response);
        MHD_destroy_response(response);
        return result;
}

void http_wake_followers(Http *http) {
        for (Visit *visit = http->following.first; visit; visit = visit->after)
                resume(visit);
        http_run(http);
}

/* ---- Requests ---- */

static bool read_number(const char *text, uint64_t *ret) {
        char *end;

        if (!text || *text < '0' || *text > '9')
                return false;
        errno = 0;
        unsigned long long value = strtoull(text, &end, 10);
        if (*end || errno != 0)
                return false;
        *ret = value;
        return true;
}

static HttpRequest read_request(const Visit *visit, const char *url) {
        struct MHD_Connection *connection = visit->connection;
        HttpRequest request = { .path = url, .ticket = visit->ticket };

        request.verbose =
                MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "verbose", 7, NULL, NULL) == MHD_YES;
        request.has_since =
                read_number(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID"),
                            &request.since) ||
                read_number(MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "since"), &request.since);
        request.overdue = visit->state == VISIT_WAITS && clock_now_usec() >= visit->due_usec;
        return request;
}

static enum MHD_Result wait_for_it(Visit *visit) {
        if (visit->state != VISIT_WAITS) {
                visit->state = VISIT_WAITS;
                visit->due_usec = usec_add(clock_now_usec(), HTTP_LATER_USEC);
                join(&visit->http->waiting, visit);
        }
        suspend(visit);
        return MHD_YES;
}

static enum MHD_Result answer(Visit *visit, const char *url) {
        HttpRequest request = read_request(visit, url);
        HttpAnswer what = { .status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8" };
        HttpDecision decision = visit->http->plan.ask(visit->http->plan.userdata, &request, &what);

        visit->ticket = request.ticket;
        if (decision == HTTP_LATER && !request.overdue)
                return wait_for_it(visit);
        if (visit->state == VISIT_WAITS) {
                part(&visit->http->waiting, visit);
                visit->state = VISIT_HEARD;
        }
        if (decision == HTTP_LATER)
                return send_text(visit->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "endwell does not answer\n");
        if (decision == HTTP_FOLLOW) {
                visit->since = request.since;
                return follow(visit);
        }
        return send_answer(visit->connection, &what);
}

static Visit *begin_visit(Http *http, struct MHD_Connection *connection) {
        Visit *visit = calloc(1, sizeof *visit);

        if (!visit)
                return NULL;
        visit->http = http;
        visit->connection = connection;
        guests_on_heard(http, connection, visit);
        return visit;
}

/* RFC 9112, 3.2. libmicrohttpd 0.9.75 can look for it, and then says its no twice. */
static bool lacks_host(struct MHD_Connection *connection, const char *version) {
        return strcmp(version, MHD_HTTP_VERSION_1_1) == 0 &&
               !MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
}

/* Called with the head, then with each piece of a body, then once more; and again after a suspension. */
enum MHD_Result visits_on_request(void *userdata, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload, size_t *upload_length,
                                  void **context) {
        Visit *visit = *context;

        (void)upload;
        if (!visit) {
                *context = begin_visit(userdata, connection);
                return *context ? MHD_YES : MHD_NO;
        }
        if (*upload_length > 0) {
                *upload_length = 0; /* nobody wants it */
                return MHD_YES;
        }
        visit->state = visit->state == VISIT_NEW ? VISIT_HEARD : visit->state;
        if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
                return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        if (lacks_host(connection, version))
                return send_text(connection, MHD_HTTP_BAD_REQUEST, "a request of HTTP/1.1 names a Host\n");
        return answer(visit, url);
}

void visits_on_completed(void *userdata, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code) {
        Http *http = userdata;
        Visit *visit = *context;

        (void)code;
        if (!visit)
                return;
        if (visit->state == VISIT_WAITS)
                part(&http->waiting, visit);
        if (visit->state == VISIT_FOLLOWS)
                part(&http->following, visit);
        guests_on_heard(http, connection, NULL);
        free(visit->message);
        free(visit);
        *context = NULL;
}

void visits_resume_all(Http *http) {
        for (Visit *visit = http->waiting.first; visit; visit = visit->after)
                resume(visit);
        for (Visit *visit = http->following.first; visit; visit = visit->after)
                resume(visit);
}

void http_wake_waiting(Http *http) {
        for (Visit *visit = http->waiting.first; visit; visit = visit->after)
                resume(visit);
        http_run(http);
}

void visits_on_clock(Http *http) {
        uint64_t now = clock_now_usec();

        for (Visit *visit = http->waiting.first; visit; visit = visit->after)
                if (now >= visit->due_usec)
                        resume(visit);
        for (Visit *visit = http->following.first; visit; visit = visit->after)
                if (now >= visit->due_usec)
                        resume(visit);
}
