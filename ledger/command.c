/* command.c - what the programs endwell-ledger and endwell-jobs share. */
#include "ledger/command.h"
#include "base/duration.h"
#include "base/names.h"
#include "base/take.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#define COMMANDS_MAX 16

/* ---- Words ---- */

static int list(const char *program, const Command *commands, const char *introduction, FILE *out) {
        fprintf(out, "usage: endwell %s VERB [WORDS]      endwell %s VERB --help\n%s\n", program, program,
                introduction);
        for (const Command *command = commands; command->name; command++)
                fprintf(out, "  %-9s %s\n", command->name + strlen(program) + 1, command->summary);
        return out == stdout && fflush(out) != 0 ? COMMAND_FAULT : COMMAND_DONE;
}

static int refuse_verb(const char *program, const Command *commands, const char *word) {
        const char *known[COMMANDS_MAX];
        size_t n = 0;

        for (const Command *command = commands; command->name && n < COMMANDS_MAX; command++)
                known[n++] = command->name + strlen(program) + 1;
        const char *nearest = name_nearest(word, known, n);
        fprintf(stderr, "endwell %s: there is no verb %.60s%s%s%s\nTry `endwell %s --help`.\n", program, word,
                nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "", program);
        return COMMAND_USAGE;
}

int command_dispatch(const char *program, const Command *commands, const char *introduction, int argc, char **argv) {
        if (argc < 2) {
                (void)list(program, commands, introduction, stderr);
                return COMMAND_USAGE;
        }
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
                return list(program, commands, introduction, stdout);
        for (const Command *command = commands; command->name; command++)
                if (strcmp(command->name + strlen(program) + 1, argv[1]) == 0)
                        return command->run(argc - 1, argv + 1);
        return refuse_verb(program, commands, argv[1]);
}

void command_begin(void) {
        opterr = 0;
        optind = 0; /* glibc: begin afresh, whoever parsed before */
}

int command_refuse(const Command *command, const char *what, const char *word) {
        fprintf(stderr, "endwell %s: %s%s\nTry `endwell %s --help`.\n", command->name, what, word, command->name);
        return COMMAND_USAGE;
}

int command_option(const Command *command, int option, char **argv, CommandPlace *place) {
        switch (option) {
        case 'c': place->config = optarg; return 0;
        case 'j': place->json = true; return 0;
        case 'w':
                if (duration_parse(optarg, &place->wait_usec) == 0)
                        return 0;
                return command_refuse(command, "--wait takes a time like 30s, not ", optarg);
        case 'h':
                fputs(command->usage, stdout);
                place->helped = true;
                return 0;
        case ':': return command_refuse(command, "a word is missing after ", argv[optind - 1]);
        default: return command_refuse(command, "there is no option ", argv[optind - 1]);
        }
}

/* ---- The database ---- */

static int find_by_file(const Command *command, const char *path, Database *ret) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;

        int r = complaints_new(&complaints);
        if (r == 0)
                r = database_from_file(path, complaints, ret);
        if (r == 0)
                return 0;
        if (r == -ENOMEM)
                return command_out_of_memory(command);
        complaints_print(complaints, stderr);
        fprintf(stderr, "endwell %s: where the database is could not be read from %s; nothing was done\n",
                command->name, path);
        return COMMAND_CONFIG;
}

int command_find_database(const Command *command, const CommandPlace *place, Database *ret) {
        char problem[DATABASE_PROBLEM_MAX];

        if (place->config)
                return find_by_file(command, place->config, ret);
        int r = database_from_environment(ret, problem);
        if (r == 0)
                return 0;
        if (r == -ENOMEM)
                return command_out_of_memory(command);
        fprintf(stderr, "endwell %s: %s; nothing was done\n", command->name, problem);
        return COMMAND_CONFIG;
}

static void say_wait(const char *why, usec_t retry_usec) {
        char text[DURATION_TEXT_MAX];

        fprintf(stderr, "endwell: the database is not there yet: %s; the next attempt is in %s\n", why,
                duration_format(retry_usec, text));
}

int command_open(const Command *command, const CommandPlace *place, bool read_only_will_do, Session **ret) {
        _cleanup_(database_done) Database database = { 0 };
        char why[SERVER_WORDS_MAX], where[PLACE_MAX];
        const SessionOptions options = { "endwell", read_only_will_do, place->wait_usec, say_wait };

        int code = command_find_database(command, place, &database);
        if (code != 0)
                return code;
        int r = session_open(ret, &database, &options, why);
        if (r == 0)
                return 0;
        (void)pq_place(database.url, where);
        fprintf(stderr, "endwell %s: could not connect to %s (from %s): %s; nothing was done\n", command->name, where,
                database.origin, r == -ENOTCONN ? why : strerrordesc_np(-r));
        return r == -ENOTCONN ? COMMAND_NO_LEDGER : COMMAND_FAULT;
}

/* ---- Failures ---- */

static const char *consequence(SqlAnswer answer) {
        switch (answer) {
        case SQL_LOST: return "whether it was done is not known";
        case SQL_RETRY: return "somebody else was at the same thing: nothing was done, try again";
        case SQL_TIMEOUT: return "the server gave up: nothing was done";
        case SQL_REFUSED: return "nothing was done; see GRANTS in endwell-ledger(7)";
        case SQL_SCHEMA: return "run `endwell ledger migrate`, or name the right schema";
        case SQL_READ_ONLY: return "this server takes no writes now: nothing was done";
        case SQL_FULL: return "nothing was done";
        case SQL_STALE:
        case SQL_ISOLATION:
        case SQL_FAILED:
        case SQL_DONE:
        case _SQL_ANSWER_MAX: break;
        }
        return "nothing was done";
}

