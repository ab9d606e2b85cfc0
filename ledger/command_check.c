/* command_check.c - `endwell ledger check`: whether the ledger in a database is the one of this program.
 *
 * Installs everything into a scratch schema, within a transaction that is rolled back, and compares what the server's
 * catalogs say of the two: nobody has to write down twice how a ledger looks. */
#include "base/take.h"
#include "ledger/command.h"
#include "ledger/install.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define SCRATCH "endwell check"

typedef struct Check {
        CommandPlace place;
        Session *session;
        Installed installed;
        PqRows *drift;
        size_t n_files; /* of which another text was installed, or none */
} Check;

enum { KIND, NAME, PROBLEM };

static int failed(const Check *check, const char *doing, const char *what, const PqReply *reply) {
        char text[160];

        snprintf(text, sizeof text, "%s%s", doing, what);
        return command_failed(&command_check, check->session, text, reply);
}

/* To compare takes the right to make a schema; that is not the worker's right, so say whose. */
static int install_scratch(Check *check) {
        static const char begin[] = "begin; set local statement_timeout = 0; set local client_min_messages = warning; "
                                    "set local search_path = pg_catalog, pg_temp";
        const SqlFile *file = NULL;
        PqReply reply;

        SqlAnswer answer = session_script(check->session, begin, NULL, 0, &reply);
        pq_rows_free(reply.rows);
        if (answer != SQL_DONE)
                return failed(check, "beginning", "", &reply);
        answer = install_all(check->session, SCRATCH, &reply, &file);
        if (answer == SQL_REFUSED) {
                fprintf(stderr,
                        "endwell ledger check: the ledger could not be compared: %s; to compare, this role must be "
                        "allowed to "
                        "make a schema for a moment (grant create on database), or let another role check\n",
                        reply.why);
                return COMMAND_NO_LEDGER;
        }
        return answer == SQL_DONE ? 0 : failed(check, "installing for comparison ", file->name, &reply);
}

static int compare(Check *check) {
        const char *const values[] = { session_schema(check->session), SCRATCH };
        PqReply reply;

        int code = install_scratch(check);
        if (code == 0)
                code = command_ask(&command_check, check->session, "comparing", sql_command("drift"), values,
                                   LENGTH_OF(values), false, &check->drift);
        if (code == 0 && session_script(check->session, "rollback", NULL, 0, &reply) != SQL_DONE)
                return failed(check, "rolling back", "", &reply);
        return code; /* else the end of the connection rolls back */
}

/* Whether migrate would have something to do. */
static const char *file_problem_of(const Check *check, const SqlFile *file) {
        if (!installed_has(&check->installed, file))
                return "missing";
        return sql_file_is_structure(file) || installed_is_same(&check->installed, file) ? NULL : "changed";
}

/* ---- Saying it ---- */

static int add_files(Check *check, Table *table) {
        int r = 0;

        for (const SqlFile *file = sql_files; file->name && r == 0; file++) {
                const char *problem = file_problem_of(check, file);
                if (!problem)
                        continue;
                check->n_files++;
                r = table_add(table, (const char *const[]){ "file", problem, file->name });
        }
        return r;
}

static int add_drift(const Check *check, Table *table) {
        int r = 0;

        for (size_t i = 0; i < pq_rows_count(check->drift) && r == 0; i++)
                r = table_add(table, (const char *const[]){ pq_rows_text(check->drift, i, KIND),
                                                            pq_rows_text(check->drift, i, PROBLEM),
                                                            pq_rows_text(check->drift, i, NAME) });
        return r;
}

/* Names may have quotes in them, so that the server writes the JSON. */
static int print_json(const Check *check, const Table *table) {
        static const char sql[] =
                "select json_build_object('kind', $1::text, 'problem', $2::text, 'name', $3::text)::text";

        putchar('[');
        for (size_t i = 0; i < table->n_rows; i++) {
                PqRows *row = NULL;
                int code = command_ask(&command_check, check->session, "writing JSON", sql,
                                       (const char *const *)table->cells + i * 3, 3, false, &row);
                if (code != 0)
                        return code;
                printf("%s%s", i ? ",\n " : "", pq_rows_text(row, 0, 0));
                pq_rows_free(row);
        }
        puts("]");
        return 0;
}

