/* desk.c - the statements of the worker, and how they are sent. */
#include "worker/desk.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/take.h"
#include "ledger/schema_name.h"
#include "worker/array_text.h"
#include "worker/desk_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_USEC (10 * USEC_PER_SEC)
#define VALUES_MAX   8
#define NUMBER_MAX   24

#define JOB_COLUMNS                                                                                                    \
        "c.id, c.gen, c.claim_id, c.attempt, c.max_attempts, c.kind, c.payload, c.progress, c.lease_ms, "              \
        "(extract(epoch from c.deadline_at - clock_timestamp()) * 1000000)::bigint"

static const char *const texts[_ASK_KIND_MAX] = {
        [ASK_UP] = "select @schema@.worker_up($1, $2::int, null, $3::uuid)",
        [ASK_QUEUE] = "insert into @schema@.queue (name) values ($1) on conflict (name) do nothing",
        [ASK_LISTEN] = "listen @schema@",
        [ASK_CLAIM] = "select 'job', " JOB_COLUMNS " from @schema@.claim($1, $2::uuid, $3::int, null, null, "
                      "$4::bigint) c",
        [ASK_NEXT] = "select c.tag, " JOB_COLUMNS " from @schema@.claim_next($1, $2::uuid, $3::int, $4::bigint[], "
                     "$5::bigint[], $6::uuid[]) c",
        [ASK_COMPLETE] = "select v.verdict from @schema@.complete_many($1::bigint[], $2::bigint[], $3::uuid[], "
                         "$4::json[]) v",
        [ASK_FAIL] = "select @schema@.fail($1::bigint, $2::bigint, $3::uuid, $4, $5, $6::interval, $7::boolean, "
                     "$8::boolean)",
        [ASK_RELEASE] = "select @schema@.release($1::bigint, $2::bigint, $3::uuid, $4)",
        [ASK_BEATS] = "select v.verdict from @schema@.beat_many($1::bigint[], $2::bigint[], $3::uuid[]) v",
        [ASK_BEAT] = "select @schema@.beat($1::bigint, $2::bigint, $3::uuid, $4::json)",
        [ASK_ITEM_BEGIN] = "select @schema@.item_begin($1::bigint, $2::bigint, $3::uuid, $4, $5::boolean), "
                           "(select i.result from @schema@.item i where i.job_id = $1::bigint and i.key = $4)",
        [ASK_ITEM_END] = "select @schema@.item_end($1::bigint, $2::bigint, $3::uuid, $4, $5::boolean, $6::json, $7), "
                         "null",
        [ASK_LOOK] = "select (extract(epoch from clock_timestamp() - max(i.updated_at)) * 1000000)::bigint "
                     "from @schema@.item i where i.job_id = $1::bigint and i.gen = $2::bigint",
        [ASK_DRAIN] = "select @schema@.worker_drain($1::uuid)",
        [ASK_HELD] = "select j.id, j.gen, j.claim_id from @schema@.job j where j.worker_id = $1::uuid "
                     "and j.state = 'running'",
};

/* ---- Sending ---- */

static void on_reply(PqReply *reply, void *userdata) {
        Ask *ask = userdata;
        if (!ask->desk->over)
                desk_take_answer(ask, reply);
        free(ask);
}

static Ask *ask_new(Desk *desk, AskKind kind, const JobKey *const *keys, size_t n) {
        Ask *ask = calloc(1, sizeof *ask + n * sizeof *ask->keys);
        if (!ask)
                return NULL;
        ask->desk = desk;
        ask->kind = kind;
        ask->n_keys = n;
        for (size_t i = 0; i < n; i++)
                ask->keys[i] = *keys[i];
        return ask;
}

/* Takes over `ask`, which may be NULL. */
static int send_ask(Connection *connection, Ask *ask, const char *const *values, size_t n) {
        if (!ask)
                return -ENOMEM;
        Statement statement = { .sql = ask->desk->sql[ask->kind],
                                .values = values,
                                .n_values = n,
                                .timeout_usec = TIMEOUT_USEC,
                                .done = on_reply,
                                .userdata = ask };
        ask->sent_usec = clock_now_usec();
        int r = connection ? connection_send(connection, &statement) : -ENOTCONN;
        if (r < 0)
                free(ask);
        return r;
}

static int send_one(Desk *desk, AskKind kind, const JobKey *key, const char *const *more, size_t n_more) {
        char id[NUMBER_MAX], generation[NUMBER_MAX];
        const char *values[VALUES_MAX] = { id, generation, key->claim };

        snprintf(id, sizeof id, "%" PRId64, key->id);
        snprintf(generation, sizeof generation, "%" PRId64, key->generation);
        memcpy(values + 3, more, n_more * sizeof *more);
        return send_ask(desk->connection, ask_new(desk, kind, &key, 1), values, 3 + n_more);
}

typedef struct KeyArrays {
        char *ids, *generations, *claims;
} KeyArrays;

static void key_arrays_done(KeyArrays *arrays) {
        free(arrays->ids);
        free(arrays->generations);
        free(arrays->claims);
}

