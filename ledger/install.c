/* install.c - puts the SQL files of this program into a schema, within the transaction that is open. */
#include "ledger/install.h"
#include "base/take.h"
#include "base/usec.h"
#include <stdio.h>
#include <string.h>

#define FILE_USEC (600 * USEC_PER_SEC) /* an index over a large table takes its time */

enum { COLUMN_NAME, COLUMN_VERSION, COLUMN_DIGEST };

SqlAnswer install_read(Session *session, Installed *ret, PqReply *ret_reply) {
        static const char is_there[] = "select exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace "
                                       "n on n.oid = c.relnamespace "
                                       "where n.nspname = $1 and c.relname = 'migration')";
        static const char sql[] = "select name, version, digest from @schema@.migration order by at, name";
        const char *const values[] = { session_schema(session) };
        Installed installed = { 0 };

        /* Asked first, not tried: within a transaction a table that is not there would be its end. And asked of the
         * tables of the catalog: to_regclass() answers from a cache, which somebody else's commit has not reached yet.
         */
        SqlAnswer answer = session_ask(session, is_there, values, LENGTH_OF(values), 0, ret_reply);
        bool there = answer == SQL_DONE && pq_rows_bool(ret_reply->rows, 0, 0);
        ret_reply->rows = pq_rows_free(ret_reply->rows);
        if (there)
                answer = session_ask(session, sql, NULL, 0, 0, ret_reply);
        if (answer != SQL_DONE)
                return answer;
        installed.rows = TAKE(ret_reply->rows);
        for (size_t i = 0; i < pq_rows_count(installed.rows); i++)
                if (pq_rows_int64(installed.rows, i, COLUMN_VERSION) > installed.version)
                        installed.version = (int)pq_rows_int64(installed.rows, i, COLUMN_VERSION);
        *ret = installed;
        return SQL_DONE;
}

void installed_done(Installed *installed) {
        installed->rows = pq_rows_free(installed->rows);
}

static const char *digest_of(const Installed *installed, const SqlFile *file) {
        for (size_t i = 0; i < pq_rows_count(installed->rows); i++)
                if (strcmp(pq_rows_text(installed->rows, i, COLUMN_NAME), file->name) == 0)
                        return pq_rows_text(installed->rows, i, COLUMN_DIGEST);
        return NULL;
}

bool installed_has(const Installed *installed, const SqlFile *file) {
        return digest_of(installed, file);
}

bool installed_is_same(const Installed *installed, const SqlFile *file) {
        const char *digest = digest_of(installed, file);
        return digest && strcmp(digest, file->digest) == 0;
}

SqlAnswer install_file(Session *session, const SqlFile *file, const char *schema, PqReply *ret) {
        SqlAnswer answer = session_script(session, file->text, schema, FILE_USEC, ret);

        ret->rows = pq_rows_free(ret->rows);
        return answer;
}

SqlAnswer install_all(Session *session, const char *schema, PqReply *ret, const SqlFile **ret_file) {
        SqlAnswer answer = SQL_DONE;

        for (const SqlFile *file = sql_files; file->name && answer == SQL_DONE; file++) {
                answer = install_file(session, file, schema, ret);
                *ret_file = file;
        }
        return answer;
}

SqlAnswer install_record(Session *session, const SqlFile *file, PqReply *ret) {
        static const char sql[] =
                "insert into @schema@.migration as m (name, version, digest, program) values ($1, $2::int, $3, $4) "
                "on conflict (name) do update set version = excluded.version, digest = excluded.digest, "
                "at = clock_timestamp(), by = session_user, program = excluded.program";
        char version[16];
        const char *const values[] = { file->name, version, file->digest, "endwell " ENDWELL_VERSION };

        snprintf(version, sizeof version, "%d", LEDGER_VERSION);
        return session_ask(session, sql, values, LENGTH_OF(values), 0, ret);
}

SqlAnswer install_take_out(Session *session, const char *scratch, PqReply *ret) {
        const char *const schema = session_schema(session);
        const char *const values[] = { schema, scratch };

        SqlAnswer answer = session_ask(session, sql_command("take_out"), values, LENGTH_OF(values), 0, ret);
        PqRows *rows = TAKE(ret->rows);
        for (size_t i = 0; i < pq_rows_count(rows) && answer == SQL_DONE; i++)
                answer = session_ask(session, pq_rows_text(rows, i, 0), NULL, 0, 0, ret);
        pq_rows_free(rows);
        return answer;
}
