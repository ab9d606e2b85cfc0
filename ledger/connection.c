/* connection.c - a connection to PostgreSQL in an event loop.
 *
 * libpq may close a socket and open another one under the same number while it connects, so the source of the old one
 * goes before each step. One timer serves all states: the limit of connecting, the earliest deadline of a statement,
 * the next attempt. */
#include "ledger/connection.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/take.h"
#include "ledger/backoff.h"
#include "ledger/flights.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#define TIMEOUT_USEC     (30 * USEC_PER_SEC)
#define CONNECT_USEC     (5 * USEC_PER_SEC)
#define RETRY_FIRST_USEC (100 * USEC_PER_MSEC)
#define RETRY_MOST_USEC  (5 * USEC_PER_SEC)
#define ACCURACY_USEC    1 /* 0 is a quarter of a second to sd-event */
#define AT_ONCE          1 /* an instant long past */

struct Connection {
        ConnectionOptions options;
        sd_event *event;
        sd_event_source *io, *timer;
        Pq *pq; /* NULL: down */
        ConnectionState state;
        Flights flights;
        usec_t armed, up_since;
        unsigned failures;
        unsigned calling; /* callbacks that are running */
        bool open, script, pooled, closed;
};

/* ---- Telling ---- */

static void arm(Connection *connection, usec_t at) {
        connection->armed = at;
        (void)sd_event_source_set_time(connection->timer, at);
        (void)sd_event_source_set_enabled(connection->timer, at == USEC_INFINITY ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static void answer(Connection *connection, Flight *flight, PqReply *reply) {
        connection->calling++;
        if (flight->done)
                flight->done(reply, flight->userdata);
        connection->calling--;
        pq_rows_free(reply->rows);
        free(flight);
}

static void tell(Connection *connection, SqlAnswer kind, const char *why, usec_t retry_usec) {
        const ConnectionChange change = { connection->state, kind, why, connection->failures, retry_usec };

        connection->calling++;
        if (connection->options.on_state)
                connection->options.on_state(&change, connection->options.userdata);
        connection->calling--;
}

static void lose_all(Connection *connection, const char *why) {
        Flights lost = flights_take_all(&connection->flights);
        Flight *flight;

        while ((flight = flights_shift(&lost))) {
                PqReply reply = { .answer = SQL_LOST };
                snprintf(reply.why, sizeof reply.why, "%s", why);
                answer(connection, flight, &reply);
        }
}

/* ---- Down ---- */

static void hang_up(Connection *connection) {
        connection->io = sd_event_source_disable_unref(connection->io);
        connection->pq = pq_free(connection->pq);
        connection->open = connection->script = connection->pooled = false;
        connection->state = CONNECTION_STATE_DOWN;
}

static usec_t next_wait(const Connection *connection) {
        const ConnectionOptions *options = &connection->options;
        uint32_t chance = 0;

        (void)!getrandom(&chance, sizeof chance, GRND_NONBLOCK);
        return backoff_usec(connection->failures, options->retry_first_usec, options->retry_most_usec, chance);
}

static void go_down(Connection *connection, SqlAnswer kind, const char *why) {
        bool held = connection->state == CONNECTION_STATE_UP &&
                    clock_now_usec() - connection->up_since >= connection->options.retry_most_usec;

        hang_up(connection);
        connection->failures = held ? 1 : connection->failures + 1;
        usec_t wait = connection->closed ? USEC_INFINITY : next_wait(connection);
        arm(connection, usec_add(clock_now_usec(), wait));
        lose_all(connection, why);
        if (!connection->closed) /* by one of those that have just heard of it: then DOWN was told */
                tell(connection, kind, why, wait);
}

static void break_down(Connection *connection) {
        char why[SERVER_WORDS_MAX];
        SqlAnswer kind = pq_complaint(connection->pq, why);

        go_down(connection, kind, why);
}

void connection_close(Connection *connection) {
        if (connection->closed)
                return;
        connection->closed = true;
        hang_up(connection);
        arm(connection, USEC_INFINITY);
        lose_all(connection, "the connection was closed");
        tell(connection, SQL_LOST, "it was closed", USEC_INFINITY);
}

/* ---- Up ---- */

static int post(Connection *connection, const Statement *statement, bool script) {
        usec_t now = clock_now_usec(), limit = statement->timeout_usec ? statement->timeout_usec : TIMEOUT_USEC;
        Flight *flight = flights_push(&connection->flights, now, usec_add(now, limit));

        if (!flight)
                return -ENOMEM;
        flight->done = statement->done;
        flight->userdata = statement->userdata;
        int r = script ? pq_send_script(connection->pq, statement->sql)
                       : pq_send(connection->pq, statement->sql, statement->values, statement->n_values);
        if (r < 0) { /* going down is told from the loop, never to somebody who is just calling us */
                flights_pop(&connection->flights);
                arm(connection, AT_ONCE);
                return r;
        }
        connection->script = script;
        if (flight->due < connection->armed)
                arm(connection, flight->due);
        if (pq_flush(connection->pq) != 0)
                (void)sd_event_source_set_io_events(connection->io, EPOLLIN | EPOLLOUT);
        return 0;
}

int connection_send(Connection *connection, const Statement *statement) {
        if (connection->state != CONNECTION_STATE_UP)
                return -ENOTCONN;
        return connection->script ? -EBUSY : post(connection, statement, false);
}

int connection_send_script(Connection *connection, const Statement *statement) {
        if (connection->state != CONNECTION_STATE_UP)
                return -ENOTCONN;
        return connection->flights.first ? -EBUSY : post(connection, statement, true);
}

/* -ENOTCONN, or 0 when there is nothing more to take, or no connection any more to take it from. */
static int take_replies(Connection *connection) {
        const Pq *pq = connection->pq;
        PqReply reply;
        int r = 0;

        while (connection->pq == pq && (r = pq_take_reply(connection->pq, &reply)) > 0) {
                connection->script = false;
                answer(connection, flights_shift(&connection->flights), &reply);
        }
        return connection->pq == pq ? r : 0;
}

static void take_notifications(Connection *connection) {
        const char *channel, *payload;

        while (connection->pq && pq_take_notification(connection->pq, &channel, &payload) > 0) {
                connection->calling++;
                if (connection->options.on_notification)
                        connection->options.on_notification(channel, payload, connection->options.userdata);
                connection->calling--;
        }
}

static void converse(Connection *connection) {
        /* What came before the end is still to be taken: the answer to the last statement, the reason of the end. */
        int r = pq_read(connection->pq);
        int taken = take_replies(connection);

        take_notifications(connection);
        if (!connection->pq)
                return;
        int flushed = r < 0 || taken < 0 ? -ENOTCONN : pq_flush(connection->pq);
        if (flushed < 0)
                break_down(connection);
        else
                (void)sd_event_source_set_io_events(connection->io, flushed > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* ---- Connecting ---- */

static void on_greeting(PqReply *reply, void *userdata) {
        Connection *connection = userdata;

        if (!connection->pq) /* going down already */
                return;
        if (reply->answer != SQL_DONE) { /* the reply is its caller's, and outlives the connection */
                go_down(connection, reply->answer, reply->why);
                return;
        }
        /* A pooler gave us a number of its own to cancel with. */
        connection->pooled = pq_rows_int64(reply->rows, 0, 0) != pq_backend_pid(connection->pq);
        connection->state = CONNECTION_STATE_UP;
        connection->up_since = clock_now_usec();
        arm(connection, USEC_INFINITY);
        tell(connection, SQL_DONE, "", USEC_INFINITY);
}

/* The first statement of every connection: is the server itself there, and is it the one that we talk to? */
static void greet(Connection *connection) {
        char pid[16], limit[32];
        const char *values[] = { pid, limit };
        const Statement greeting = {
                .sql = "select p, case when p = $1::int and $2::text <> '0' "
                       "then set_config('statement_timeout', $2::text, false) end from pg_backend_pid() p",
                .values = values,
                .n_values = LENGTH_OF(values),
                .timeout_usec = USEC_INFINITY, /* the limit of connecting counts */
                .done = on_greeting,
                .userdata = connection,
        };

        connection->open = true;
        snprintf(pid, sizeof pid, "%d", pq_backend_pid(connection->pq));
        snprintf(limit, sizeof limit, "%llu",
                 (unsigned long long)(connection->options.statement_timeout_usec / USEC_PER_MSEC));
        (void)post(connection, &greeting, false);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata);

static int watch(Connection *connection, uint32_t events) {
        connection->io = sd_event_source_disable_unref(connection->io);
        int r = sd_event_add_io(connection->event, &connection->io, pq_descriptor(connection->pq), events, on_io,
                                connection);
        if (r < 0)
                go_down(connection, SQL_LOST, strerrordesc_np(-r));
        return r;
}

static void take_step(Connection *connection) {
        connection->io = sd_event_source_disable_unref(connection->io);
        switch (pq_poll(connection->pq)) {
        case PQ_STEP_READ: (void)watch(connection, EPOLLIN); return;
        case PQ_STEP_WRITE: (void)watch(connection, EPOLLOUT); return;
        case PQ_STEP_FAILED: break_down(connection); return;
        case PQ_STEP_OPEN:
                if (watch(connection, EPOLLIN) >= 0)
                        greet(connection);
                return;
        }
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Connection *connection = userdata;
        (void)source, (void)fd, (void)revents;

        if (connection->open)
                converse(connection);
        else
                take_step(connection);
        return 0;
}

static void begin(Connection *connection) {
        connection->state = CONNECTION_STATE_CONNECTING;
        tell(connection, SQL_DONE, "", USEC_INFINITY);
        if (connection->closed)
                return;
        if (pq_begin(&connection->pq, &connection->options.opening) < 0) {
                go_down(connection, SQL_FULL, "out of memory");
                return;
        }
        arm(connection, usec_add(clock_now_usec(), connection->options.connect_timeout_usec));
        if (pq_descriptor(connection->pq) < 0)
                break_down(connection);
        else
                (void)watch(connection, EPOLLOUT); /* libpq's rule for the first step */
}

/* ---- Time ---- */

static void give_up_waiting(Connection *connection, usec_t span, const char *for_what) {
        char text[DURATION_TEXT_MAX], why[120];

        snprintf(why, sizeof why, "%s within %s", for_what, duration_format(span, text));
        go_down(connection, SQL_LOST, why);
}

/* The timer is not moved back with each answer, so that it may ring for a statement that was answered. */
static void check_deadlines(Connection *connection) {
        const Flight *earliest = flights_earliest(&connection->flights);

        if (earliest && earliest->due <= clock_now_usec())
                give_up_waiting(connection, earliest->due - earliest->sent, "the server did not answer");
        else
                arm(connection, earliest ? earliest->due : USEC_INFINITY);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Connection *connection = userdata;
        bool broken = connection->armed == AT_ONCE; /* a statement could not be sent */
        (void)source, (void)usec;

        if (connection->pq && broken)
                break_down(connection);
        else if (connection->state == CONNECTION_STATE_UP)
                check_deadlines(connection);
        else if (connection->pq)
                give_up_waiting(connection, connection->options.connect_timeout_usec, "no connection came about");
        else
                begin(connection);
        return 0;
}

/* ---- Life ---- */

static int copy_texts(Connection *connection, const ConnectionOptions *options) {
        const char *url = options->opening.url, *application = options->opening.application;
        char *url_copy = url ? strdup(url) : NULL, *application_copy = strdup(application ? application : "endwell");

        connection->options.opening.url = url_copy;
        connection->options.opening.application = application_copy;
        return (url && !url_copy) || !application_copy ? -ENOMEM : 0;
}

static void set_default(usec_t *value, usec_t otherwise) {
        if (*value == 0)
                *value = otherwise;
}

int connection_new(Connection **ret, sd_event *event, const ConnectionOptions *options) {
        _cleanup_(connection_freep) Connection *connection = calloc(1, sizeof *connection);
        char place[PLACE_MAX];

        if (!connection)
                return -ENOMEM;
        connection->options = *options;
        connection->event = sd_event_ref(event);
        connection->state = CONNECTION_STATE_DOWN;
        int r = copy_texts(connection, options);
        if (r == 0)
                r = pq_place(options->opening.url, place);
        if (r < 0)
                return r;
        set_default(&connection->options.connect_timeout_usec, CONNECT_USEC);
        set_default(&connection->options.retry_first_usec, RETRY_FIRST_USEC);
        set_default(&connection->options.retry_most_usec, RETRY_MOST_USEC);
        connection->armed = AT_ONCE;
        r = sd_event_add_time(event, &connection->timer, CLOCK_MONOTONIC, AT_ONCE, ACCURACY_USEC, on_timer, connection);
        if (r < 0)
                return r;
        *ret = TAKE(connection);
        return 0;
}

Connection *connection_free(Connection *connection) {
        if (!connection)
                return NULL;
        assert(connection->calling == 0);
        hang_up(connection);
        for (Flight *flight; (flight = flights_shift(&connection->flights));)
                free(flight);
        sd_event_source_disable_unref(connection->timer);
        sd_event_unref(connection->event);
        free((char *)connection->options.opening.url);
        free((char *)connection->options.opening.application);
        free(connection);
        return NULL;
}

void connection_freep(Connection **connection) {
        *connection = connection_free(*connection);
}

ConnectionState connection_state(const Connection *connection) {
        return connection->state;
}

bool connection_is_pooled(const Connection *connection) {
        return connection->pooled;
}

int connection_server_version(const Connection *connection) {
        return connection->state == CONNECTION_STATE_UP ? pq_server_version(connection->pq) : 0;
}

size_t connection_in_flight(const Connection *connection) {
        return connection->flights.n;
}
