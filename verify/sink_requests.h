/* sink_requests.h - the HTTP requests that a world's sink got, and which of them count.
 *
 * Pure but for malloc. GET, HEAD and OPTIONS change nothing and do not count. PUT, DELETE, CONNECT (which is refused),
 * and what has an Idempotency-Key count once each: saying them again says nothing new. Everything else counts as often
 * as it came. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Requests { /* all zero: none */
        char **lines;     /* sorted */
        size_t n_lines;
        uint64_t seen; /* all that may change something, also those that count once */
} Requests;

/* `url` is the path, or the absolute form that a proxy is given; `host` (may be NULL) is the header's. 0 or -ENOMEM. */
int sink_requests_add(Requests *requests, const char *method, const char *url, const char *host, const char *key,
                      const char *body, size_t body_size);
void sink_requests_done(Requests *requests);
