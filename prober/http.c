/* http.c - libcurl's multi interface on sd-event, and what its answers mean. */
#include "prober/http.h"
#include "base/clock.h"
#include "prober/http_options.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#define PRIORITY_TIMEOUT 5 /* what has arrived is read before anything is called late */

struct HttpExchange {
        Http *http;
        HttpExchange *next, **link;
        CURL *easy;
        struct curl_slist *headers;
        bool hook, answered, too_long, has_headers;
        size_t header_bytes, body_bytes;
        void (*tell)(void *userdata, Finding finding, const char *detail);
        void *userdata;
};

struct Http {
        sd_event *event;
        sd_event_source *timer;
        CURLM *multi;
        HttpExchange *exchanges;
        void (*over)(void *userdata);
        void *userdata;
};

/* ---- What it means ---- */

static void tell(HttpExchange *exchange, Finding finding, const char *detail) {
        if (exchange->answered)
                return;
        exchange->answered = true;
        exchange->tell(exchange->userdata, finding, detail);
}

static void tell_status(HttpExchange *exchange, long status) {
        char detail[FINDING_DETAIL_MAX];
        bool good = status >= 200 && status < (exchange->hook ? 300 : 400);

        snprintf(detail, sizeof detail, "HTTP %ld", status);
        tell(exchange, good ? FINDING_SUCCEEDED : FINDING_FAILED, detail);
}

static void tell_error_of_system(HttpExchange *exchange, CURLcode code) {
        char detail[FINDING_DETAIL_MAX];
        long error = 0;

        (void)curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &error);
        if (error == 0)
                tell(exchange, FINDING_FAILED, curl_easy_strerror(code));
        else
                tell(exchange, finding_of_error((int)error, detail), detail);
}

/* Texts of our own: libcurl's name hosts and parts of the URL. */
static void tell_error(HttpExchange *exchange, CURLcode code) {
        switch ((int)code) {
        case CURLE_COULDNT_CONNECT:
        case CURLE_SEND_ERROR:
        case CURLE_RECV_ERROR: tell_error_of_system(exchange, code); break;
        case CURLE_OPERATION_TIMEDOUT: tell(exchange, FINDING_FAILED, "timed out"); break;
        case CURLE_COULDNT_RESOLVE_HOST: tell(exchange, FINDING_FAILED, "the name could not be resolved"); break;
        case CURLE_GOT_NOTHING: tell(exchange, FINDING_FAILED, "closed without an answer"); break;
        case CURLE_PARTIAL_FILE: tell(exchange, FINDING_FAILED, "closed before the end of the answer"); break;
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_WEIRD_SERVER_REPLY: tell(exchange, FINDING_FAILED, "the answer is not HTTP"); break;
        case CURLE_PEER_FAILED_VERIFICATION:
                tell(exchange, FINDING_FAILED, "the certificate could not be verified");
                break;
        case CURLE_OUT_OF_MEMORY:
        case CURLE_FAILED_INIT: tell(exchange, FINDING_UNKNOWN, "could not look: out of memory"); break;
        default: tell(exchange, FINDING_FAILED, curl_easy_strerror(code)); break;
        }
}

/* A line beyond its own limit libcurl calls a want of memory. */
static bool has_too_long_a_line(const HttpExchange *exchange, CURLcode code) {
        long sent = 0;
        return code == CURLE_OUT_OF_MEMORY && !exchange->has_headers &&
               curl_easy_getinfo(exchange->easy, CURLINFO_REQUEST_SIZE, &sent) == CURLE_OK && sent > 0;
}

static void judge(HttpExchange *exchange, CURLcode code) {
        long status = 0;

        if (exchange->too_long || has_too_long_a_line(exchange, code))
                tell(exchange, FINDING_FAILED, "the headers are too long");
        else if (code != CURLE_OK)
                tell_error(exchange, code);
        else if (!exchange->has_headers) /* libcurl forgives it */
                tell_error(exchange, CURLE_PARTIAL_FILE);
        else if (curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK)
                tell_status(exchange, status);
}

/* Each line by itself; an empty one ends the headers, also those of a 100 Continue, which is no answer. */
static size_t on_header(char *line, size_t one, size_t size, void *userdata) {
        HttpExchange *exchange = userdata;
        long status = 0;

        (void)one;
        exchange->header_bytes += size;
        exchange->too_long = exchange->header_bytes > HTTP_HEADERS_MAX;
        if (exchange->too_long)
                return 0;
        bool is_last = *line == '\r' || *line == '\n';
        if (is_last && curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
            status >= 200) {
                exchange->has_headers = true;
                if (!exchange->hook)
                        tell_status(exchange, status);
        }
        return size;
}

static size_t on_body(char *bytes, size_t one, size_t size, void *userdata) {
        HttpExchange *exchange = userdata;

        (void)bytes, (void)one;
        exchange->body_bytes += size;
        return !exchange->hook && exchange->body_bytes > HTTP_BODY_MAX ? 0 : size;
}

/* ---- Its life ---- */

static void drop(HttpExchange *exchange) {
        if (exchange->link) {
                (void)curl_multi_remove_handle(exchange->http->multi, exchange->easy);
                *exchange->link = exchange->next;
                if (exchange->next)
                        exchange->next->link = exchange->link;
        }
        curl_easy_cleanup(exchange->easy);
        curl_slist_free_all(exchange->headers);
        free(exchange);
}

