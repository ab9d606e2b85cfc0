/* observe_database.c - see observe_database.h. */
#include "verify/observe_database.h"
#include "base/take.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ASK_USEC (60 * USEC_PER_SEC)
#define OURS     "n.nspname !~ '^pg_' and n.nspname <> 'information_schema'"

static int ask(Session *session, const char *sql, PqRows **ret, char **ret_why) {
        PqReply reply;

        if (session_ask(session, sql, NULL, 0, ASK_USEC, &reply) != SQL_DONE) {
                if (ret_why && asprintf(ret_why, "looking at the world's database failed: %s", reply.why) < 0)
                        *ret_why = NULL;
                return -EIO;
        }
        *ret = reply.rows;
        return 0;
}

static int add(State *state, const char *prefix, const char *name, ItemKind kind, const PqRows *rows, size_t column) {
        Item item = { .kind = kind, .attributes = strdup(""), .n_lines = pq_rows_count(rows) };
        bool good = item.attributes && asprintf(&item.key, "%s%s", prefix, name) >= 0;

        item.lines = calloc(item.n_lines + 1, sizeof *item.lines);
        good = good && item.lines;
        for (size_t i = 0; item.lines && i < item.n_lines; i++) {
                const char *text = pq_rows_text(rows, i, column);
                item.lines[i] = strdup(text ? text : "");
                good = good && item.lines[i];
        }
        int r = state_add(state, &item);
        return good ? r : -ENOMEM;
}

/* The order of the rows is by their text: it does not depend on where they lie in the table. */
static int add_table(Session *session, const char *name, State *state, char **ret_why) {
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        _cleanup_(freep) char *sql = NULL;

        if (asprintf(&sql,
                     "with t as materialized (select to_jsonb(x)::text as line from %s x limit %d)"
                     " select line from t where (select count(*) from t) <= %d"
                     " union all select 'more than %d rows: ' || (select count(*) || ', MD5 ' || "
                     "md5(string_agg(md5(to_jsonb(x)::text), '' order by md5(to_jsonb(x)::text))) from %s x)"
                     " where (select count(*) from t) > %d order by 1",
                     name, OBSERVE_ROWS_MAX + 1, OBSERVE_ROWS_MAX, OBSERVE_ROWS_MAX, name, OBSERVE_ROWS_MAX) < 0)
                return -ENOMEM;
        int r = ask(session, sql, &rows, ret_why);
        return r < 0 ? r : add(state, "table ", name, ITEM_TABLE, rows, 0);
}

static int add_tables(Session *session, State *state, char **ret_why) {
        static const char sql[] =
                "select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = "
                "c.relnamespace where c.relkind in ('r', 'm') and " OURS " and (c.relkind = 'r' or c.relispopulated)"
                " order by 1";
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        int r = ask(session, sql, &rows, ret_why);

        for (size_t i = 0; r == 0 && i < pq_rows_count(rows); i++)
                r = add_table(session, pq_rows_text(rows, i, 0), state, ret_why);
        return r;
}

static int add_sequences(Session *session, State *state, char **ret_why) {
        static const char sql[] = "select format('%I.%I', n.schemaname, n.sequencename), coalesce(n.last_value::text, "
                                  "'unused') from pg_sequences n where n.schemaname !~ '^pg_' order by 1";
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        int r = ask(session, sql, &rows, ret_why);

        for (size_t i = 0; r == 0 && i < pq_rows_count(rows); i++) {
                Item item = { .kind = ITEM_SEQUENCE, .attributes = strdup(""), .n_lines = 1 };
                item.lines = calloc(1, sizeof *item.lines);
                if (!item.lines || !item.attributes || !(item.lines[0] = strdup(pq_rows_text(rows, i, 1))) ||
                    asprintf(&item.key, "sequence %s", pq_rows_text(rows, i, 0)) < 0)
                        r = -ENOMEM;
                int added = state_add(state, &item);
                r = r < 0 ? r : added;
        }
        return r;
}

static int add_catalogue(Session *session, State *state, char **ret_why) {
        static const char sql[] =
                "select 'schema ' || n.nspname from pg_namespace n where " OURS
                " union all select 'relation ' || c.oid::regclass || ' ' || c.relkind::text || ' ' || coalesce((select "
                "string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' "
                "not null' else '' end || coalesce(' default ' || (select pg_get_expr(d.adbin, d.adrelid) from "
                "pg_attrdef d where d.adrelid = a.attrelid and d.adnum = a.attnum), ''), ', ' order by a.attnum) from "
                "pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '') from pg_class c "
                "join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') "
                "and " OURS
                " union all select 'index ' || pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid "
                "= i.indexrelid join pg_namespace n on n.oid = c.relnamespace where " OURS
                " union all select 'view ' || c.oid::regclass || ' ' || pg_get_viewdef(c.oid) from pg_class c join "
                "pg_namespace n on n.oid = c.relnamespace where c.relkind in ('v', 'm') and " OURS
                " union all select 'constraint ' || r.conname || ' on ' || r.conrelid::regclass || ' ' || "
                "pg_get_constraintdef(r.oid) from pg_constraint r join pg_namespace n on n.oid = r.connamespace where "
                "r.conrelid <> 0 and " OURS
                " union all select 'function ' || p.oid::regprocedure || ' ' || md5(coalesce(p.prosrc, '')) || ' ' || "
                "p.provolatile::text || ' ' || p.prosecdef::text from pg_proc p join pg_namespace n on n.oid = "
                "p.pronamespace "
                "where " OURS
                " union all select 'trigger ' || pg_get_triggerdef(t.oid) from pg_trigger t where not t.tgisinternal"
                " union all select 'type ' || t.oid::regtype || ' ' || (select string_agg(e.enumlabel, ', ' order by "
                "e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) from pg_type t join pg_namespace n on "
                "n.oid = t.typnamespace where t.typtype = 'e' and " OURS
                " union all select 'extension ' || e.extname || ' ' || e.extversion from pg_extension e"
                " union all select 'policy ' || p.polname || ' on ' || p.polrelid::regclass from pg_policy p"
                " order by 1";
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        int r = ask(session, sql, &rows, ret_why);

        return r < 0 ? r : add(state, "catalogue", "", ITEM_CATALOGUE, rows, 0);
}

static int set_xmax(Session *session, State *state, char **ret_why) {
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        int r = ask(session, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint", &rows, ret_why);

        if (r == 0)
                state->database_xmax = (uint64_t)pq_rows_int64(rows, 0, 0);
        return r;
}

static int run(Session *session, const char *sql, char **ret_why) {
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        return ask(session, sql, &rows, ret_why);
}

int observe_database(Session *session, State *state, char **ret_why) {
        int r = run(session, "begin transaction isolation level repeatable read read only", ret_why);

        if (r == 0)
                r = set_xmax(session, state, ret_why);
        if (r == 0)
                r = run(session, "set local search_path = ''", ret_why);
        if (r == 0)
                r = add_tables(session, state, ret_why);
        if (r == 0)
                r = add_sequences(session, state, ret_why);
        if (r == 0)
                r = add_catalogue(session, state, ret_why);
        return r < 0 ? r : run(session, "commit", ret_why);
}
