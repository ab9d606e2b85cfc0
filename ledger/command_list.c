/* command_list.c - `endwell jobs list`: the jobs of a queue, the newest first; never their payloads. */
#include "base/take.h"
#include "ledger/command.h"
#include "ledger/sql_files.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT "50"
#define LIMIT_MAX     100000

typedef struct ListOptions {
        CommandPlace place;
        const char *queue, *state, *limit;
} ListOptions;

enum { ID, QUEUE, KIND, STATUS, ATTEMPTS, MAX_ATTEMPTS, DEATHS, ERROR_CLASS = 13, LAST_ERROR, SINCE = 16 };

static const TableColumn columns[] = {
        { "ID", true },       { "QUEUE", false }, { "KIND", false }, { "STATUS", false },
        { "ATTEMPTS", true }, { "DEATHS", true }, { "SINCE", true }, { "ERROR", false },
};

static int add(Table *table, const PqRows *rows, size_t row) {
        char attempts[48], age[COMMAND_AGE_MAX], error[600];
        const char *class = pq_rows_text(rows, row, ERROR_CLASS), *last = pq_rows_text(rows, row, LAST_ERROR);

        snprintf(attempts, sizeof attempts, "%s/%s", pq_rows_text(rows, row, ATTEMPTS),
                 pq_rows_text(rows, row, MAX_ATTEMPTS));
        snprintf(error, sizeof error, "%.80s%s%.500s", class ? class : "", class && last ? ": " : "", last ? last : "");
        const char *const texts[LENGTH_OF(columns)] = {
                pq_rows_text(rows, row, ID),
                pq_rows_text(rows, row, QUEUE),
                pq_rows_text(rows, row, KIND),
                pq_rows_text(rows, row, STATUS),
                attempts,
                pq_rows_text(rows, row, DEATHS),
                pq_rows_text(rows, row, SINCE) ? command_age(pq_rows_int64(rows, row, SINCE), age) : "-",
                error,
        };
        return table_add(table, texts);
}

static int print(const ListOptions *options, const PqRows *rows) {
        _cleanup_(table_done) Table table = { 0 };
        size_t n = pq_rows_count(rows);
        int r = 0;

        table_init(&table, columns, LENGTH_OF(columns));
        for (size_t i = 0; i < n && r == 0; i++)
                r = add(&table, rows, i);
        int code = r < 0 ? command_out_of_memory(&command_list) : command_print_table(&command_list, &table);
        if (code == 0 && n == strtoull(options->limit, NULL, 10))
                printf("(the newest %zu; --limit shows more)\n", n);
        return code;
}

static int list(const ListOptions *options) {
        _cleanup_(session_freep) Session *session = NULL;
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        const char *const values[] = { options->queue, options->state, options->limit };

        int code = command_open(&command_list, &options->place, true, &session);
        if (code == 0)
                code = command_ask(&command_list, session, "reading jobs", sql_command("list"), values,
                                   LENGTH_OF(values), options->place.json, &rows);
        if (code == 0 && options->place.json)
                command_print_json(rows);
        else if (code == 0)
                code = print(options, rows);
        return command_flush(&command_list, code);
}

static int check_state(const char *word) {
        static const char *const states[] = { "ready", "scheduled", "running",   "expired",
                                              "done",  "dead",      "cancelled", "discarded" };

        for (size_t i = 0; i < LENGTH_OF(states); i++)
                if (strcmp(states[i], word) == 0)
                        return 0;
        return command_refuse(&command_list,
                              "--state is ready, scheduled, running, expired, done, dead, cancelled or discarded, not ",
                              word);
}

static int check_limit(const char *word) {
        char *end;
        unsigned long n = strtoul(word, &end, 10);

        if (*word >= '0' && *word <= '9' && !*end && n >= 1 && n <= LIMIT_MAX)
                return 0;
        return command_refuse(&command_list, "--limit is a number from 1 to 100000, not ", word);
}

static int run(int argc, char **argv) {
        static const struct option words[] = {
                COMMAND_LONG,
                { "state", required_argument, NULL, 's' },
                { "limit", required_argument, NULL, 'n' },
                { 0 },
        };
        ListOptions options = { .limit = LIMIT_DEFAULT };
        int option, code = 0;

        command_begin();
        while (code == 0 && !options.place.helped &&
               (option = getopt_long(argc, argv, COMMAND_SHORT, words, NULL)) != -1)
                switch (option) {
                case 's':
                        options.state = optarg;
                        code = check_state(optarg);
                        break;
                case 'n':
                        options.limit = optarg;
                        code = check_limit(optarg);
                        break;
                default: code = command_option(&command_list, option, argv, &options.place); break;
                }
        if (code != 0 || options.place.helped)
                return code;
        if (argc - optind > 1)
                return command_refuse(&command_list, "a word too many: ", argv[optind + 1]);
        options.queue = argv[optind];
        return list(&options);
}

const Command command_list = {
        "jobs list",
        "usage: endwell jobs list [QUEUE] [--state STATE] [--limit N] [-c FILE] [--wait TIME] [--json]\n"
        "Lists jobs, the newest first. Payloads are never shown here: they may hold secrets.\n"
        "      --state STATE     only ready, scheduled, running, expired, done, dead, cancelled or discarded ones\n"
        "      --limit N         at most so many (50)\n" COMMAND_PLACE_USAGE
        "Exit codes: 0; 64 bad usage; 69 the database could not be reached or has no ledger; 78 bad configuration.\n",
        run,
        "lists the jobs of a queue, the newest first",
};
