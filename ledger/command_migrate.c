/* command_migrate.c - `endwell ledger migrate`: installs the ledger, or brings it to this version.
 *
 * One transaction, so that it is never half there. One lock of the transaction, so that ten pods that start at once do
 * it one after the other, and nine of them find nothing to do; it is asked for only where there is something to do. */
#include "base/take.h"
#include "ledger/command.h"
#include "ledger/install.h"
#include "ledger/schema_name.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define SCRATCH     "endwell scratch"
#define SERVER_MIN  130000
#define LOCK_USEC   (600 * USEC_PER_SEC)
#define FILES_SHOWN 6 /* by name, when functions were renewed */

typedef struct Migration {
        CommandPlace place;
        bool again, print;
        Session *session;
        Installed before;
        const SqlFile *applied[128];
        size_t n_applied;
} Migration;

static int failed(const Migration *migration, const char *doing, const char *what, const PqReply *reply) {
        char text[160];

        snprintf(text, sizeof text, "%s%s", doing, what);
        return command_failed(&command_migrate, migration->session, text, reply);
}

/* ---- Printing ---- */

static int print_script(const Migration *migration) {
        _cleanup_(database_done) Database database = { 0 };

        int code = command_find_database(&command_migrate, &migration->place, &database);
        if (code != 0)
                return code;
        printf("-- endwell " ENDWELL_VERSION ", ledger version %d\nbegin;\n", LEDGER_VERSION);
        for (const SqlFile *file = sql_files; file->name; file++) {
                _cleanup_(freep) char *text = schema_name_place(file->text, database.schema);
                _cleanup_(freep) char *schema = schema_name_quote(database.schema);
                if (!text || !schema)
                        return command_out_of_memory(&command_migrate);
                printf("\n-- %s\n%s", file->name, text);
                printf("insert into %s.migration (name, version, digest, program) values ('%s', %d, '%s', 'by "
                       "hand');\n",
                       schema, file->name, LEDGER_VERSION, file->digest);
        }
        puts("\ncommit;");
        return command_flush(&command_migrate, COMMAND_DONE);
}

/* ---- What there is to do ---- */

static bool is_wanted(const Migration *migration, const SqlFile *file) {
        if (sql_file_is_structure(file))
                return !installed_has(&migration->before, file);
        return migration->again || !installed_is_same(&migration->before, file);
}

static bool has_work(const Migration *migration) {
        for (const SqlFile *file = sql_files; file->name; file++)
                if (is_wanted(migration, file))
                        return true;
        return false;
}

static int look(Migration *migration) {
        PqReply reply;

        installed_done(&migration->before);
        if (install_read(migration->session, &migration->before, &reply) != SQL_DONE)
                return failed(migration, "reading what is installed", "", &reply);
        if (migration->before.version <= LEDGER_VERSION)
                return 0;
        fprintf(stderr,
                "endwell ledger migrate: the ledger in the schema %s has version %d, and this program knows versions "
                "up "
                "to %d: nothing was done; run it from the newer endwell\n",
                session_schema(migration->session), migration->before.version, LEDGER_VERSION);
        return COMMAND_NOT_SO;
}

/* ---- Doing it ---- */

static int begin(Migration *migration) {
        static const char sql[] =
                "begin; set local statement_timeout = 0; set local lock_timeout = 0; "
                "set local client_min_messages = warning; set local search_path = pg_catalog, pg_temp";
        static const char lock[] = "select pg_advisory_xact_lock(hashtext('endwell ledger migrate'), hashtext($1))";
        const char *const values[] = { session_schema(migration->session) };
        PqReply reply;

        if (session_script(migration->session, sql, NULL, 0, &reply) != SQL_DONE)
                return failed(migration, "beginning", "", &reply);
        reply.rows = pq_rows_free(reply.rows);
        if (session_ask(migration->session, lock, values, 1, LOCK_USEC, &reply) != SQL_DONE)
                return failed(migration, "waiting for another migration", "", &reply);
        pq_rows_free(reply.rows);
        return 0;
}

/* A newer function may return something else than the one of the same name: `create or replace` refuses that. */
static int make_room(Migration *migration) {
        const SqlFile *file = NULL;
        PqReply reply;

        if (migration->before.version == 0)
                return 0;
        if (install_all(migration->session, SCRATCH, &reply, &file) != SQL_DONE)
                return failed(migration, "trying out ", file->name, &reply);
        if (install_take_out(migration->session, SCRATCH, &reply) != SQL_DONE)
                return failed(migration, "taking out what older versions left", "", &reply);
        if (session_script(migration->session, "drop schema \"" SCRATCH "\" cascade", NULL, 0, &reply) != SQL_DONE)
                return failed(migration, "clearing up", "", &reply);
        return 0;
}

static int apply(Migration *migration, const SqlFile *file) {
        PqReply reply;

        if (install_file(migration->session, file, NULL, &reply) != SQL_DONE)
                return failed(migration, "installing ", file->name, &reply);
        if (install_record(migration->session, file, &reply) != SQL_DONE)
                return failed(migration, "recording ", file->name, &reply);
        if (migration->n_applied < LENGTH_OF(migration->applied))
                migration->applied[migration->n_applied++] = file;
        return 0;
}

