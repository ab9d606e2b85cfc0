/* calls.c - the statements of the reaper. */
#include "reaper/calls.h"
#include "base/take.h"
#include "ledger/schema_name.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* The server's clock less this is still a time that it can write. */
#define OLDEST_USEC (UINT64_C(3000) * 365 * 24 * 3600 * USEC_PER_SEC)
#define VERB_USEC   (30 * USEC_PER_SEC)
#define COUNT_USEC  (2 * USEC_PER_SEC)

#define TALLY                                                                                                          \
        "select count(*), count(*) filter (where verdict = 'ready'), count(*) filter (where verdict = 'dead') from "

static const char *const texts[AGENDA_N_JOBS] = {
        [AGENDA_HAND_OVER] = TALLY "@schema@.worker_dead($1::uuid, $2::text, $3::text)",
        [AGENDA_SWEEP] = TALLY "@schema@.reap($1::int)",
        [AGENDA_PRUNE] = "select @schema@.prune($1::int, make_interval(secs => $2::float8))",
        /* Who came from where we came from; over a Unix socket that is null. */
        [AGENDA_COUNT] = "select count(*) from pg_stat_activity a "
                         "where a.datname = current_database() and a.backend_type = 'client backend' "
                         "and a.pid <> pg_backend_pid() and a.client_addr is not distinct from "
                         "(select client_addr from pg_stat_activity where pid = pg_backend_pid())",
};

int calls_init(Calls *calls, const char *schema) {
        for (size_t i = 0; i < AGENDA_N_JOBS; i++) {
                calls->texts[i] = schema_name_place(texts[i], schema);
                if (!calls->texts[i]) {
                        calls_done(calls);
                        return -ENOMEM;
                }
        }
        return 0;
}

void calls_done(Calls *calls) {
        for (size_t i = 0; i < AGENDA_N_JOBS; i++) {
                free(calls->texts[i]);
                calls->texts[i] = NULL;
        }
}

static uint64_t number(const PqRows *rows, size_t column) {
        int64_t value = pq_rows_int64(rows, 0, column);
        return value > 0 ? (uint64_t)value : 0;
}

static void on_reply(PqReply *reply, void *userdata) {
        const Calls *calls = userdata;
        CallResult result = { .answer = reply->answer,
                              .why = reply->why,
                              .n = number(reply->rows, 0),
                              .released = number(reply->rows, 1),
                              .buried = number(reply->rows, 2) };
        calls->done(calls->userdata, &result);
}

static int send_call(const Calls *calls, Connection *connection, AgendaWork work, const char *const *values,
                     size_t n_values, usec_t timeout) {
        const Statement statement = { .sql = calls->texts[work],
                                      .values = values,
                                      .n_values = n_values,
                                      .timeout_usec = timeout,
                                      .done = on_reply,
                                      .userdata = (void *)calls };
        return connection_send(connection, &statement);
}

int calls_hand_over(const Calls *calls, Connection *connection, const Death *death) {
        const char *values[] = { death->owner, death->cause, death->note };
        return send_call(calls, connection, AGENDA_HAND_OVER, values, LENGTH_OF(values), VERB_USEC);
}

int calls_sweep(const Calls *calls, Connection *connection, unsigned batch) {
        char n[16];
        const char *values[] = { n };

        snprintf(n, sizeof n, "%u", batch);
        return send_call(calls, connection, AGENDA_SWEEP, values, LENGTH_OF(values), VERB_USEC);
}

int calls_prune(const Calls *calls, Connection *connection, unsigned batch, usec_t older) {
        char n[16], seconds[32];
        const char *values[] = { n, seconds };

        older = usec_min(older, OLDEST_USEC);
        snprintf(n, sizeof n, "%u", batch);
        snprintf(seconds, sizeof seconds, "%" PRIu64 ".%06" PRIu64, older / USEC_PER_SEC, older % USEC_PER_SEC);
        return send_call(calls, connection, AGENDA_PRUNE, values, LENGTH_OF(values), VERB_USEC);
}

int calls_count(const Calls *calls, Connection *connection) {
        return send_call(calls, connection, AGENDA_COUNT, NULL, 0, COUNT_USEC);
}
