/* test_scribe.c - what a scribe cannot hold it refuses, or, when told so, drops, counts and names. */
#include "logger/scribe.h"
#include <criterion/criterion.h>
#include <string.h>

static const EntrySource web = { .service = "web", .instance = 1 };

static size_t take(Scribe *scribe, const char *text) {
        return scribe_take(scribe, text, strlen(text));
}

static const char *everything(Scribe *scribe) {
        static char text[4096];
        const char *bytes;
        size_t n = scribe_waiting(scribe, &bytes);
        memcpy(text, bytes ? bytes : "", n);
        text[n] = '\0';
        scribe_written(scribe, n);
        return text;
}

/* Until it takes no more; how many lines it has taken. */
static uint64_t fill(Scribe *scribe) {
        char line[1000];
        uint64_t n = 0;
        memset(line, 'x', sizeof line);
        line[sizeof line - 1] = '\n';
        while (scribe_take(scribe, line, sizeof line) == sizeof line)
                n++;
        return n;
}

Test(scribe, lines_come_out_with_a_name_and_the_last_one_is_ended) {
        ScribeRoom room = { 0 };
        Scribe scribe;
        scribe_init(&scribe, SCRIBE_PREFIX, &web, &room);
        take(&scribe, "one\ntw"), take(&scribe, "o\nthree");
        cr_assert(scribe_end(&scribe));
        cr_assert_str_eq(everything(&scribe), "web | one\nweb | two\nweb | three\n");
        cr_assert_eq(room.used, 0);
        scribe_done(&scribe);
}

Test(scribe, lines_of_a_file_are_as_they_came) {
        ScribeRoom room = { 0 };
        Scribe scribe;
        scribe_init(&scribe, SCRIBE_LINES, &web, &room);
        take(&scribe, "one\n\xff two\n\nthr"), take(&scribe, "ee");
        cr_assert(scribe_end(&scribe));
        cr_assert_str_eq(everything(&scribe), "one\n\xff two\n\nthree\n");
        scribe_done(&scribe);
}

Test(scribe, a_full_backlog_holds_up_and_what_is_dropped_then_is_counted_and_named) {
        ScribeRoom room = { 0 };
        Scribe scribe;
        const char *bytes;

        scribe_init(&scribe, SCRIBE_PREFIX, &web, &room);
        fill(&scribe);
        cr_assert(scribe_is_full(&scribe));
        cr_assert_eq(take(&scribe, "held up\n"), 0);
        cr_assert_not(scribe_end(&scribe));
        scribe_begin_dropping(&scribe);
        cr_assert_eq(take(&scribe, "dropped\nand this\n"), 17);
        cr_assert_eq(scribe.untold, 2);
        scribe_written(&scribe, scribe_waiting(&scribe, &bytes) / 4 * 3);
        cr_assert_not(scribe.dropping);
        scribe_written(&scribe, scribe_waiting(&scribe, &bytes));
        take(&scribe, "after\n");
        cr_assert_str_eq(everything(&scribe), "web | [endwell: 2 lines are missing here]\nweb | after\n");
        scribe_done(&scribe);
}

Test(scribe, what_a_target_refuses_is_counted_by_its_lines) {
        ScribeRoom room = { 0 };
        Scribe scribe;
        scribe_init(&scribe, SCRIBE_JSON, &web, &room);
        take(&scribe, "one\ntwo\nthree\n");
        scribe_lose(&scribe);
        cr_assert_eq(scribe.untold, 3);
        cr_assert_eq(room.used, 0);
        scribe_done(&scribe);
}

Test(scribe, all_backlogs_together_have_a_limit_that_leaves_each_one_line) {
        ScribeRoom room = { .used = SCRIBE_BACKLOG_ALL };
        Scribe scribe;
        scribe_init(&scribe, SCRIBE_PREFIX, &web, &room);
        cr_assert_eq(take(&scribe, "one\ntwo\n"), 4);
        cr_assert_str_eq(everything(&scribe), "web | one\n");
        scribe_done(&scribe);
        cr_assert_eq(room.used, SCRIBE_BACKLOG_ALL);
}

Test(scribe, what_is_dropped_is_kept_all_the_same) {
        ScribeRoom room = { .kept = kept_new() };
        Scribe scribe;
        scribe_init(&scribe, SCRIBE_PREFIX, &web, &room);
        scribe_begin_dropping(&scribe);
        take(&scribe, "dropped\n");
        cr_assert_eq(kept_count(room.kept, &(KeptReader){ .service = "web" }), 1);
        scribe_done(&scribe);
        kept_free(room.kept);
}
