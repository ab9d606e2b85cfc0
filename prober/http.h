/* http.h - asks by HTTP, with libcurl, and says what was answered.
 *
 * A check is judged by its status (200 to 399 is good, a redirect is not followed) as soon as the headers are there;
 * the rest of the answer is read in passing, so that the server can finish its sentence, and cut after HTTP_BODY_MAX.
 * A hook is over when the answer is there to its end, and 200 to 299 is good. A check goes by http to an address or
 * localhost and looks no name up; a hook may also go by https and to a name. Each goes over a connection of its own,
 * with no proxy, no cookie, no password file. No URL is ever printed. Source: libcurl-multi(3), RFC 9110. */
#pragma once
#include "base/usec.h"
#include "prober/finding.h"
#include <stdbool.h>
#include <systemd/sd-event.h>

#define HTTP_BODY_MAX    (16 * 1024) /* of a check */
#define HTTP_HEADERS_MAX (64 * 1024)
#define HTTP_DESCRIPTORS 4 /* one exchange at most: two families at once, and the resolver's pair */

typedef struct Http Http;
typedef struct HttpExchange HttpExchange;

typedef struct HttpRequest {
        const char *method, *url;
        bool hook;
        usec_t timeout_usec; /* the caller cancels by then; the rest of an answer is read a little longer */
        void (*answered)(void *userdata, Finding finding, const char *detail);
        void *userdata; /* not touched after the answer */
} HttpRequest;

/* `over`: an exchange has ended, and room for another is there; also after the answer was given. Not when cancelled. */
int http_new(Http **ret, sd_event *event, void (*over)(void *userdata), void *userdata);
Http *http_free(Http *http);
/* 0: `answered` is called later; -EINVAL: no URL that may be asked; -ENOMEM. */
int http_begin(Http *http, const HttpRequest *request, HttpExchange **ret);
/* Of one that has not been answered. */
void http_cancel(HttpExchange *exchange);
