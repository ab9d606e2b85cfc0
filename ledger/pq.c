/* pq.c - libpq: one connection to PostgreSQL, taken step by step; the only file that knows libpq. */
#include "ledger/pq.h"
#include "base/take.h"
#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#define NOTHING_MAX 3 /* "no result" in a row that a pipeline may answer between two statements */

struct Pq {
        PGconn *conn;
        PGresult *result; /* of the oldest statement, so far; an error stays */
        PGnotify *notify; /* whose texts somebody reads */
        size_t n_in_flight;
        bool script;
        char words[SERVER_WORDS_MAX], state[SERVER_STATE_MAX]; /* of a server that threw us out */
};

/* ---- Beginning and end ---- */

/* The server's last words before it hangs up come as a notice while nothing is in flight. */
static void on_notice(void *userdata, const PGresult *result) {
        Pq *pq = userdata;
        const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

        if (!severity || strcmp(severity, "FATAL") != 0)
                return;
        server_words(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), PQpass(pq->conn), pq->words);
        snprintf(pq->state, sizeof pq->state, "%s", state ? state : "");
}

/* The user's own words, in the URL, stand behind ours and win. A link that was cut is noticed by the kernel: while
 * something is on its way by tcp_user_timeout, while nothing is by the keepalives. */
static PGconn *start(const PqOpening *opening) {
        bool attrs = !opening->read_only_will_do && !getenv("PGTARGETSESSIONATTRS");
        const char *const keywords[] = {
                "keepalives_idle",           "keepalives_interval",  "keepalives_count", "tcp_user_timeout",
                "fallback_application_name", "target_session_attrs", "dbname",           NULL
        };
        const char *const values[] = {
                "10", "5", "3", "10000", opening->application, attrs ? "read-write" : NULL, opening->url, NULL
        };
        return PQconnectStartParams(keywords, values, 1);
}

int pq_begin(Pq **ret, const PqOpening *opening) {
        Pq *pq = calloc(1, sizeof *pq);

        if (pq)
                pq->conn = start(opening);
        if (!pq || !pq->conn) {
                free(pq);
                return -ENOMEM;
        }
        PQsetNoticeReceiver(pq->conn, on_notice, pq);
        PQsetErrorVerbosity(pq->conn, PQERRORS_VERBOSE); /* only so does a refusal have its code */
        *ret = pq;
        return 0;
}

PqStep pq_poll(Pq *pq) {
        if (PQstatus(pq->conn) == CONNECTION_BAD)
                return PQ_STEP_FAILED;
        switch (PQconnectPoll(pq->conn)) {
        case PGRES_POLLING_READING: return PQ_STEP_READ;
        case PGRES_POLLING_WRITING: return PQ_STEP_WRITE;
        case PGRES_POLLING_OK: break;
        case PGRES_POLLING_FAILED:
        case PGRES_POLLING_ACTIVE: return PQ_STEP_FAILED;
        }
        if (PQsetnonblocking(pq->conn, 1) != 0 || PQenterPipelineMode(pq->conn) != 1)
                return PQ_STEP_FAILED;
        return PQ_STEP_OPEN;
}

int pq_descriptor(const Pq *pq) {
        return PQsocket(pq->conn);
}

int pq_server_version(const Pq *pq) {
        return PQserverVersion(pq->conn);
}

int pq_backend_pid(const Pq *pq) {
        return PQbackendPID(pq->conn);
}

SqlAnswer pq_complaint(const Pq *pq, char ret_why[static SERVER_WORDS_MAX]) {
        char state[SERVER_STATE_MAX];

        if (pq->words[0] && pq->state[0]) {
                strcpy(ret_why, pq->words);
                return sqlstate_answer(pq->state);
        }
        server_words(PQerrorMessage(pq->conn), PQpass(pq->conn), ret_why);
        server_words_take_state(ret_why, state);
        if (!ret_why[0])
                strcpy(ret_why, "the connection ended");
        return state[0] ? sqlstate_answer(state) : SQL_LOST;
}

Pq *pq_free(Pq *pq) {
        if (!pq)
                return NULL;
        PQclear(pq->result);
        PQfreemem(pq->notify);
        PQfinish(pq->conn);
        free(pq);
        return NULL;
}

/* ---- Statements ---- */

static int sent(Pq *pq, int ok) {
        if (ok != 1)
                return -ENOTCONN;
        pq->n_in_flight++;
        return 0;
}

int pq_send(Pq *pq, const char *sql, const char *const *values, size_t n_values) {
        int ok = PQsendQueryParams(pq->conn, sql, (int)n_values, NULL, values, NULL, NULL, 0);

        return sent(pq, ok == 1 ? PQpipelineSync(pq->conn) : 0);
}

/* Several statements in one text are not of the extended protocol, so the pipeline is left for as long. */
int pq_send_script(Pq *pq, const char *sql) {
        pq->script = true;
        return sent(pq, PQexitPipelineMode(pq->conn) == 1 ? PQsendQuery(pq->conn, sql) : 0);
}

