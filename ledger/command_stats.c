/* command_stats.c - `endwell jobs stats`: how each queue stands. */
#include "base/take.h"
#include "ledger/command.h"
#include "ledger/sql_files.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { QUEUE, READY, SCHEDULED, RUNNING, EXPIRED, DEAD, OLDEST, PAUSED };

static const TableColumn columns[] = {
        { "QUEUE", false },  { "READY", true }, { "SCHEDULED", true }, { "RUNNING", true },
        { "EXPIRED", true }, { "DEAD", true },  { "OLDEST", true },    { "NOTE", false },
};

static int print(Session *session, const char *queue, const PqRows *rows) {
        _cleanup_(table_done) Table table = { 0 };
        size_t n = pq_rows_count(rows), n_shown = 0;
        int64_t n_expired = 0;
        int r = 0;

        table_init(&table, columns, LENGTH_OF(columns));
        for (size_t i = 0; i < n && r == 0; i++) {
                const char *texts[LENGTH_OF(columns)];
                char age[COMMAND_AGE_MAX];
                if (queue && strcmp(pq_rows_text(rows, i, QUEUE), queue) != 0)
                        continue;
                for (size_t j = 0; j < LENGTH_OF(columns); j++)
                        texts[j] = pq_rows_text(rows, i, j);
                texts[OLDEST] = texts[OLDEST] ? command_age(pq_rows_int64(rows, i, OLDEST), age) : "-";
                texts[PAUSED] = pq_rows_bool(rows, i, PAUSED) ? "paused" : "";
                r = table_add(&table, texts);
                n_shown++;
                n_expired += pq_rows_int64(rows, i, EXPIRED);
        }
        if (r < 0)
                return command_out_of_memory(&command_stats);
        if (queue && n_shown == 0) {
                fprintf(stderr, "endwell jobs stats: there is no queue %.200s\n", queue);
                return COMMAND_NOT_SO;
        }
        int code = command_print_table(&command_stats, &table);
        return code == 0 && n_expired > 0 ? command_tell_unswept(&command_stats, session) : code;
}

static int stats(const CommandPlace *place, const char *queue) {
        _cleanup_(session_freep) Session *session = NULL;
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        const char *const values[] = { queue };
        char sql[2048];

        snprintf(sql, sizeof sql, "select * from (%s) s where $1::text is null or s.queue = $1::text",
                 sql_command("stats"));
        int code = command_open(&command_stats, place, true, &session);
        if (code == 0)
                code = command_ask(&command_stats, session, "counting jobs", sql, values, 1, place->json, &rows);
        if (code == 0 && place->json)
                command_print_json(rows);
        else if (code == 0)
                code = print(session, queue, rows);
        return command_flush(&command_stats, code);
}

static int run(int argc, char **argv) {
        static const struct option options[] = { COMMAND_LONG, { 0 } };
        CommandPlace place = { 0 };
        int option, code = 0;

        command_begin();
        while (code == 0 && !place.helped && (option = getopt_long(argc, argv, COMMAND_SHORT, options, NULL)) != -1)
                code = command_option(&command_stats, option, argv, &place);
        if (code != 0 || place.helped)
                return code;
        if (argc - optind > 1)
                return command_refuse(&command_stats, "a word too many: ", argv[optind + 1]);
        return stats(&place, argv[optind]);
}

const Command command_stats = {
        "jobs stats",
        "usage: endwell jobs stats [QUEUE] [-c FILE] [--wait TIME] [--json]\n"
        "Counts the jobs of each queue: READY are due, SCHEDULED are due later, EXPIRED run but their worker is silent "
        "for\n"
        "longer than its lease, DEAD wait for a person; OLDEST is how long the oldest due one has "
        "waited.\n" COMMAND_PLACE_USAGE "Exit codes: 0; 1 there is no such queue; 64 bad usage; 69 the database could "
        "not be reached or has no ledger;\n"
        "78 bad configuration.\n",
        run,
        "counts the jobs of each queue",
};
