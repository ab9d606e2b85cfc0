/* sink.c - see sink.h. */
#include "verify/sink.h"
#include "base/take.h"
#include "verify/digest.h"
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <string.h>

#define BODY_MAX ((size_t)64 * 1024) /* longer ones are recorded as their sum */

struct Sink {
        struct MHD_Daemon *daemon;
        Requests requests;
};

typedef struct Visit { /* one request that is on its way in */
        char *url;     /* as it was sent: two paths that differ in an escape are two */
        bool begun;
        char *body;
        size_t size;
        Digest *digest;
} Visit;

/* ---- One request ---- */

static void take_piece(Visit *visit, const char *piece, size_t size) {
        if (!visit->digest)
                visit->digest = digest_new();
        if (visit->digest)
                digest_add(visit->digest, piece, size);
        if (!visit->body)
                visit->body = malloc(BODY_MAX);
        if (visit->body && visit->size + size <= BODY_MAX)
                memcpy(visit->body + visit->size, piece, size);
        visit->size += size;
}

static void record(Sink *sink, struct MHD_Connection *connection, const char *method, Visit *visit) {
        const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
        const char *key = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Idempotency-Key");
        char sum[DIGEST_TEXT_MAX];
        bool whole = visit->size <= BODY_MAX;

        digest_end(TAKE(visit->digest), sum);
        (void)sink_requests_add(&sink->requests, method, visit->url, strcmp(method, "CONNECT") == 0 ? NULL : host, key,
                                whole ? visit->body : sum, whole ? visit->size : strlen(sum));
}

static enum MHD_Result reply(struct MHD_Connection *connection, const char *method) {
        const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
        bool json = accept && strstr(accept, "json"), refused = strcmp(method, "CONNECT") == 0;
        static char ok[] = "ok\n", ok_json[] = "{\"ok\":true}\n", no[] = "endwell verify cannot record https\n";
        char *text = refused ? no : json ? ok_json : ok;
        struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_PERSISTENT);

        if (!response)
                return MHD_NO;
        MHD_add_response_header(response, "Content-Type", json ? "application/json" : "text/plain");
        if (refused)
                MHD_add_response_header(response, "Connection", "close");
        enum MHD_Result r = MHD_queue_response(connection, refused ? 405 : 200, response);
        MHD_destroy_response(response);
        return r;
}

static enum MHD_Result on_request(void *userdata, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece, size_t *size,
                                  void **memory) {
        Visit *visit = *memory;

        (void)url;
        (void)version;
        if (!visit || !visit->url)
                return MHD_NO;
        if (!visit->begun) { /* only the head is there yet */
                visit->begun = true;
                return MHD_YES;
        }
        if (*size > 0) {
                take_piece(visit, piece, *size);
                *size = 0;
                return MHD_YES;
        }
        record(userdata, connection, method, visit);
        return reply(connection, method);
}

static void on_end(void *userdata, struct MHD_Connection *connection, void **memory,
                   enum MHD_RequestTerminationCode how) {
        Visit *visit = *memory;
        char unused[DIGEST_TEXT_MAX];

        (void)userdata;
        (void)connection;
        (void)how;
        if (!visit)
                return;
        if (visit->digest)
                digest_end(visit->digest, unused);
        free(visit->body);
        free(visit->url);
        free(TAKE(*memory));
}

static void *on_url(void *userdata, const char *url, struct MHD_Connection *connection) {
        Visit *visit = calloc(1, sizeof *visit);

        (void)userdata;
        (void)connection;
        if (visit)
                visit->url = strdup(url);
        return visit;
}

static size_t keep_escapes(void *userdata, struct MHD_Connection *connection, char *text) {
        (void)userdata;
        (void)connection;
        return strlen(text);
}

/* ---- The daemon ---- */

int sink_new(Sink **ret, int listener) {
        Sink *sink = calloc(1, sizeof *sink);

        if (!sink) {
                close_fd(listener);
                return -ENOMEM;
        }
        sink->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, sink, MHD_OPTION_LISTEN_SOCKET,
                                        (MHD_socket)listener, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL,
                                        MHD_OPTION_URI_LOG_CALLBACK, on_url, NULL, MHD_OPTION_UNESCAPE_CALLBACK,
                                        keep_escapes, NULL, MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_END);
        if (!sink->daemon) {
                close_fd(listener);
                free(sink);
                return -EIO;
        }
        *ret = sink;
        return 0;
}

Sink *sink_free(Sink *sink) {
        if (!sink)
                return NULL;
        MHD_stop_daemon(sink->daemon); /* closes the listener */
        sink_requests_done(&sink->requests);
        free(sink);
        return NULL;
}

int sink_descriptor(const Sink *sink) {
        return MHD_get_daemon_info(sink->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

int sink_wait_msec(const Sink *sink) {
        MHD_UNSIGNED_LONG_LONG msec;

        if (MHD_get_timeout(sink->daemon, &msec) != MHD_YES)
                return -1;
        return msec > INT_MAX ? INT_MAX : (int)msec;
}

void sink_serve(Sink *sink) {
        MHD_run(sink->daemon);
}

const Requests *sink_requests(const Sink *sink) {
        return &sink->requests;
}
