/* test_clause.c - Significant=, Mask= and Ignore=: read, refused, applied. */
#include "verify/clause.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static Clause clause_of(ClauseKind kind, const char *text) {
        char problem[CLAUSE_PROBLEM_MAX];
        Clause clause = { 0 };

        cr_assert_eq(clause_parse(&clause, kind, text, problem), 0, "%s", text);
        return clause;
}

static State state_of(ItemKind kind, const char *key, const char *line, const char *more) {
        State state = { 0 };
        Item item = { .kind = kind, .key = strdup(key), .attributes = strdup(""), .lines = calloc(3, sizeof(char *)) };

        item.lines[item.n_lines++] = strdup(line);
        if (more)
                item.lines[item.n_lines++] = strdup(more);
        cr_assert_eq(state_add(&state, &item), 0);
        return state;
}

Test(clause, a_place_a_pattern_and_a_reason_are_read) {
        Clause clause = clause_of(CLAUSE_IGNORE, "/var/log/*.log took [0-9]+ # durations differ");

        cr_expect_str_eq(clause.place, "/var/log/*.log");
        cr_expect(clause.has_pattern);
        cr_expect_str_eq(clause.reason, "durations differ");
        clause_done(&clause);
        clause = clause_of(CLAUSE_SIGNIFICANT, "jobs.updated_at");
        cr_expect_str_eq(clause.place, "table public.jobs");
        cr_expect_str_eq(clause.column, "updated_at");
        cr_expect_null(clause.reason);
        clause_done(&clause);
        clause = clause_of(CLAUSE_MASK, "audit.log.at");
        cr_expect_str_eq(clause.place, "table audit.log");
        clause_done(&clause);
}

Test(clause, what_is_no_place_or_no_pattern_is_refused_with_a_sentence) {
        static const char *const bad[] = {
                "", "jobs", ".at", "jobs.", "relative/path", "/x a(b", "stdout [", " # why"
        };
        char problem[CLAUSE_PROBLEM_MAX];
        Clause clause;

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                problem[0] = '\0';
                cr_expect_eq(clause_parse(&clause, CLAUSE_MASK, bad[i], problem), -EINVAL, "'%s'", bad[i]);
                cr_expect_neq(problem[0], '\0', "'%s'", bad[i]);
        }
}

static void expect_line(const char *text, ItemKind kind, const char *key, const char *line, const char *expected) {
        Clause clause = clause_of(CLAUSE_MASK, text);
        State state = state_of(kind, key, line, NULL);

        cr_assert_eq(clause_apply(&clause, &state), 0);
        cr_expect_str_eq(state.items[0].lines[0], expected);
        state_done(&state);
        clause_done(&clause);
}

Test(clause, a_mask_covers_its_part_and_nothing_else) {
        expect_line("/a n=[0-9]+", ITEM_FILE, "/a", "x n=41 y", "x <masked> y");
        expect_line("/a n=[0-9]+", ITEM_FILE, "/b", "x n=41 y", "x n=41 y");
        expect_line("/a", ITEM_FILE, "/a", "x", "<masked>");
        expect_line("t.at", ITEM_TABLE, "table public.t", "{\"id\": 1, \"at\": \"a\\\"b, }\", \"n\": [1, {\"at\": 2}]}",
                    "{\"id\": 1, \"at\": <masked>, \"n\": [1, {\"at\": 2}]}");
        expect_line("t.n", ITEM_TABLE, "table public.t", "{\"o\": {\"n\": 5}, \"n\": [1, 2]}",
                    "{\"o\": {\"n\": 5}, \"n\": <masked>}");
        expect_line("t.at 2", ITEM_TABLE, "table public.t", "{\"id\": 2, \"at\": 12}",
                    "{\"id\": 2, \"at\": 1<masked>}");
        expect_line("t.none", ITEM_TABLE, "table public.t", "{\"id\": 2}", "{\"id\": 2}");
}

Test(clause, an_ignore_drops_lines_that_match_or_the_whole_item) {
        Clause lines = clause_of(CLAUSE_IGNORE, "/a ^debug"), whole = clause_of(CLAUSE_IGNORE, "/a");
        State state = state_of(ITEM_FILE, "/a", "debug x", "error debug");

        cr_assert_eq(clause_apply(&lines, &state), 0);
        cr_assert_eq(state.items[0].n_lines, 1);
        cr_expect_str_eq(state.items[0].lines[0], "error debug");
        cr_assert_eq(clause_apply(&whole, &state), 0);
        cr_expect_eq(state.n_items, 0);
        state_done(&state);
        clause_done(&lines);
        clause_done(&whole);
}

Test(clause, standard_output_is_masked_line_by_line) {
        Clause clause = clause_of(CLAUSE_MASK, "stdout pid [0-9]+"), drop = clause_of(CLAUSE_IGNORE, "stdout pid");
        char *output = strdup("a pid 1\nb\nc pid 22");

        cr_assert_eq(clause_apply_output(&clause, &output), 0);
        cr_expect_str_eq(output, "a <masked>\nb\nc <masked>");
        free(output);
        output = strdup("a pid 1\nb\n");
        cr_assert_eq(clause_apply_output(&drop, &output), 0);
        cr_expect_str_eq(output, "b\n");
        free(output);
        clause_done(&clause);
        clause_done(&drop);
}

Test(clause, what_is_significant_may_not_change_with_a_second_run) {
        Clause clause = clause_of(CLAUSE_SIGNIFICANT, "jobs.at");
        State before = state_of(ITEM_TABLE, "table public.jobs", "{\"id\": 1, \"at\": \"x\"}", NULL);
        State after = state_of(ITEM_TABLE, "table public.jobs", "{\"id\": 2, \"at\": \"y\"}", NULL);
        Differences differences = { 0 };

        clause_compare(&clause, &before, &before, &differences);
        cr_expect(differences_are_none(&differences));
        clause_compare(&clause, &before, &after, &differences);
        cr_assert_eq(differences.n_sentences, 1);
        cr_expect_str_eq(differences.sentences[0], "table public.jobs: \"x\" became \"y\", and it is significant");
        differences_done(&differences);
        state_done(&before);
        state_done(&after);
        clause_done(&clause);
}
