/* command_settle.c - `endwell jobs retry`, `discard` and `cancel`: what a person decides about jobs. */
#include "base/take.h"
#include "ledger/command.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define ROW_USAGE                                                                                                      \
        COMMAND_PLACE_USAGE                                                                                            \
        "Exit codes: 0 all of them; 1 not all of them, each is said; 64 bad usage; 69 the database could not be "      \
        "reached\n"                                                                                                    \
        "or has no ledger; 78 bad configuration.\n"

enum { ID, ANSWER };

typedef struct Sentence {
        const char *answer, *sentence; /* with the id before it */
        bool is_good;
} Sentence;

static const Sentence *find(const Sentence *sentences, const char *answer) {
        while (sentences->answer && strcmp(sentences->answer, answer) != 0)
                sentences++;
        return sentences;
}

/* 1 when one of them was not settled. */
static int print(const PqRows *rows, const Sentence *sentences, bool json) {
        int code = COMMAND_DONE;

        if (json)
                putchar('[');
        for (size_t i = 0; i < pq_rows_count(rows); i++) {
                const char *id = pq_rows_text(rows, i, ID), *answer = pq_rows_text(rows, i, ANSWER);
                const Sentence *sentence = find(sentences, answer);
                if (json)
                        printf("%s{\"id\":%s,\"answer\":\"%s\"}", i ? ",\n " : "", id, answer);
                else
                        printf("job %s %s\n", id, sentence->answer ? sentence->sentence : answer);
                if (!sentence->is_good)
                        code = COMMAND_NOT_SO;
        }
        if (json)
                puts("]");
        return code;
}

static int settle(const Command *command, const CommandPlace *place, const char *ids, const char *sql,
                  const Sentence *sentences) {
        _cleanup_(session_freep) Session *session = NULL;
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        const char *const values[] = { ids, command_by() };

        int code = command_open(command, place, false, &session);
        if (code == 0)
                code = command_ask(command, session, "changing jobs", sql, values, LENGTH_OF(values), false, &rows);
        if (code == 0)
                code = print(rows, sentences, place->json);
        return command_flush(command, code);
}

static int run(const Command *command, int argc, char **argv, const char *sql, const Sentence *sentences) {
        static const struct option options[] = { COMMAND_LONG, { 0 } };
        _cleanup_(freep) char *ids = NULL;
        CommandPlace place = { 0 };
        int option, code = 0;

        command_begin();
        while (code == 0 && !place.helped && (option = getopt_long(argc, argv, COMMAND_SHORT, options, NULL)) != -1)
                code = command_option(command, option, argv, &place);
        if (code != 0 || place.helped)
                return code;
        code = command_read_ids(command, argc, argv, &ids);
        return code != 0 ? code : settle(command, &place, ids, sql, sentences);
}

static int run_retry(int argc, char **argv) {
        static const Sentence sentences[] = {
                { "ok", "is ready again, with a new budget of attempts", true },
                { "stale", "is not dead: nothing was done with it", false },
                { "gone", "does not exist", false },
                { 0 },
        };
        return run(&command_retry, argc, argv, "select id, answer from @schema@.retry($1::bigint[], $2)", sentences);
}

static int run_discard(int argc, char **argv) {
        static const Sentence sentences[] = {
                { "ok", "was discarded: it never runs again, and its dedup key is free", true },
                { "stale", "is not dead: nothing was done with it", false },
                { "gone", "does not exist", false },
                { 0 },
        };
        return run(&command_discard, argc, argv, "select id, answer from @schema@.discard($1::bigint[], $2)",
                   sentences);
}

static int run_cancel(int argc, char **argv) {
        static const Sentence sentences[] = {
                { "cancelled", "was cancelled: it does not run", true },
                { "asked", "is running: its worker was asked to stop, and hears it at its next sign of life", true },
                { "already", "has ended already: nothing was done with it", false },
                { "gone", "does not exist", false },
                { 0 },
        };
        return run(&command_cancel, argc, argv,
                   "select t.id, @schema@.cancel(t.id) as answer from unnest($1::bigint[]) with ordinality t (id, n) "
                   "where $2::text is not null order by t.n",
                   sentences);
}

const Command command_retry = {
        "jobs retry",
        "usage: endwell jobs retry ID... [-c FILE] [--wait TIME] [--json]\n"
        "Gives dead jobs a new budget of attempts. What they have done already (items) stays done.\n" ROW_USAGE,
        run_retry,
        "gives dead jobs a new budget of attempts",
};

const Command command_discard = {
        "jobs discard",
        "usage: endwell jobs discard ID... [-c FILE] [--wait TIME] [--json]\n"
        "Gives dead jobs up for good, and frees their dedup keys.\n" ROW_USAGE,
        run_discard,
        "gives dead jobs up for good",
};

const Command command_cancel = {
        "jobs cancel",
        "usage: endwell jobs cancel ID... [-c FILE] [--wait TIME] [--json]\n"
        "Takes jobs back that nobody wants any more; one that runs is asked to stop.\n" ROW_USAGE,
        run_cancel,
        "takes jobs back, or asks running ones to stop",
};
