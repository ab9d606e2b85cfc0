/* pq.h - libpq: one connection to PostgreSQL, taken step by step, so that it never blocks.
 *
 * Knows no event loop, no deadline and no second attempt: those are connection.c's, the only user of the upper half.
 * Only pq.c and pq_url.c include libpq-fe.h. Never prints: what the server says beside its answers is swallowed. No
 * text that comes from here contains the password. Not covered: libpq resolves names inside pq_begin(); use an address
 * where that matters. */
#pragma once
#include "ledger/place.h"
#include "ledger/server_words.h"
#include "ledger/sqlstate.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Pq Pq;
typedef struct PqRows PqRows; /* the rows of one answer */

typedef struct PqOpening {
        const char *url;         /* a URI or keywords; NULL: libpq's own PG* */
        const char *application; /* application_name, unless the URL has its own */
        bool read_only_will_do;  /* else target_session_attrs=read-write, unless the user chose */
} PqOpening;

typedef struct PqReply {
        SqlAnswer answer;
        PqRows *rows;                 /* of SQL_DONE; TAKE() it to keep it */
        char state[SERVER_STATE_MAX]; /* SQLSTATE, "" when there is none */
        char why[SERVER_WORDS_MAX];   /* a sentence when the answer is not SQL_DONE, else "" */
} PqReply;

typedef enum PqStep { PQ_STEP_READ, PQ_STEP_WRITE, PQ_STEP_OPEN, PQ_STEP_FAILED } PqStep;

/* ---- For connection.c ---- */

int pq_begin(Pq **ret, const PqOpening *opening); /* 0, then wait to write and pq_poll(); or -ENOMEM */
/* What to wait for on pq_descriptor(). It may have become another file under the same number: watch it anew. */
PqStep pq_poll(Pq *pq);
int pq_descriptor(const Pq *pq);
int pq_server_version(const Pq *pq);
int pq_backend_pid(const Pq *pq);
/* Why it failed or ended, and its code. */
SqlAnswer pq_complaint(const Pq *pq, char ret_why[static SERVER_WORDS_MAX]);
Pq *pq_free(Pq *pq); /* says good-bye without waiting */

/* Of an open connection. 0, or -ENOTCONN: it is broken. */
int pq_send(Pq *pq, const char *sql, const char *const *values, size_t n_values);
int pq_send_script(Pq *pq, const char *sql); /* only when nothing is in flight, and nothing more until it is answered */
int pq_flush(Pq *pq);                        /* 1: wait until it can be written to, and again */
int pq_read(Pq *pq);                         /* after -ENOTCONN there may still be replies to take */
/* 1: the oldest statement's reply, whole and committed; free its rows. 0: not yet. -ENOTCONN. */
int pq_take_reply(Pq *pq, PqReply *ret);
/* 1: one notification; the texts are good until the next call. 0: none. */
int pq_take_notification(Pq *pq, const char **ret_channel, const char **ret_payload);

/* ---- For everybody ---- */

size_t pq_rows_count(const PqRows *rows);                                /* NULL: 0 */
const char *pq_rows_text(const PqRows *rows, size_t row, size_t column); /* NULL: null, or not there */
int64_t pq_rows_int64(const PqRows *rows, size_t row, size_t column);    /* 0 when null */
bool pq_rows_bool(const PqRows *rows, size_t row, size_t column);        /* false when null */
PqRows *pq_rows_free(PqRows *rows);
void pq_rows_freep(PqRows **rows);

/* Where a URL (NULL: PG*) leads, fit to be shown (ledger/place.h). 0; or -EINVAL and a sentence that says what is wrong
 * without a word of the URL, for libpq's own would show the password. */
int pq_place(const char *url, char ret_text[static PLACE_MAX]);
