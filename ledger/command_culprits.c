/* command_culprits.c - `endwell jobs culprits`: which causes the failures have, and how many jobs each of them has. */
#include "base/duration.h"
#include "base/json.h"
#include "base/take.h"
#include "ledger/command.h"
#include "ledger/culprit.h"
#include "ledger/sql_files.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROWS_MAX   "20000"
#define SINCE_USEC (24 * 3600 * USEC_PER_SEC)
#define SINCE_MAX  (3650 * 24 * 3600 * USEC_PER_SEC)
#define IDS_TEXT   256

enum { QUEUE, KIND, CLASS, ERROR, JOB, FAILURES, AGO };

static const TableColumn columns[] = {
        { "JOBS", true }, { "FAILURES", true }, { "QUEUE", false }, { "KIND", false },
        { "LAST", true }, { "WHICH", false },   { "ERROR", false },
};

static int collect(const PqRows *rows, Culprits *culprits) {
        int r = 0;

        for (size_t i = 0; i < pq_rows_count(rows) && r == 0; i++)
                r = culprits_add(culprits, pq_rows_text(rows, i, QUEUE), pq_rows_text(rows, i, KIND),
                                 pq_rows_text(rows, i, CLASS), pq_rows_text(rows, i, ERROR),
                                 pq_rows_int64(rows, i, JOB), (uint64_t)pq_rows_int64(rows, i, FAILURES),
                                 pq_rows_int64(rows, i, AGO));
        culprits_sort(culprits);
        return r;
}

/* ---- For people ---- */

static const char *ids_of(const Culprit *item, char ret[static IDS_TEXT]) {
        size_t length = 0;
        uint64_t n = item->n_jobs < CULPRIT_JOBS_MAX ? item->n_jobs : CULPRIT_JOBS_MAX;

        for (uint64_t i = 0; i < n && i < 4; i++)
                length += (size_t)snprintf(ret + length, IDS_TEXT - length, "%s%" PRId64, i ? " " : "", item->jobs[i]);
        if (item->n_jobs > 4)
                snprintf(ret + length, IDS_TEXT - length, " …");
        return ret;
}

static int add(Table *table, const Culprit *item) {
        char jobs[24], failures[24], age[COMMAND_AGE_MAX], ids[IDS_TEXT], error[FINGERPRINT_MAX + 100];

        snprintf(jobs, sizeof jobs, "%" PRIu64, item->n_jobs);
        snprintf(failures, sizeof failures, "%" PRIu64, item->failures);
        snprintf(error, sizeof error, "%.80s%s%s", item->class, item->class[0] && item->text[0] ? ": " : "",
                 item->text);
        const char *const texts[LENGTH_OF(columns)] = {
                jobs, failures, item->queue, item->kind, command_age(item->ago_usec, age), ids_of(item, ids), error,
        };
        return table_add(table, texts);
}

/* One job that fails again and again makes the figures, and people look at the figures: so it is named. */
static void name_poison(const Culprits *culprits) {
        for (size_t i = 0; i < culprits->n; i++)
                if (culprits->items[i].worst_failures * 2 > culprits->failures && culprits->n_jobs > 1)
                        printf("job %" PRId64 " alone made %" PRIu64 " of them\n", culprits->items[i].jobs[0],
                               culprits->items[i].worst_failures);
}

static int print(const Culprits *culprits, usec_t since, bool cut) {
        _cleanup_(table_done) Table table = { 0 };
        char span[DURATION_TEXT_MAX];
        int r = 0;

        duration_format(since, span);
        if (since % (3600 * USEC_PER_SEC) == 0 && since <= 1000 * 3600 * USEC_PER_SEC)
                snprintf(span, sizeof span, "%" PRIu64 " h", since / (3600 * USEC_PER_SEC));
        printf("%" PRIu64 " failure%s in %s came from %" PRIu64 " job%s\n", culprits->failures,
               culprits->failures == 1 ? "" : "s", span, culprits->n_jobs, culprits->n_jobs == 1 ? "" : "s");
        if (cut)
                puts("(only the " ROWS_MAX
                     " worst pairs of job and error were looked at; a shorter --since shows all)");
        if (culprits->n == 0)
                return 0;
        name_poison(culprits);
        puts("");
        table_init(&table, columns, LENGTH_OF(columns));
        for (size_t i = 0; i < culprits->n && r == 0; i++)
                r = add(&table, &culprits->items[i]);
        return r < 0 ? command_out_of_memory(&command_culprits) : command_print_table(&command_culprits, &table);
}

