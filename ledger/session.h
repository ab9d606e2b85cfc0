/* session.h - a connection for a program that has nothing else to do: asks, and waits for the answer.
 *
 * Waits in the event loop, so that every deadline of the connection counts. Once it was up and then was lost it stays
 * lost: a transaction must not go on, on another connection, without its beginning. */
#pragma once
#include "base/usec.h"
#include "ledger/database.h"
#include "ledger/pq.h"

typedef struct Session Session;

typedef struct SessionOptions {
        const char *application;
        bool read_only_will_do;
        usec_t wait_usec; /* how long to go on trying to connect; 0: one attempt */
        /* Each attempt that failed and will be repeated; may be NULL. */
        void (*on_wait)(const char *why, usec_t retry_usec);
} SessionOptions;

/* 0; -ENOTCONN and why; -ENOMEM or another -errno of the loop. */
int session_open(Session **ret, const Database *database, const SessionOptions *options,
                 char ret_why[static SERVER_WORDS_MAX]);
Session *session_free(Session *session);
void session_freep(Session **session);
int session_server_version(const Session *session);
const char *session_schema(const Session *session);

/* One statement with the schema's placeholder in it; free the rows of the reply. It is filled in any case. */
SqlAnswer session_ask(Session *session, const char *sql, const char *const *values, size_t n_values,
                      usec_t timeout_usec, PqReply *ret);
/* Several statements in one text, `schema` (NULL: the database's) in place of the placeholder. */
SqlAnswer session_script(Session *session, const char *sql, const char *schema, usec_t timeout_usec, PqReply *ret);