int pq_flush(Pq *pq) {
        int r = PQflush(pq->conn);
        return r < 0 ? -ENOTCONN : r;
}

int pq_read(Pq *pq) {
        return PQconsumeInput(pq->conn) == 1 ? 0 : -ENOTCONN;
}

static bool is_error(const PGresult *result) {
        ExecStatusType status = PQresultStatus(result);
        return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY;
}

static void keep(Pq *pq, PGresult *result) {
        if (pq->result && is_error(pq->result)) {
                PQclear(result);
                return;
        }
        PQclear(pq->result);
        pq->result = result;
}

static void make_reply(Pq *pq, PqReply *ret) {
        PGresult *result = TAKE(pq->result);

        pq->n_in_flight--;
        *ret = (PqReply){ .answer = SQL_DONE };
        if (result && !is_error(result)) {
                if (PQresultStatus(result) == PGRES_TUPLES_OK)
                        ret->rows = (PqRows *)result;
                else /* nothing to read, nothing for the asker to free */
                        PQclear(result);
                return;
        }
        const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        ret->answer = sqlstate_answer(code);
        snprintf(ret->state, sizeof ret->state, "%s", code ? code : "");
        server_words(message ? message : "the answer could not be read", PQpass(pq->conn), ret->why);
        PQclear(result);
}

/* NULL only separates: a statement of a pipeline is over, and committed, at PGRES_PIPELINE_SYNC, a script at NULL. A
 * connection that ended answers NULL for ever. */
int pq_take_reply(Pq *pq, PqReply *ret) {
        for (unsigned n_nothing = 0; pq->n_in_flight > 0 && !PQisBusy(pq->conn);) {
                PGresult *result = PQgetResult(pq->conn);
                bool over = result ? PQresultStatus(result) == PGRES_PIPELINE_SYNC : pq->script;

                if (!result && (PQstatus(pq->conn) != CONNECTION_OK || ++n_nothing > NOTHING_MAX))
                        return -ENOTCONN;
                if (over && pq->script && PQenterPipelineMode(pq->conn) != 1)
                        return -ENOTCONN;
                if (over) {
                        PQclear(result);
                        pq->script = false;
                        make_reply(pq, ret);
                        return 1;
                }
                if (result)
                        keep(pq, result);
        }
        return 0;
}

int pq_take_notification(Pq *pq, const char **ret_channel, const char **ret_payload) {
        PQfreemem(pq->notify);
        pq->notify = PQnotifies(pq->conn);
        if (!pq->notify)
                return 0;
        *ret_channel = pq->notify->relname;
        *ret_payload = pq->notify->extra;
        return 1;
}

/* ---- Rows ---- */

static const PGresult *result_of(const PqRows *rows) {
        return (const PGresult *)rows;
}

size_t pq_rows_count(const PqRows *rows) {
        return rows ? (size_t)PQntuples(result_of(rows)) : 0;
}

const char *pq_rows_text(const PqRows *rows, size_t row, size_t column) {
        if (row >= pq_rows_count(rows) || column >= (size_t)PQnfields(result_of(rows)))
                return NULL;
        if (PQgetisnull(result_of(rows), (int)row, (int)column))
                return NULL;
        return PQgetvalue(result_of(rows), (int)row, (int)column);
}

int64_t pq_rows_int64(const PqRows *rows, size_t row, size_t column) {
        const char *text = pq_rows_text(rows, row, column);
        return text ? strtoll(text, NULL, 10) : 0;
}

bool pq_rows_bool(const PqRows *rows, size_t row, size_t column) {
        const char *text = pq_rows_text(rows, row, column);
        return text && text[0] == 't';
}

PqRows *pq_rows_free(PqRows *rows) {
        PQclear((PGresult *)rows);
        return NULL;
}

void pq_rows_freep(PqRows **rows) {
        *rows = pq_rows_free(*rows);
}

/* ---- Where it is ---- */

static const char *option(const PQconninfoOption *options, const char *keyword) {
        for (; options && options->keyword; options++)
                if (strcmp(options->keyword, keyword) == 0)
                        return options->val;
        return NULL;
}

static const char *either(const PQconninfoOption *said, const PQconninfoOption *defaults, const char *keyword) {
        const char *value = option(said, keyword);
        return value ? value : option(defaults, keyword);
}

int pq_place(const char *url, char ret_text[static PLACE_MAX]) {
        char *libpq_words = NULL; /* never shown */
        PQconninfoOption *said = PQconninfoParse(url ? url : "", &libpq_words);

        PQfreemem(libpq_words);
        if (!said) {
                place_explain(url ? url : "", ret_text);
                return -EINVAL;
        }
        PQconninfoOption *defaults = PQconndefaults();
        Place place = { either(said, defaults, "user"), either(said, defaults, "host"), either(said, defaults, "port"),
                        either(said, defaults, "dbname") };
        int r = place_judge(&place, ret_text);
        if (r == 0)
                place_format(&place, ret_text);
        PQconninfoFree(said);
        PQconninfoFree(defaults);
        return r;
}
