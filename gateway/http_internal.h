/* http_internal.h - what the files of http share: the daemon, its guests, what a request is about. */
#pragma once
#include "gateway/http.h"
#include <microhttpd.h>

typedef struct Guest Guest;
typedef struct Visit Visit;

/* A connection. Those that have asked nothing for longest stand first. */
struct Guest {
        Guest *before, *after;
        int fd;
        bool leaving; /* was shut, and is not counted any more */
        Visit *visit; /* NULL: it is between two requests, or in one's head */
};

typedef struct GuestList {
        Guest *first, *last;
        size_t n; /* those that stay */
} GuestList;

/* A request that is being answered. */
struct Visit {
        Http *http;
        struct MHD_Connection *connection;
        Visit *before, *after; /* among those that wait, or follow */
        enum { VISIT_NEW, VISIT_HEARD, VISIT_WAITS, VISIT_FOLLOWS } state;
        bool suspended;
        uint64_t due_usec; /* of one that waits; of a follower: the next ping */
        uint64_t since, ticket;
        char *message; /* of a follower, what is left of it */
        size_t length, sent;
};

typedef struct VisitList {
        Visit *first;
        size_t n;
} VisitList;

struct Http {
        sd_event *event;
        HttpPlan plan;
        size_t places;
        struct MHD_Daemon *daemon;
        sd_event_source *source, *timer, *clock; /* the clock: of those that wait and follow */
        GuestList guests;
        VisitList waiting, following;
};

/* http_guests.c */
void guests_make_room(Http *http);
void guests_on_notify(void *userdata, struct MHD_Connection *connection, void **context,
                      enum MHD_ConnectionNotificationCode code);
void guests_on_heard(Http *http, struct MHD_Connection *connection, Visit *visit);

/* http_visits.c */
enum MHD_Result visits_on_request(void *userdata, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload, size_t *upload_length,
                                  void **context);
void visits_on_completed(void *userdata, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code);
void visits_resume_all(Http *http);
void visits_on_clock(Http *http); /* who waits too long, and who is to be pinged */

/* http.c */
void http_run(Http *http);
