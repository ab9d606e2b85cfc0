/* session.c - a connection for a program that has nothing else to do. */
#include "ledger/session.h"
#include "base/clock.h"
#include "base/take.h"
#include "ledger/connection.h"
#include "ledger/schema_name.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct Session {
        sd_event *event;
        Connection *connection;
        char *schema;
        SessionOptions options;
        usec_t began;
        bool was_up, is_over;
        char why[SERVER_WORDS_MAX];
        PqReply *reply; /* to be filled */
        bool answered;
};

static void on_state(const ConnectionChange *change, void *userdata) {
        Session *session = userdata;

        if (change->state == CONNECTION_STATE_UP)
                session->was_up = true;
        if (change->state != CONNECTION_STATE_DOWN || session->is_over)
                return;
        snprintf(session->why, sizeof session->why, "%s", change->why);
        usec_t spent = clock_now_usec() - session->began;
        if (!session->was_up && usec_add(spent, change->retry_usec) < session->options.wait_usec) {
                if (session->options.on_wait)
                        session->options.on_wait(change->why, change->retry_usec);
                return;
        }
        session->is_over = true;
        connection_close(session->connection);
}

int session_open(Session **ret, const Database *database, const SessionOptions *options,
                 char ret_why[static SERVER_WORDS_MAX]) {
        _cleanup_(session_freep) Session *session = calloc(1, sizeof *session);
        ConnectionOptions connecting = {
                .opening = { database->url, options->application, options->read_only_will_do },
                .connect_timeout_usec = database->connect_timeout_usec,
                .on_state = on_state,
                .userdata = session,
        };

        if (!session)
                return -ENOMEM;
        session->options = *options;
        session->began = clock_now_usec();
        session->schema = strdup(database->schema);
        if (!session->schema)
                return -ENOMEM;
        int r = sd_event_new(&session->event);
        if (r >= 0)
                r = connection_new(&session->connection, session->event, &connecting);
        while (r >= 0 && !session->was_up && !session->is_over)
                r = sd_event_run(session->event, UINT64_MAX);
        if (r < 0)
                return r;
        if (session->is_over) {
                snprintf(ret_why, SERVER_WORDS_MAX, "%s", session->why);
                return -ENOTCONN;
        }
        *ret = TAKE(session);
        return 0;
}

Session *session_free(Session *session) {
        if (!session)
                return NULL;
        connection_free(session->connection);
        sd_event_unref(session->event);
        free(session->schema);
        free(session);
        return NULL;
}

void session_freep(Session **session) {
        *session = session_free(*session);
}

int session_server_version(const Session *session) {
        return connection_server_version(session->connection);
}

const char *session_schema(const Session *session) {
        return session->schema;
}

static void on_reply(PqReply *reply, void *userdata) {
        Session *session = userdata;

        *session->reply = *reply;
        reply->rows = NULL; /* they are the asker's now */
        session->answered = true;
}

static SqlAnswer fail(PqReply *ret, SqlAnswer answer, const char *why) {
        *ret = (PqReply){ .answer = answer };
        snprintf(ret->why, sizeof ret->why, "%s", why);
        return answer;
}

static SqlAnswer wait_for(Session *session, int sent, PqReply *ret) {
        int r = sent;

        while (r >= 0 && !session->answered)
                r = sd_event_run(session->event, UINT64_MAX);
        session->reply = NULL;
        if (r < 0)
                return fail(ret, SQL_LOST, r == -ENOTCONN ? session->why : strerrordesc_np(-r));
        return ret->answer;
}

static SqlAnswer post(Session *session, const char *sql, const char *schema, Statement *statement, bool script,
                      PqReply *ret) {
        _cleanup_(freep) char *text = schema_name_place(sql, schema);

        if (!text)
                return fail(ret, SQL_FULL, "out of memory");
        statement->sql = text;
        statement->done = on_reply;
        statement->userdata = session;
        session->reply = ret;
        session->answered = false;
        return wait_for(session,
                        script ? connection_send_script(session->connection, statement)
                               : connection_send(session->connection, statement),
                        ret);
}

SqlAnswer session_ask(Session *session, const char *sql, const char *const *values, size_t n_values,
                      usec_t timeout_usec, PqReply *ret) {
        Statement statement = { .values = values, .n_values = n_values, .timeout_usec = timeout_usec };
        return post(session, sql, session->schema, &statement, false, ret);
}

SqlAnswer session_script(Session *session, const char *sql, const char *schema, usec_t timeout_usec, PqReply *ret) {
        Statement statement = { .timeout_usec = timeout_usec };
        return post(session, sql, schema ? schema : session->schema, &statement, true, ret);
}