static int print(const Check *check, const Table *table) {
        const char *schema = session_schema(check->session);

        if (table->n_rows == 0) {
                printf("the ledger in the schema %s is the one of this program: version %d, %zu files, nothing "
                       "differs\n",
                       schema, check->installed.version, pq_rows_count(check->installed.rows));
                return 0;
        }
        int code = command_print_table(&command_check, table);
        printf("\n%zu difference%s in the schema %s. `endwell ledger migrate%s` renews files and functions; what "
               "differs in\n"
               "tables, columns, indexes, constraints, triggers and types a person must put right.\n",
               table->n_rows, table->n_rows == 1 ? "" : "s", schema, check->n_files ? "" : " --again");
        return code;
}

static int tell(Check *check) {
        static const TableColumn columns[] = { { "KIND", false }, { "PROBLEM", false }, { "NAME", false } };
        _cleanup_(table_done) Table table = { 0 };

        table_init(&table, columns, LENGTH_OF(columns));
        int r = add_files(check, &table);
        if (r == 0)
                r = add_drift(check, &table);
        if (r < 0)
                return command_out_of_memory(&command_check);
        int code = check->place.json ? print_json(check, &table) : print(check, &table);
        return code != 0 ? code : table.n_rows > 0 ? COMMAND_NOT_SO : COMMAND_DONE;
}

static int judge_version(const Check *check) {
        const char *schema = session_schema(check->session);

        if (check->installed.version == 0)
                fprintf(stderr,
                        "endwell ledger check: there is no ledger in the schema %s; `endwell ledger migrate` installs "
                        "it\n",
                        schema);
        else if (check->installed.version > LEDGER_VERSION)
                fprintf(stderr,
                        "endwell ledger check: the ledger in the schema %s has version %d, newer than this program, "
                        "which knows "
                        "%d: it cannot be compared; check it with the newer endwell\n",
                        schema, check->installed.version, LEDGER_VERSION);
        else
                return 0;
        return COMMAND_NOT_SO;
}

static int check_ledger(Check *check) {
        PqReply reply;

        int code = command_open(&command_check, &check->place, false, &check->session);
        if (code == 0 && install_read(check->session, &check->installed, &reply) != SQL_DONE)
                code = failed(check, "reading what is installed", "", &reply);
        if (code == 0)
                code = judge_version(check);
        if (code == 0)
                code = compare(check);
        if (code == 0)
                code = tell(check);
        pq_rows_free(check->drift);
        installed_done(&check->installed);
        session_free(check->session);
        return command_flush(&command_check, code);
}

static int run(int argc, char **argv) {
        static const struct option options[] = { COMMAND_LONG, { 0 } };
        Check check = { 0 };
        int option, code = 0;

        command_begin();
        while (code == 0 && !check.place.helped &&
               (option = getopt_long(argc, argv, COMMAND_SHORT, options, NULL)) != -1)
                code = command_option(&command_check, option, argv, &check.place);
        if (code != 0 || check.place.helped)
                return code;
        if (optind < argc)
                return command_refuse(&command_check, "a word too many: ", argv[optind]);
        return check_ledger(&check);
}

const Command command_check = {
        "ledger check",
        "usage: endwell ledger check [-c FILE] [--wait TIME] [--json]\n"
        "Compares the ledger in the database with the one of this program, and names everything that is missing, "
        "changed\n"
        "or extra. It installs the ledger into a scratch schema for that, and rolls it back.\n" COMMAND_PLACE_USAGE
        "Exit codes: 0 nothing differs; 1 something does, or there is no ledger, or a newer one; 64 bad usage; 69 the\n"
        "database could not be reached or refused; 78 bad configuration.\n",
        run,
        "names what differs from this program's ledger",
};
