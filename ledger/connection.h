/* connection.h - a connection to PostgreSQL in an event loop: keeps it up, sends statements, hands back their answers.
 *
 * Never blocks and never prints. Each statement has its deadline: a server that is frozen or cut off is found out by
 * it, and the connection dropped; statement_timeout is set besides where the server itself and no pooler is at the
 * other end. A statement in flight when the connection ends is answered SQL_LOST: nobody knows whether it was done.
 * Nothing is repeated, and nothing is queued while it is down. UP means that the server itself has answered: a pooler
 * also accepts connections to servers that are not there. */
#pragma once
#include "base/usec.h"
#include "ledger/pq.h"
#include <systemd/sd-event.h>

typedef struct Connection Connection;

typedef enum ConnectionState {
        CONNECTION_STATE_CONNECTING,
        CONNECTION_STATE_UP,
        CONNECTION_STATE_DOWN
} ConnectionState;

typedef struct ConnectionChange {
        ConnectionState state;
        SqlAnswer answer;  /* of DOWN: of which kind the end was */
        const char *why;   /* of DOWN: a sentence, without a secret, for this call only */
        unsigned failures; /* of DOWN: in a row; one that was up for the longest wait begins anew */
        usec_t retry_usec; /* of DOWN: from now to the next attempt; USEC_INFINITY: closed for good */
} ConnectionChange;

typedef struct ConnectionOptions {
        PqOpening opening;                                   /* texts are copied */
        usec_t connect_timeout_usec, statement_timeout_usec; /* 0: 5 s, none */
        usec_t retry_first_usec, retry_most_usec; /* 0: 100 ms, 5 s; doubled each time, half of it by chance */
        void (*on_state)(const ConnectionChange *change, void *userdata);
        void (*on_notification)(const char *channel, const char *payload, void *userdata); /* may be NULL */
        void *userdata;
} ConnectionOptions;

typedef struct Statement {
        const char *sql;           /* one statement with $1 … */
        const char *const *values; /* as text; NULL is null */
        size_t n_values;
        usec_t timeout_usec; /* from now; 0: 30 s */
        void (*done)(PqReply *reply, void *userdata);
        void *userdata;
} Statement;

/* Connects from within the loop. -EINVAL: the URL cannot be read (pq_place() says why); -ENOMEM. */
int connection_new(Connection **ret, sd_event *event, const ConnectionOptions *options);
/* Callbacks are not called any more. Not from within one of them: connection_close() there. */
Connection *connection_free(Connection *connection);
void connection_freep(Connection **connection);
/* For good: what is in flight is answered SQL_LOST, on_state hears DOWN. */
void connection_close(Connection *connection);

ConnectionState connection_state(const Connection *connection);
bool connection_is_pooled(const Connection *connection);     /* a pooler is between: no session state, no LISTEN */
int connection_server_version(const Connection *connection); /* 150020; 0 when not up */
size_t connection_in_flight(const Connection *connection);

/* Pipelined: sent at once, answered in order. 0; -ENOTCONN: not up, nothing was sent and `done` will not be called;
 * -EBUSY: a script runs; -ENOMEM. LISTEN is an ordinary statement, to be sent again after each UP. */
int connection_send(Connection *connection, const Statement *statement);
/* Several statements in one text, without values, one transaction unless they say otherwise; the rows are the last
 * one's. -EBUSY while anything is in flight. */
int connection_send_script(Connection *connection, const Statement *statement);
