/* command_show.c - `endwell jobs show`: everything about single jobs. Looking heals: one whose worker is silent beyond
 * its lease is recovered first, and that is said. */
#include "base/duration.h"
#include "base/take.h"
#include "ledger/command.h"
#include "ledger/plain.h"
#include "ledger/sql_files.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct ShowOptions {
        CommandPlace place;
        bool payload;
} ShowOptions;

enum { BEFORE_STATE, BEFORE_GEN };
enum { LOOK_STATUS, LOOK_GEN };
enum { BUDGET, ATTEMPT, OUTCOME, ENDED, LASTED, ERROR };

typedef struct Healed {
        bool was_stuck;
        char status[24];
} Healed;

static int ask(Session *session, const char *doing, const char *sql, const char *const *values, size_t n, bool json,
               PqRows **ret) {
        return command_ask(&command_show, session, doing, sql, values, n, json, ret);
}

/* look() itself does not say whether it recovered; the generation does. */
static int look(Session *session, const char *id, Healed *ret) {
        _cleanup_(pq_rows_freep) PqRows *before = NULL, *after = NULL;
        const char *const values[] = { id };

        *ret = (Healed){ 0 };
        int code = ask(session, "looking at a job", sql_command("before"), values, 1, false, &before);
        if (code == 0)
                code = ask(session, "looking at a job", "select status, gen from @schema@.look($1::bigint)", values, 1,
                           false, &after);
        if (code != 0 || pq_rows_count(after) == 0 || pq_rows_count(before) == 0)
                return code;
        ret->was_stuck = strcmp(pq_rows_text(before, 0, BEFORE_STATE), "running") == 0 &&
                         pq_rows_int64(after, 0, LOOK_GEN) > pq_rows_int64(before, 0, BEFORE_GEN);
        snprintf(ret->status, sizeof ret->status, "%s", pq_rows_text(after, 0, LOOK_STATUS));
        return 0;
}

/* ---- For people ---- */

/* What is worth a line: the columns of show.sql, made into a word and a text each, those without a text left out. */
static const char lines_sql[] =
        "select v.name, v.text from (%s) s cross join lateral (values "
        "('status', s.status || case when s.cancel and s.status = 'running' then ', asked to stop' else '' end), "
        "('queue', s.queue || case when s.kind <> '' then ', kind ' || s.kind else '' end), "
        "('attempts', s.attempts || ' of ' || s.max_attempts || ', deaths ' || s.deaths || ' of ' || s.max_deaths || "
        "', given back ' || s.releases || ' of ' || s.max_releases || case when s.budget_no > 0 then ', budget ' || "
        "s.budget_no + 1 || ', ' || s.total_attempts || ' attempts in all' else '' end), "
        "('generation', s.gen::text), ('priority', nullif(s.priority, 0)::text), ('dedup key', s.dedup_key), "
        "('concurrency', s.concurrency_key), ('marks', nullif(concat_ws(', ', case when s.fatal then 'fatal' end, "
        "case when s.solo then 'runs alone' end), '')), "
        "('enqueued', to_char(s.created_at, 'YYYY-MM-DD HH24:MI:SSOF')), "
        "('due', case when s.status in ('ready', 'scheduled') then to_char(s.run_at, 'YYYY-MM-DD HH24:MI:SSOF') end), "
        "('claimed', to_char(s.claimed_at, 'YYYY-MM-DD HH24:MI:SSOF')), "
        "('last sign', case when s.worker_id is not null then to_char(s.beat_at, 'YYYY-MM-DD HH24:MI:SSOF') end), "
        "('deadline', case when s.worker_id is not null then to_char(s.deadline_at, 'YYYY-MM-DD HH24:MI:SSOF') end), "
        "('finished', to_char(s.finished_at, 'YYYY-MM-DD HH24:MI:SSOF')), "
        "('worker', s.worker_id || coalesce(' on ' || nullif(s.worker_host, ''), '') || coalesce(' pid ' || "
        "s.worker_pid, '') "
        "|| coalesce(', ' || s.worker_state, '')), "
        "('error', nullif(concat_ws(': ', s.error_class, s.last_error), '')), ('progress', s.progress::text), "
        "('result', s.result::text), ('items', nullif(s.items::text, '{}')), "
        "('in doubt', nullif(s.in_doubt::text, '[]')), "
        "('payload', case when s.payload is not null then s.payload::text when s.payload_bytes > 0 then "
        "s.payload_bytes || "
        "' bytes (--payload shows it)' end)) v (name, text) where v.text is not null";

#define LINE_INDENT "               " /* as wide as a word and its blanks */

static const char *consequence(const char *status) {
        if (strcmp(status, "dead") == 0)
                return "its attempts are spent, and it is dead now";
        if (strcmp(status, "cancelled") == 0)
                return "it was to be cancelled, and is now";
        return "it is in its queue again now";
}

static int print_lines(Session *session, const char *const *values, const Healed *healed) {
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        _cleanup_(freep) char *sql = NULL;

        if (asprintf(&sql, lines_sql, sql_command("show")) < 0) {
                sql = NULL;
                return command_out_of_memory(&command_show);
        }
        int code = ask(session, "reading a job", sql, values, 2, false, &rows);
        if (code != 0)
                return code;
        printf("job %s\n", values[0]);
        if (healed->was_stuck)
                printf("  It was stuck: its worker was silent for longer than its lease. Looking at it recovered it: "
                       "%s.\n",
                       consequence(healed->status));
        for (size_t i = 0; i < pq_rows_count(rows); i++) {
                _cleanup_(freep) char *text = plain_text(pq_rows_text(rows, i, 1), LINE_INDENT);
                if (!text)
                        return command_out_of_memory(&command_show);
                printf("  %-12s %s\n", pq_rows_text(rows, i, 0), text);
        }
        return 0;
}