static char *numbers_text(const JobKey *const *keys, size_t n, bool ids) {
        char *text = malloc(n * NUMBER_MAX + sizeof "{}"), *at = text;
        if (!text)
                return NULL;
        *at++ = '{';
        for (size_t i = 0; i < n; i++)
                at += sprintf(at, "%s%" PRId64, i > 0 ? "," : "", ids ? keys[i]->id : keys[i]->generation);
        stpcpy(at, "}");
        return text;
}

static int key_arrays_init(KeyArrays *arrays, const JobKey *const *keys, size_t n) {
        _cleanup_(freep) const char **claims = calloc(n + 1, sizeof *claims);

        *arrays = (KeyArrays){ .ids = numbers_text(keys, n, true), .generations = numbers_text(keys, n, false) };
        for (size_t i = 0; claims && i < n; i++)
                claims[i] = keys[i]->claim;
        arrays->claims = claims ? array_text(claims, n) : NULL;
        return arrays->ids && arrays->generations && arrays->claims ? 0 : -ENOMEM;
}

/* ---- The verbs ---- */

int desk_claim(Desk *desk, unsigned n, bool with_cursor) {
        char number[NUMBER_MAX], last[NUMBER_MAX];
        Ask *ask = ask_new(desk, ASK_CLAIM, NULL, 0);

        if (ask) {
                ask->wanted = n;
                ask->with_cursor = with_cursor && desk->last_id > 0;
                with_cursor = ask->with_cursor;
        }
        snprintf(number, sizeof number, "%u", n);
        snprintf(last, sizeof last, "%" PRId64, desk->last_id);
        const char *values[] = { desk->options.queue, desk->options.worker, number, with_cursor ? last : NULL };
        return send_ask(desk->connection, ask, values, LENGTH_OF(values));
}

int desk_claim_next(Desk *desk, unsigned n, const JobKey *const *keys, size_t n_keys) {
        _cleanup_(key_arrays_done) KeyArrays arrays = { 0 };
        char number[NUMBER_MAX];

        int r = key_arrays_init(&arrays, keys, n_keys);
        if (r < 0)
                return r;
        Ask *ask = ask_new(desk, ASK_NEXT, keys, n_keys);
        if (ask)
                ask->wanted = n;
        snprintf(number, sizeof number, "%u", n);
        const char *values[] = { desk->options.queue, desk->options.worker, number,
                                 arrays.ids,          arrays.generations,   arrays.claims };
        return send_ask(desk->connection, ask, values, LENGTH_OF(values));
}

int desk_complete(Desk *desk, const JobKey *const *keys, const char *const *results, size_t n) {
        _cleanup_(key_arrays_done) KeyArrays arrays = { 0 };
        _cleanup_(freep) char *array = array_text(results, n);

        int r = array ? key_arrays_init(&arrays, keys, n) : -ENOMEM;
        if (r < 0)
                return r;
        const char *values[] = { arrays.ids, arrays.generations, arrays.claims, array };
        return send_ask(desk->connection, ask_new(desk, ASK_COMPLETE, keys, n), values, LENGTH_OF(values));
}

int desk_beat_many(Desk *desk, const JobKey *const *keys, size_t n) {
        _cleanup_(key_arrays_done) KeyArrays arrays = { 0 };

        int r = key_arrays_init(&arrays, keys, n);
        if (r < 0)
                return r;
        const char *values[] = { arrays.ids, arrays.generations, arrays.claims };
        return send_ask(desk->connection, ask_new(desk, ASK_BEATS, keys, n), values, LENGTH_OF(values));
}

static const char *boolean(bool value) {
        return value ? "true" : "false";
}

int desk_fail(Desk *desk, const JobKey *key, const Outcome *outcome, int64_t retry_in_usec) {
        char wait[NUMBER_MAX + 16];
        snprintf(wait, sizeof wait, "%" PRId64 " microseconds", retry_in_usec);
        const char *more[] = { outcome->error, outcome->class, retry_in_usec >= 0 ? wait : NULL,
                               boolean(outcome->fatal), boolean(outcome->died) };
        return send_one(desk, ASK_FAIL, key, more, LENGTH_OF(more));
}

int desk_release(Desk *desk, const JobKey *key, const char *note) {
        return send_one(desk, ASK_RELEASE, key, &note, 1);
}

int desk_beat(Desk *desk, const JobKey *key, const char *progress) {
        return send_one(desk, ASK_BEAT, key, &progress, 1);
}

int desk_item_begin(Desk *desk, const JobKey *key, const char *item, int force) {
        const char *more[] = { item, force < 0 ? NULL : boolean(force > 0) };
        return send_one(desk, ASK_ITEM_BEGIN, key, more, LENGTH_OF(more));
}

int desk_item_end(Desk *desk, const JobKey *key, const char *item, bool ok, const char *result, const char *error) {
        const char *more[] = { item, boolean(ok), result, error };
        return send_one(desk, ASK_ITEM_END, key, more, LENGTH_OF(more));
}