static int finish(Migration *migration) {
        PqReply reply;

        return session_script(migration->session, "commit", NULL, 0, &reply) == SQL_DONE
                       ? 0
                       : failed(migration, "committing", "", &reply);
}

static int carry_out(Migration *migration) {
        int code = begin(migration);

        if (code == 0)
                code = look(migration); /* somebody may have been faster */
        if (code == 0 && has_work(migration))
                code = make_room(migration);
        for (const SqlFile *file = sql_files; code == 0 && file->name; file++)
                if (is_wanted(migration, file))
                        code = apply(migration, file);
        return code == 0 ? finish(migration) : code; /* else the end of the connection rolls back */
}

/* ---- Saying it ---- */

static void tell_files(const Migration *migration) {
        for (size_t i = 0; i < migration->n_applied && i < FILES_SHOWN; i++)
                printf("%s %s", i ? "," : "", migration->applied[i]->name);
        if (migration->n_applied > FILES_SHOWN)
                printf(" and %zu more", migration->n_applied - FILES_SHOWN);
        puts("");
}

static void tell(const Migration *migration) {
        const char *schema = session_schema(migration->session);
        int was = migration->before.version;

        if (migration->n_applied == 0)
                printf("the ledger in the schema %s has version %d already: nothing to do\n", schema, LEDGER_VERSION);
        else if (was == 0)
                printf("installed the ledger, version %d, in the schema %s: %zu files\n", LEDGER_VERSION, schema,
                       migration->n_applied);
        else if (was < LEDGER_VERSION)
                printf("brought the ledger in the schema %s from version %d to %d: %zu files\n", schema, was,
                       LEDGER_VERSION, migration->n_applied);
        else {
                printf("renewed in the ledger in the schema %s, version %d:", schema, LEDGER_VERSION);
                tell_files(migration);
        }
}

static int tell_json(const Migration *migration) {
        static const char sql[] = "select to_json($1::text)::text";
        const char *const values[] = { session_schema(migration->session) };
        PqReply reply;

        if (session_ask(migration->session, sql, values, 1, 0, &reply) != SQL_DONE)
                return failed(migration, "saying what was done", "", &reply);
        printf("{\"schema\":%s,\"version\":%d,\"was\":%d,\"applied\":[", pq_rows_text(reply.rows, 0, 0), LEDGER_VERSION,
               migration->before.version);
        for (size_t i = 0; i < migration->n_applied; i++)
                printf("%s\"%s\"", i ? "," : "", migration->applied[i]->name);
        puts("]}");
        pq_rows_free(reply.rows);
        return 0;
}

static int check_server(const Migration *migration) {
        int version = session_server_version(migration->session);

        if (version >= SERVER_MIN)
                return 0;
        fprintf(stderr,
                "endwell ledger migrate: the server is PostgreSQL %d, and the ledger needs 13 or newer: nothing was "
                "done\n",
                version / 10000);
        return COMMAND_NO_LEDGER;
}

static int migrate(Migration *migration) {
        int code = command_open(&command_migrate, &migration->place, false, &migration->session);

        if (code == 0)
                code = check_server(migration);
        if (code == 0)
                code = look(migration);
        if (code == 0 && has_work(migration))
                code = carry_out(migration);
        if (code == 0 && migration->place.json)
                code = tell_json(migration);
        else if (code == 0)
                tell(migration);
        installed_done(&migration->before);
        session_free(migration->session);
        return command_flush(&command_migrate, code);
}

static int run(int argc, char **argv) {
        static const struct option options[] = {
                COMMAND_LONG,
                { "again", no_argument, NULL, 'a' },
                { "print", no_argument, NULL, 'p' },
                { 0 },
        };
        Migration migration = { 0 };
        int option, code = 0;

        command_begin();
        while (code == 0 && !migration.place.helped &&
               (option = getopt_long(argc, argv, COMMAND_SHORT, options, NULL)) != -1)
                switch (option) {
                case 'a': migration.again = true; break;
                case 'p': migration.print = true; break;
                default: code = command_option(&command_migrate, option, argv, &migration.place); break;
                }
        if (code != 0 || migration.place.helped)
                return code;
        if (optind < argc)
                return command_refuse(&command_migrate, "a word too many: ", argv[optind]);
        return migration.print ? print_script(&migration) : migrate(&migration);
}

const Command command_migrate = {
        "ledger migrate",
        "usage: endwell ledger migrate [-c FILE] [--wait TIME] [--again] [--print] [--json]\n"
        "Installs the job ledger, or brings it to this program's version, in one transaction; ten at once are safe.\n"
        "      --again           renew every function, also those that are recorded as installed\n"
        "      --print           write the whole SQL of a new ledger instead, for those who run their own "
        "migrations\n" COMMAND_PLACE_USAGE
        "Exit codes: 0 done or nothing to do; 1 the ledger there is newer than this program; 64 bad usage; 69 the\n"
        "database could not be reached or refused; 78 bad configuration.\n",
        run,
        "installs the ledger, or brings it to this version",
};