static int print_tries(Session *session, const char *const *values) {
        static const TableColumn columns[] = {
                { "  ATTEMPT", true }, { "OUTCOME", false }, { "ENDED", false }, { "LASTED", true }, { "ERROR", false }
        };
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        _cleanup_(table_done) Table table = { 0 };
        int r = 0;

        table_init(&table, columns, LENGTH_OF(columns));
        int code = ask(session, "reading a job's attempts", sql_command("tries"), values, 1, false, &rows);
        if (code != 0 || pq_rows_count(rows) == 0)
                return code;
        for (size_t i = 0; i < pq_rows_count(rows) && r == 0; i++) {
                char attempt[64], age[COMMAND_AGE_MAX];
                snprintf(attempt, sizeof attempt, pq_rows_int64(rows, i, BUDGET) > 0 ? "%s (budget %" PRId64 ")" : "%s",
                         pq_rows_text(rows, i, ATTEMPT), pq_rows_int64(rows, i, BUDGET) + 1);
                const char *const texts[] = { attempt, pq_rows_text(rows, i, OUTCOME), pq_rows_text(rows, i, ENDED),
                                              pq_rows_text(rows, i, LASTED)
                                                      ? command_age(pq_rows_int64(rows, i, LASTED), age)
                                                      : "-",
                                              pq_rows_text(rows, i, ERROR) };
                r = table_add(&table, texts);
        }
        puts("  attempts that did not succeed:");
        return r < 0 ? command_out_of_memory(&command_show) : command_print_table(&command_show, &table);
}

/* ---- One job ---- */

static int show_json(Session *session, const char *const *values, const Healed *healed, bool first) {
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        _cleanup_(freep) char *sql = NULL;

        if (asprintf(&sql, "select s.*, %s as recovered_now from (%s) s", healed->was_stuck ? "true" : "false",
                     sql_command("show")) < 0) {
                sql = NULL;
                return command_out_of_memory(&command_show);
        }
        int code = ask(session, "reading a job", sql, values, 2, true, &rows);
        if (code == 0 && pq_rows_count(rows) > 0)
                printf("%s%s", first ? "" : ",\n ", pq_rows_text(rows, 0, 0));
        return code;
}

/* 1 in *ret_missing when there is no such job. */
static int show_one(const ShowOptions *options, Session *session, const char *id, bool first, bool *ret_missing) {
        const char *const values[] = { id, options->payload ? "true" : "false" };
        Healed healed;

        int code = look(session, id, &healed);
        if (code != 0)
                return code;
        if (!healed.status[0]) {
                fprintf(stderr, "endwell jobs show: there is no job %s\n", id);
                *ret_missing = true;
                return 0;
        }
        if (options->place.json)
                return show_json(session, values, &healed, first);
        if (!first)
                puts("");
        code = print_lines(session, values, &healed);
        if (code == 0)
                code = print_tries(session, values);
        return code == 0 && strcmp(healed.status, "expired") == 0 ? command_tell_unswept(&command_show, session) : code;
}

static int show(const ShowOptions *options, int argc, char **argv) {
        _cleanup_(session_freep) Session *session = NULL;
        bool missing = false, first = true;

        int code = command_open(&command_show, &options->place, true, &session);
        if (code == 0 && options->place.json)
                putchar('[');
        for (int i = optind; i < argc && code == 0; i++) {
                bool this_missing = false;
                code = show_one(options, session, argv[i], first, &this_missing);
                missing = missing || this_missing;
                first = first && this_missing;
        }
        if (code == 0 && options->place.json)
                puts("]");
        return command_flush(&command_show, code == 0 && missing ? COMMAND_NOT_SO : code);
}

static int run(int argc, char **argv) {
        static const struct option words[] = { COMMAND_LONG, { "payload", no_argument, NULL, 'p' }, { 0 } };
        _cleanup_(freep) char *ids = NULL;
        ShowOptions options = { 0 };
        int option, code = 0;

        command_begin();
        while (code == 0 && !options.place.helped &&
               (option = getopt_long(argc, argv, COMMAND_SHORT, words, NULL)) != -1)
                if (option == 'p')
                        options.payload = true;
                else
                        code = command_option(&command_show, option, argv, &options.place);
        if (code != 0 || options.place.helped)
                return code;
        code = command_read_ids(&command_show, argc, argv, &ids);
        return code != 0 ? code : show(&options, argc, argv);
}

const Command command_show = {
        "jobs show",
        "usage: endwell jobs show ID... [--payload] [-c FILE] [--wait TIME] [--json]\n"
        "Shows everything about jobs, their attempts included. A job whose worker is silent for longer than its lease "
        "is\n"
        "recovered by being looked at, and that is said.\n"
        "      --payload         its payload too, which may hold secrets\n" COMMAND_PLACE_USAGE
        "Exit codes: 0; 1 one of them does not exist; 64 bad usage; 69 the database could not be reached or has no "
        "ledger;\n"
        "78 bad configuration.\n",
        run,
        "shows everything about jobs, and frees a stuck one",
};