void http_cancel(HttpExchange *exchange) {
        drop(exchange);
}

static void collect(Http *http) {
        CURLMsg *message;
        int left;

        while ((message = curl_multi_info_read(http->multi, &left))) {
                HttpExchange *exchange = NULL;
                if (message->msg != CURLMSG_DONE)
                        continue;
                CURLcode code = message->data.result; /* the message goes with its handle */
                (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&exchange);
                judge(exchange, code);
                drop(exchange);
                http->over(http->userdata);
        }
}

static void act(Http *http, curl_socket_t fd, int events) {
        int running;
        (void)curl_multi_socket_action(http->multi, fd, events, &running);
        collect(http);
}

static int on_socket(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        int events = 0;

        (void)source;
        if (revents & EPOLLIN)
                events |= CURL_CSELECT_IN;
        if (revents & EPOLLOUT)
                events |= CURL_CSELECT_OUT;
        if (revents & (EPOLLERR | EPOLLHUP))
                events |= CURL_CSELECT_ERR;
        act(userdata, fd, events);
        return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        (void)source, (void)usec;
        act(userdata, CURL_SOCKET_TIMEOUT, 0);
        return 0;
}

static uint32_t epoll_events(int what) {
        return (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);
}

/* libcurl: what it wants to hear of a socket. What cannot be watched is not answered, and so ends at its limit. */
static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *userdata, void *of_socket) {
        Http *http = userdata;
        sd_event_source *source = of_socket;

        (void)easy;
        if (what == CURL_POLL_REMOVE) {
                sd_event_source_disable_unref(source);
                (void)curl_multi_assign(http->multi, fd, NULL);
        } else if (source) {
                (void)sd_event_source_set_io_events(source, epoll_events(what));
        } else if (sd_event_add_io(http->event, &source, fd, epoll_events(what), on_socket, http) >= 0) {
                (void)curl_multi_assign(http->multi, fd, source);
        }
        return 0;
}

static int set_timer(CURLM *multi, long msec, void *userdata) {
        Http *http = userdata;

        (void)multi;
        if (msec < 0)
                return sd_event_source_set_enabled(http->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
        usec_t due = usec_add(clock_now_usec(), (usec_t)msec * USEC_PER_MSEC);
        return sd_event_source_set_time(http->timer, due) < 0 ||
                               sd_event_source_set_enabled(http->timer, SD_EVENT_ONESHOT) < 0
                       ? -1
                       : 0;
}

/* ---- What is asked ---- */

static CURLcode set_handlers(HttpExchange *exchange) {
        CURL *easy = exchange->easy;
        CURLcode code = curl_easy_setopt(easy, CURLOPT_PRIVATE, (char *)exchange);

        if (code == CURLE_OK)
                code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
        if (code == CURLE_OK)
                code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
        if (code == CURLE_OK)
                code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
        return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange) : code;
}

static int join(Http *http, HttpExchange *exchange) {
        if (curl_multi_add_handle(http->multi, exchange->easy) != CURLM_OK)
                return -ENOMEM;
        exchange->next = http->exchanges;
        exchange->link = &http->exchanges;
        if (exchange->next)
                exchange->next->link = &exchange->next;
        http->exchanges = exchange;
        return 0;
}

int http_begin(Http *http, const HttpRequest *request, HttpExchange **ret) {
        if (!http_url_is_allowed(request->url, request->hook))
                return -EINVAL;
        HttpExchange *exchange = calloc(1, sizeof *exchange);
        if (!exchange)
                return -ENOMEM;
        *exchange = (HttpExchange){ .http = http,
                                    .hook = request->hook,
                                    .tell = request->answered,
                                    .userdata = request->userdata,
                                    .easy = curl_easy_init() };
        int r = exchange->easy ? http_options_set(exchange->easy, request, &exchange->headers) : -ENOMEM;
        if (r >= 0)
                r = set_handlers(exchange) == CURLE_OK ? join(http, exchange) : -ENOMEM;
        if (r < 0)
                drop(exchange);
        else
                *ret = exchange;
        return r;
}

/* ---- The whole ---- */

static int set_up_multi(Http *http) {
        if (curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, watch_socket) != CURLM_OK ||
            curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http) != CURLM_OK ||
            curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, set_timer) != CURLM_OK ||
            curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http) != CURLM_OK)
                return -ENOMEM;
        return 0;
}

int http_new(Http **ret, sd_event *event, void (*over)(void *userdata), void *userdata) {
        if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
                return -ENOMEM;
        Http *http = calloc(1, sizeof *http);
        if (!http)
                return -ENOMEM;
        *http = (Http){ .event = sd_event_ref(event), .over = over, .userdata = userdata, .multi = curl_multi_init() };
        int r = http->multi ? sd_event_add_time(event, &http->timer, CLOCK_MONOTONIC, 0, 1, on_timer, http) : -ENOMEM;
        if (r >= 0)
                r = sd_event_source_set_enabled(http->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_priority(http->timer, PRIORITY_TIMEOUT);
        if (r >= 0)
                r = set_up_multi(http);
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
        while (http->exchanges)
                drop(http->exchanges);
        curl_multi_cleanup(http->multi);
        sd_event_source_disable_unref(http->timer);
        sd_event_unref(http->event);
        free(http);
        return NULL;
}