/* Classes of codes: what was given cannot be what it is to be, or is beyond a limit of the server's. So it is the
 * caller's fault, and not ours. */
static bool is_bad_value(const PqReply *reply) {
        return strncmp(reply->state, "22", 2) == 0 || strncmp(reply->state, "54", 2) == 0;
}

int command_failed(const Command *command, const Session *session, const char *doing, const PqReply *reply) {
        SqlAnswer answer = reply->answer;

        if (is_bad_value(reply)) {
                fprintf(stderr, "endwell %s: the database does not take it: %s; nothing was done\n", command->name,
                        reply->why);
                return COMMAND_USAGE;
        }
        if (answer == SQL_SCHEMA)
                fprintf(stderr, "endwell %s: %s: there is no ledger of this version in the schema %s: %s; %s\n",
                        command->name, doing, session_schema(session), reply->why, consequence(answer));
        else
                fprintf(stderr, "endwell %s: %s: %s%s%s%s; %s\n", command->name, doing, reply->why,
                        reply->state[0] ? " (" : "", reply->state, reply->state[0] ? ")" : "", consequence(answer));
        return answer == SQL_FAILED ? COMMAND_FAULT : COMMAND_NO_LEDGER;
}

int command_out_of_memory(const Command *command) {
        fprintf(stderr, "endwell %s: out of memory\n", command->name);
        return COMMAND_FAULT;
}

int command_flush(const Command *command, int code) {
        if (fflush(stdout) == 0 && !ferror(stdout))
                return code;
        fprintf(stderr, "endwell %s: could not write to stdout: %s\n", command->name, strerrordesc_np(errno));
        return COMMAND_FAULT;
}

/* ---- Asking and saying ---- */

int command_ask(const Command *command, Session *session, const char *doing, const char *sql, const char *const *values,
                size_t n_values, bool json, PqRows **ret) {
        _cleanup_(freep) char *wrapped = NULL;
        PqReply reply;

        if (json && asprintf(&wrapped, "select to_json(t)::text from (%s) t", sql) < 0) {
                wrapped = NULL;
                return command_out_of_memory(command);
        }
        if (session_ask(session, json ? wrapped : sql, values, n_values, 0, &reply) != SQL_DONE)
                return command_failed(command, session, doing, &reply);
        *ret = reply.rows;
        return 0;
}

static bool is_terminal(void) {
        return isatty(STDOUT_FILENO);
}

static bool has_colour(void) {
        const char *no = getenv("NO_COLOR");

        return is_terminal() && (!no || !*no);
}

static size_t terminal_width(void) {
        const char *columns = getenv("COLUMNS");
        struct winsize size;

        if (columns && atoi(columns) > 0)
                return (size_t)atoi(columns);
        return is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int command_print_table(const Command *command, const Table *table) {
        _cleanup_(freep) char *text = table_format(table, terminal_width(), has_colour());

        if (!text)
                return command_out_of_memory(command);
        fputs(text, stdout);
        return 0;
}

const char *command_age(int64_t usec, char ret[static COMMAND_AGE_MAX]) {
        static const struct {
                int64_t seconds;
                const char *unit;
        } units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
        int64_t seconds = (usec < 0 ? -usec : usec) / (int64_t)USEC_PER_SEC;
        size_t i = 0;

        while (i < LENGTH_OF(units) - 1 && seconds < 2 * units[i].seconds)
                i++;
        snprintf(ret, COMMAND_AGE_MAX, "%s%lld %s", usec < 0 ? "in " : "", (long long)(seconds / units[i].seconds),
                 units[i].unit);
        return ret;
}

static bool is_id(const char *word) {
        return *word && strspn(word, "0123456789") == strlen(word) && strlen(word) <= 18;
}

int command_read_ids(const Command *command, int argc, char **argv, char **ret) {
        size_t size = 3;

        if (optind >= argc)
                return command_refuse(command, "the id of a job is missing", "");
        for (int i = optind; i < argc; i++) {
                if (!is_id(argv[i]))
                        return command_refuse(command, "the id of a job is a number, not ", argv[i]);
                size += strlen(argv[i]) + 1;
        }
        char *ids = malloc(size), *at = ids;
        if (!ids)
                return command_out_of_memory(command);
        for (int i = optind; i < argc; i++) {
                at = stpcpy(at, i == optind ? "{" : ",");
                at = stpcpy(at, argv[i]);
        }
        strcpy(at, "}");
        *ret = ids;
        return 0;
}

void command_print_json(const PqRows *rows) {
        size_t n = pq_rows_count(rows);

        putchar('[');
        for (size_t i = 0; i < n; i++)
                printf("%s%s", i ? ",\n " : "", pq_rows_text(rows, i, 0));
        puts("]");
}

const char *command_by(void) {
        const char *name = getenv("SUDO_USER");

        if (!name || !*name)
                name = getenv("USER");
        return name && *name ? name : "somebody without $USER";
}
