/* test_reference.c - what a reference masks, what it calls unstable, and how it says a difference. */
#include "verify/reference.h"
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const StampSpan span = { .since_sec = 1796117220, .until_sec = 1796117230 };

/* `lines` end with NULL. */
static void put(State *state, ItemKind kind, const char *key, const char *attributes, ...) {
        Item item = {
                .kind = kind, .key = strdup(key), .attributes = strdup(attributes), .lines = calloc(9, sizeof(char *))
        };
        va_list lines;

        va_start(lines, attributes);
        for (const char *line = va_arg(lines, const char *); line; line = va_arg(lines, const char *))
                item.lines[item.n_lines++] = strdup(line);
        va_end(lines);
        cr_assert_eq(state_add(state, &item), 0);
        state_sort(state);
}

#define FILE_IS(state, key, ...) put(state, ITEM_FILE, key, "0644 root:root", __VA_ARGS__, NULL)
#define TABLE_IS(state, ...)     put(state, ITEM_TABLE, "table public.t", "", __VA_ARGS__, NULL)

typedef struct Three {
        State one, other, third;
        Reference reference;
        Differences differences;
} Three;

static void compare(Three *three) {
        cr_assert_eq(reference_init(&three->reference, &three->one, &three->other, span), 0);
        reference_compare(&three->reference, &three->third, span, &three->differences);
}

static void done(Three *three) {
        reference_done(&three->reference);
        differences_done(&three->differences);
        state_done(&three->one);
        state_done(&three->other);
        state_done(&three->third);
}

static void expect_sentence(Three *three, const char *sentence) {
        compare(three);
        cr_assert_eq(three->differences.n_sentences, 1, "%s: %zu sentences", sentence, three->differences.n_sentences);
        cr_expect_str_eq(three->differences.sentences[0], sentence);
        done(three);
}

static void expect_none(Three *three, size_t masks) {
        compare(three);
        cr_expect(differences_are_none(&three->differences), "%s",
                  three->differences.n_sentences ? three->differences.sentences[0] : "a file in addition");
        cr_expect_eq(three->reference.unstable.n_sentences, 0);
        cr_expect_eq(three->reference.masks.n_sentences, masks);
        done(three);
}

Test(reference, a_counter_that_rose_is_said_with_its_line) {
        Three three = { 0 };

        FILE_IS(&three.one, "/run/ew/stops", "6", "");
        FILE_IS(&three.other, "/run/ew/stops", "6", "");
        FILE_IS(&three.third, "/run/ew/stops", "7", "");
        expect_sentence(&three, "/run/ew/stops line 1: 6 became 7");
}

Test(reference, lines_are_counted_as_people_count_them) {
        Three three = { 0 };

        FILE_IS(&three.one, "/log", "a", "");
        FILE_IS(&three.other, "/log", "a", "");
        FILE_IS(&three.third, "/log", "a", "a", "");
        expect_sentence(&three, "/log: 1 line became 2");
        three = (Three){ 0 };
        FILE_IS(&three.one, "/log", "a", "");
        FILE_IS(&three.other, "/log", "a", "");
        FILE_IS(&three.third, "/log", "a");
        expect_sentence(&three, "/log: it no longer ends with a newline");
}

Test(reference, a_second_row_is_never_masked) {
        Three three = { 0 };

        TABLE_IS(&three.one, "{\"id\": 1, \"at\": \"x1\"}");
        TABLE_IS(&three.other, "{\"id\": 1, \"at\": \"x2\"}");
        TABLE_IS(&three.third, "{\"id\": 1, \"at\": \"x3\"}", "{\"id\": 2, \"at\": \"x4\"}");
        expect_sentence(&three, "table public.t: 1 row became 2");
}

Test(reference, a_request_that_came_again_is_said_by_name) {
        Three three = { 0 };

        put(&three.one, ITEM_REQUESTS, "http", "", "POST /deregister", NULL);
        put(&three.other, ITEM_REQUESTS, "http", "", "POST /deregister", NULL);
        put(&three.third, ITEM_REQUESTS, "http", "", "POST /deregister", "POST /deregister", NULL);
        expect_sentence(&three, "POST /deregister: sent twice");
}

Test(reference, modes_kinds_and_what_is_gone_are_differences) {
        Three three = { 0 };

        FILE_IS(&three.one, "/a", "x");
        FILE_IS(&three.other, "/a", "x");
        put(&three.third, ITEM_FILE, "/a", "0600 root:root", "x", NULL);
        expect_sentence(&three, "/a: 0644 root:root became 0600 root:root");
        three = (Three){ 0 };
        put(&three.one, ITEM_ABSENT, "/a", "", NULL);
        put(&three.other, ITEM_ABSENT, "/a", "", NULL);
        expect_sentence(&three, "/a: it is there, and should be gone");
        three = (Three){ 0 };
        put(&three.third, ITEM_ABSENT, "/a", "", NULL);
        expect_sentence(&three, "/a: it is gone, and should be there");
}

Test(reference, what_differed_in_the_calibration_is_masked_and_told) {
        Three three = { 0 };

        FILE_IS(&three.one, "/a", "pid 4242 at 1796117223", "n 5");
        FILE_IS(&three.other, "/a", "pid 5111 at 1796117223", "n 5");
        FILE_IS(&three.third, "/a", "pid 6001 at 1796117226", "n 5");
        expect_none(&three, 1);
}

Test(reference, rows_are_compared_in_any_order_and_an_exact_one_never_yields_to_a_mask) {
        Three three = { 0 };

        TABLE_IS(&three.one, "a1 job 1", "b7 job 2", "free x1");
        TABLE_IS(&three.other, "c3 job 2", "f2 job 1", "free x2");
        TABLE_IS(&three.third, "00 job 2", "99 job 1", "free x3");
        expect_none(&three, 3);
        three = (Three){ 0 };
        TABLE_IS(&three.one, "u1 x", "v x");
        TABLE_IS(&three.other, "u2 x", "v x");
        TABLE_IS(&three.third, "v x", "w x");
        expect_none(&three, 1);
}

Test(reference, a_random_name_is_found_by_its_content_and_another_one_is_extra) {
        Three three = { 0 };

        FILE_IS(&three.one, "/tmp/ew.AAAA", "draining");
        FILE_IS(&three.other, "/tmp/ew.BBBB", "draining");
        FILE_IS(&three.third, "/tmp/ew.0000", "");
        FILE_IS(&three.third, "/tmp/ew.CCCC", "draining");
        compare(&three);
        cr_expect_eq(three.differences.n_sentences, 0);
        cr_assert_eq(three.differences.n_extras, 1);
        cr_expect_str_eq(three.differences.extras[0], "/tmp/ew.0000");
        done(&three);
}

Test(reference, what_cannot_be_masked_is_unstable) {
        Three three = { 0 };

        FILE_IS(&three.one, "/a", "1");
        FILE_IS(&three.other, "/a", "1", "2");
        FILE_IS(&three.one, "/only-here", "1");
        compare(&three);
        cr_assert_eq(three.reference.unstable.n_sentences, 2);
        cr_expect_str_eq(three.reference.unstable.sentences[0], "/a: 1 line became 2");
        done(&three);
}

Test(reference, binary_files_differ_as_a_whole) {
        Three three = { 0 };

        put(&three.one, ITEM_BINARY, "/a", "", "10 bytes aa", NULL);
        put(&three.other, ITEM_BINARY, "/a", "", "10 bytes bb", NULL);
        compare(&three);
        cr_expect_eq(three.reference.unstable.n_sentences, 1);
        done(&three);
}
