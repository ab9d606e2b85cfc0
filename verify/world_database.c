/* world_database.c - see world_database.h. */
#include "verify/world_database.h"
#include "base/take.h"
#include "ledger/schema_name.h"
#include "ledger/session.h"
#include "verify/observe_database.h"
#include "verify/observe_item.h"
#include "verify/world_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define ASK_USEC     (60 * USEC_PER_SEC)
#define CONNECT_USEC (10 * USEC_PER_SEC)
#define LOCK_CLASS   0x656e6477 /* "endw": which of a server's advisory locks are ours */

struct Databases {
        char *url, *template;
        PqServer server;
        Session *session; /* to the maintenance database */
        unsigned token, n_copies;
        State baseline;
        bool has_baseline;
};

static int connect_to(const char *url, const char *name, Session **ret, char **ret_why) {
        char schema[] = "public", why[SERVER_WORDS_MAX] = "";
        SessionOptions options = { .application = "endwell-verify", .read_only_will_do = true };
        PqServer server;
        int r = pq_server(url, NULL, name, &server);

        if (r < 0)
                return world_fail(r, ret_why, "the URL of the database cannot be read");
        Database database = { .url = server.url, .schema = schema, .connect_timeout_usec = CONNECT_USEC };
        r = session_open(ret, &database, &options, why);
        pq_server_done(&server);
        return r < 0 ? world_fail(r, ret_why, "connecting to the database %s failed: %s", name, why) : 0;
}

/* Not the user's own database: it may be the template, and must stay without connections. */
static int connect_to_maintenance(const char *url, Session **ret, char **ret_why) {
        return connect_to(url, "postgres", ret, ret_why);
}

static int tell(Session *session, const char *format, const char *a, const char *b, char **ret_why) {
        _cleanup_(freep) char *first = a ? schema_name_quote(a) : NULL, *second = b ? schema_name_quote(b) : NULL;
        _cleanup_(freep) char *sql = malloc(strlen(format) + 256);
        PqReply reply;

        if (!sql || (a && !first) || (b && !second))
                return -ENOMEM;
        char *at = stpcpy(sql, format);
        if (first)
                at = stpcpy(at, first);
        if (second)
                stpcpy(stpcpy(at, " template "), second);
        else if (strncmp(format, "drop", 4) == 0)
                strcpy(at, " with (force)");
        SqlAnswer answer = session_script(session, sql, NULL, ASK_USEC, &reply);
        pq_rows_free(reply.rows);
        return answer == SQL_DONE ? 0 : world_fail(-EIO, ret_why, "%s%s failed: %s", format, a ? a : "", reply.why);
}

/* The lock of a verifier's copies, held as long as it lives. `verb`: one of the server's functions of two keys. */
static SqlAnswer ask_lock(Session *session, const char *verb, unsigned token, PqReply *ret) {
        char lock[32], class[32], sql[128];
        const char *values[] = { class, lock };

        snprintf(class, sizeof class, "%d", LOCK_CLASS);
        snprintf(lock, sizeof lock, "%u", token);
        snprintf(sql, sizeof sql, "select %s($1::int, $2::int)", verb);
        return session_ask(session, sql, values, 2, ASK_USEC, ret);
}

/* ---- The copies of those that died ---- */

static int drop_if_dead(Session *session, const char *name, char **ret_why) {
        char *end;
        unsigned token = (unsigned)strtoul(name + strlen(WORLD_DATABASE_PREFIX), &end, 16);
        PqReply reply;

        if (*end != '_')
                return 0;
        SqlAnswer answer = ask_lock(session, "pg_try_advisory_lock", token, &reply);
        bool dead = answer == SQL_DONE && pq_rows_bool(reply.rows, 0, 0);
        pq_rows_free(reply.rows);
        if (answer != SQL_DONE)
                return world_fail(-EIO, ret_why, "asking for the verifier of %s failed: %s", name, reply.why);
        if (!dead)
                return 0;
        int r = tell(session, "drop database if exists ", name, NULL, ret_why);
        answer = ask_lock(session, "pg_advisory_unlock", token, &reply);
        pq_rows_free(reply.rows);
        return r < 0 ? r : 1;
}

static int drop_dead(Session *session, char **ret_why) {
        PqReply reply;
        int n = 0;

        if (session_ask(session,
                        "select datname from pg_database where starts_with(datname, '" WORLD_DATABASE_PREFIX "')", NULL,
                        0, ASK_USEC, &reply) != SQL_DONE)
                return world_fail(-EIO, ret_why, "listing the databases failed: %s", reply.why);
        for (size_t i = 0; n >= 0 && i < pq_rows_count(reply.rows); i++) {
                int r = drop_if_dead(session, pq_rows_text(reply.rows, i, 0), ret_why);
                n = r < 0 ? r : n + r;
        }
        pq_rows_free(reply.rows);
        return n;
}

