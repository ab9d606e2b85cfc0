/* http.h - answers HTTP on connections that it is given: which ones, how many and for how long is decided here, what is
 * said by its holder.
 *
 * Only GET and HEAD, and no path is a file's. A connection that has been let in may be closed again when others come
 * and all places are taken: the one that has asked nothing for longest goes first, so that a probe is always answered.
 * Never blocks. The only place that knows libmicrohttpd. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define HTTP_PLACES      512               /* connections at once, where so many descriptors may be open */
#define HTTP_FOLLOWERS   32                /* of them those that follow the events */
#define HTTP_IDLE_SEC    10                /* without a word from a client */
#define HTTP_LATER_USEC  UINT64_C(2000000) /* an answer that was put off comes by then, as it may */
#define HTTP_MESSAGE_MAX 8192              /* of one event with what stands around it */
#define HTTP_PING_USEC   UINT64_C(15000000)

typedef struct HttpRequest {
        const char *path; /* unescaped */
        bool verbose;     /* ?verbose */
        bool has_since;
        uint64_t since;  /* of ?since=, or Last-Event-ID */
        bool overdue;    /* it was put off, and its time is up */
        uint64_t ticket; /* of whom was put off: what his holder has put in */
} HttpRequest;

typedef struct HttpAnswer {
        unsigned status;
        const char *type; /* of the content */
        char *body;       /* malloc's; taken */
        size_t length;
        const char *policy; /* Content-Security-Policy; NULL: none may do anything */
        bool retry;         /* say when to come again */
} HttpAnswer;

typedef enum HttpDecision {
        HTTP_ANSWERED, /* in *ret */
        HTTP_LATER,    /* not yet: asked again at http_wake_waiting() */
        HTTP_FOLLOW,   /* sends events from `since` on, for ever */
} HttpDecision;

typedef struct HttpPlan {
        HttpDecision (*ask)(void *userdata, HttpRequest *request, HttpAnswer *ret);
        /* The first message behind *since, which moves on: its length; 0: none yet; -1: there will be none. */
        int (*next)(void *userdata, uint64_t *since, char ret_message[static HTTP_MESSAGE_MAX]);
        void *userdata;
} HttpPlan;

typedef struct Http Http;

int http_new(Http **ret, sd_event *event, unsigned descriptors, const HttpPlan *plan);
Http *http_free(Http *http);
void http_let_in(Http *http, int fd, const void *address, size_t length); /* takes the descriptor */
void http_wake_waiting(Http *http);
void http_wake_followers(Http *http);
size_t http_followers(const Http *http);