/* ---- For programs ---- */

static void print_cause(const Culprit *item) {
        char text[8192];
        Json json;

        json_init(&json, text, sizeof text);
        json_open_object(&json, NULL);
        json_put_string(&json, "queue", item->queue);
        json_put_string(&json, "kind", item->kind);
        json_put_string(&json, "error_class", item->class);
        json_put_string(&json, "error", item->text);
        json_put_unsigned(&json, "failures", item->failures);
        json_put_unsigned(&json, "distinct_jobs", item->n_jobs);
        json_open_array(&json, "jobs");
        for (uint64_t i = 0; i < item->n_jobs && i < CULPRIT_JOBS_MAX; i++)
                json_put_signed(&json, NULL, item->jobs[i]);
        json_close(&json);
        json_put_unsigned(&json, "worst_failures", item->worst_failures);
        json_put_signed(&json, "last_usec_ago", item->ago_usec);
        (void)json_finish(&json);
        fputs(text, stdout);
}

static void print_json(const Culprits *culprits, bool cut) {
        printf("{\"failures\":%" PRIu64 ",\"distinct_jobs\":%" PRIu64 ",\"complete\":%s,\"culprits\":[",
               culprits->failures, culprits->n_jobs, cut ? "false" : "true");
        for (size_t i = 0; i < culprits->n; i++) {
                fputs(i ? ",\n " : "", stdout);
                print_cause(&culprits->items[i]);
        }
        puts("]}");
}

static int show(const CommandPlace *place, usec_t since) {
        _cleanup_(session_freep) Session *session = NULL;
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        _cleanup_(culprits_done) Culprits culprits = { 0 };
        char span[48];
        const char *const values[] = { span, ROWS_MAX };

        snprintf(span, sizeof span, "%" PRIu64 " microseconds", since);
        int code = command_open(&command_culprits, place, true, &session);
        if (code == 0)
                code = command_ask(&command_culprits, session, "reading failures", sql_command("failures"), values,
                                   LENGTH_OF(values), false, &rows);
        if (code == 0 && collect(rows, &culprits) < 0)
                code = command_out_of_memory(&command_culprits);
        bool cut = pq_rows_count(rows) >= strtoul(ROWS_MAX, NULL, 10);
        if (code == 0 && place->json)
                print_json(&culprits, cut);
        else if (code == 0)
                code = print(&culprits, since, cut);
        return command_flush(&command_culprits, code);
}

static int read_since(const char *text, usec_t *ret) {
        usec_t since;

        if (duration_parse(text, &since) < 0 || since == 0 || since > SINCE_MAX)
                return command_refuse(&command_culprits, "--since takes a time like 24h, up to 3650d, not ", text);
        *ret = since;
        return 0;
}

static int run(int argc, char **argv) {
        static const struct option options[] = { COMMAND_LONG, { "since", required_argument, NULL, 's' }, { 0 } };
        CommandPlace place = { 0 };
        usec_t since = SINCE_USEC;
        int option, code = 0;

        command_begin();
        while (code == 0 && !place.helped && (option = getopt_long(argc, argv, COMMAND_SHORT, options, NULL)) != -1)
                code = option == 's' ? read_since(optarg, &since)
                                     : command_option(&command_culprits, option, argv, &place);
        if (code != 0 || place.helped)
                return code;
        if (optind < argc)
                return command_refuse(&command_culprits, "a word too many: ", argv[optind]);
        return show(&place, since);
}

const Command command_culprits = {
        "jobs culprits",
        "usage: endwell jobs culprits [--since TIME] [-c FILE] [--wait TIME] [--json]\n"
        "Says where the failures come from: one line for each cause (the same queue, kind, and error but for its "
        "numbers\n"
        "and names), those that many jobs share first.\n"
        "      --since TIME      how far back (24h)\n" COMMAND_PLACE_USAGE
        "Exit codes: 0; 64 bad usage; 69 the database could not be reached or has no ledger; 78 bad configuration.\n",
        run,
        "says which causes the failures have, and which jobs",
};