int desk_look(Desk *desk, const JobKey *key) {
        char id[NUMBER_MAX], generation[NUMBER_MAX];
        const char *values[] = { id, generation };
        snprintf(id, sizeof id, "%" PRId64, key->id);
        snprintf(generation, sizeof generation, "%" PRId64, key->generation);
        return send_ask(desk->connection, ask_new(desk, ASK_LOOK, &key, 1), values, LENGTH_OF(values));
}

int desk_drain(Desk *desk) {
        return send_ask(desk->connection, ask_new(desk, ASK_DRAIN, NULL, 0), &desk->options.worker, 1);
}

int desk_held(Desk *desk) {
        return send_ask(desk->connection, ask_new(desk, ASK_HELD, NULL, 0), &desk->options.worker, 1);
}

/* ---- Connections ---- */

bool desk_is_up(const Desk *desk) {
        return desk->ready;
}

static void say_listening_failed(int r) {
        if (r < 0 && r != -ENOTCONN)
                log_warning("could not listen for new jobs: %s; they are found by asking", strerrordesc_np(-r));
}

void desk_begin(Desk *desk) {
        const char *up[] = { desk->host, desk->pid, desk->options.worker };
        bool listens = !desk->listening && !connection_is_pooled(desk->connection);

        (void)send_ask(desk->connection, ask_new(desk, ASK_QUEUE, NULL, 0), &desk->options.queue, 1);
        if (listens)
                say_listening_failed(send_ask(desk->connection, ask_new(desk, ASK_LISTEN, NULL, 0), NULL, 0));
        (void)send_ask(desk->connection, ask_new(desk, ASK_UP, NULL, 0), up, LENGTH_OF(up));
}

static void on_state(const ConnectionChange *change, void *userdata) {
        Desk *desk = userdata;

        if (desk->over)
                return;
        if (change->state == CONNECTION_STATE_UP)
                desk_begin(desk);
        if (change->state != CONNECTION_STATE_DOWN)
                return;
        desk->ready = false;
        desk->last_id = 0;
        desk->calls.down(desk->calls.userdata, change->why);
}

static void on_listening_state(const ConnectionChange *change, void *userdata) {
        Desk *desk = userdata;
        if (desk->over)
                return;
        if (change->state == CONNECTION_STATE_UP)
                say_listening_failed(send_ask(desk->listening, ask_new(desk, ASK_LISTEN, NULL, 0), NULL, 0));
        else if (change->state == CONNECTION_STATE_DOWN && change->failures == 1)
                log_warning("the connection that listens for new jobs ended: %s; they are found by asking",
                            change->why);
}

static void on_notification(const char *channel, const char *payload, void *userdata) {
        Desk *desk = userdata;
        (void)channel;
        if (strcmp(payload, desk->options.queue) == 0)
                desk->calls.notified(desk->calls.userdata);
}

static int connect_to(Desk *desk, const char *url, bool listening, Connection **ret) {
        const Database *database = desk->options.database;
        ConnectionOptions options = {
                .opening = { .url = url, .application = "endwell-worker", .read_only_will_do = false },
                .connect_timeout_usec = database->connect_timeout_usec,
                .statement_timeout_usec = TIMEOUT_USEC,
                .on_state = listening ? on_listening_state : on_state,
                .on_notification = on_notification,
                .userdata = desk,
        };
        return connection_new(ret, desk->event, &options);
}

/* Whoever asked is not told any more; closing brings back what was in flight. */
static Connection *end_connection(Connection *connection) {
        if (connection)
                connection_close(connection);
        return connection_free(connection);
}

static int place_texts(Desk *desk) {
        for (int kind = 0; kind < _ASK_KIND_MAX; kind++) {
                desk->sql[kind] = schema_name_place(texts[kind], desk->options.database->schema);
                if (!desk->sql[kind])
                        return -ENOMEM;
        }
        return 0;
}

int desk_new(Desk **ret, sd_event *event, const DeskOptions *options, const DeskCalls *calls) {
        Desk *desk = calloc(1, sizeof *desk);
        if (!desk)
                return -ENOMEM;
        *desk = (Desk){ .event = sd_event_ref(event), .options = *options, .calls = *calls };
        (void)gethostname(desk->host, sizeof desk->host - 1);
        snprintf(desk->pid, sizeof desk->pid, "%d", (int)getpid());
        int r = place_texts(desk);
        if (r >= 0)
                r = connect_to(desk, options->database->url, false, &desk->connection);
        if (r >= 0 && options->database->listen_url)
                r = connect_to(desk, options->database->listen_url, true, &desk->listening);
        if (r < 0) {
                desk_free(desk);
                return r;
        }
        *ret = desk;
        return 0;
}

Desk *desk_free(Desk *desk) {
        if (!desk)
                return NULL;
        desk->over = true;
        desk->connection = end_connection(desk->connection);
        desk->listening = end_connection(desk->listening);
        for (int kind = 0; kind < _ASK_KIND_MAX; kind++)
                free(desk->sql[kind]);
        sd_event_unref(desk->event);
        free(desk);
        return NULL;
}