int databases_recover(const char *url, char **ret_why) {
        _cleanup_(session_freep) Session *session = NULL;
        int r = connect_to_maintenance(url, &session, ret_why);

        return r < 0 ? r : drop_dead(session, ret_why);
}

/* ---- Beginning ---- */

static void databasesp(Databases **databases) {
        *databases = databases_free(*databases);
}

static bool is_allowed(const char *name, char *const *allowed) {
        for (; allowed && *allowed; allowed++)
                if (strcmp(*allowed, name) == 0)
                        return true;
        return false;
}

static int take_token(Databases *databases, char **ret_why) {
        PqReply reply;

        if (getrandom(&databases->token, sizeof databases->token, 0) < 0)
                return -errno;
        databases->token &= 0x7fffffff;
        SqlAnswer answer = ask_lock(databases->session, "pg_advisory_lock", databases->token, &reply);
        pq_rows_free(reply.rows);
        return answer == SQL_DONE ? 0
                                  : world_fail(-EIO, ret_why, "taking a lock in the database failed: %s", reply.why);
}

int databases_new(Databases **ret, const char *url, const char *template, char *const *allowed, char **ret_why) {
        _cleanup_(databasesp) Databases *databases = calloc(1, sizeof *databases);

        if (!databases)
                return -ENOMEM;
        if (!is_allowed(template, allowed))
                return world_fail(-EPERM, ret_why, "the database %s may not be copied: AllowDatabase= does not name it",
                                  template);
        databases->url = url ? strdup(url) : NULL;
        databases->template = strdup(template);
        if (!databases->template || (url && !databases->url))
                return -ENOMEM;
        int r = pq_server(url, NULL, template, &databases->server);
        if (r < 0)
                return world_fail(r, ret_why, "the URL of the database cannot be read");
        r = connect_to_maintenance(url, &databases->session, ret_why);
        if (r == 0)
                r = take_token(databases, ret_why);
        if (r == 0)
                r = drop_dead(databases->session, ret_why);
        if (r < 0)
                return r;
        *ret = TAKE(databases);
        return 0;
}

Databases *databases_free(Databases *databases) {
        if (!databases)
                return NULL;
        session_free(databases->session);
        pq_server_done(&databases->server);
        if (databases->has_baseline)
                state_done(&databases->baseline);
        free(databases->url);
        free(databases->template);
        free(databases);
        return NULL;
}

const PqServer *databases_server(const Databases *databases) {
        return &databases->server;
}

/* ---- A copy ---- */

static int observe_whole(Databases *databases, const char *name, State *state, char **ret_why) {
        _cleanup_(session_freep) Session *session = NULL;
        int r = connect_to(databases->url, name, &session, ret_why);

        return r < 0 ? r : observe_database(session, state, ret_why);
}

int databases_copy(Databases *databases, char **ret_name, char **ret_why) {
        _cleanup_(freep) char *name = NULL;

        if (asprintf(&name, WORLD_DATABASE_PREFIX "%08x_%u", databases->token, ++databases->n_copies) < 0)
                return -ENOMEM;
        int r = tell(databases->session, "create database ", name, databases->template, ret_why);
        if (r == 0 && !databases->has_baseline) {
                r = observe_whole(databases, name, &databases->baseline, ret_why);
                databases->has_baseline = r == 0;
                if (r == 0)
                        state_sort(&databases->baseline);
        }
        if (r < 0) {
                (void)databases_drop(databases, name, NULL);
                return r;
        }
        *ret_name = TAKE(name);
        return 0;
}

int databases_drop(Databases *databases, const char *name, char **ret_why) {
        return tell(databases->session, "drop database if exists ", name, NULL, ret_why);
}

static bool stands_so_in(const State *state, const Item *item) {
        const Item *was = state_find(state, item->key);
        return was && observe_items_are_equal(was, item);
}

int databases_observe(Databases *databases, const char *name, State *state, char **ret_why) {
        State whole = { 0 };
        int r = observe_whole(databases, name, &whole, ret_why);

        state_sort(&whole);
        for (size_t i = 0; r == 0 && i < databases->baseline.n_items; i++)
                if (!state_find(&whole, databases->baseline.items[i].key)) {
                        Item item;
                        r = observe_absent(databases->baseline.items[i].key, &item);
                        if (r == 0)
                                r = state_add(state, &item);
                }
        for (size_t i = 0; r == 0 && i < whole.n_items; i++) {
                Item item = whole.items[i];
                if (stands_so_in(&databases->baseline, &item))
                        continue;
                whole.items[i] = (Item){ .key = strdup("") };
                r = whole.items[i].key ? state_add(state, &item) : -ENOMEM;
        }
        state->database_xmax = whole.database_xmax;
        state_done(&whole);
        return r;
}
