/* test_utterance.c - the lines of a stream. */
#include "worker/utterance.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static Utterance said;
static char problem[UTTERANCE_PROBLEM_MAX];

static int read_line(const char *line) {
        problem[0] = '\0';
        return utterance_parse(line, strlen(line), &said, problem);
}

Test(utterance, a_result_is_kept_byte_for_byte) {
        cr_assert_eq(read_line("{\"id\":7,\"generation\":3,\"result\": {\"a\": 1.0, \"b\":1e400} }"), 0);
        cr_expect_eq(said.kind, UTTERANCE_RESULT);
        cr_expect_eq(said.id, 7);
        cr_expect_eq(said.generation, 3);
        cr_expect(json_text_is(said.value, "{\"a\": 1.0, \"b\":1e400}"));
}

Test(utterance, a_failure_may_say_its_class_its_wait_and_that_it_is_fatal) {
        cr_assert_eq(read_line("{\"id\":1,\"generation\":1,\"error\":\"bad\",\"class\":\"decode\",\"retry_in\":1.5,"
                               "\"fatal\":true}"),
                     0);
        cr_expect_eq(said.kind, UTTERANCE_FAILURE);
        cr_expect_str_eq(said.error, "bad");
        cr_expect_str_eq(said.class, "decode");
        cr_expect_eq(said.retry_in_usec, 1500000);
        cr_expect(said.fatal);
        cr_assert_eq(read_line("{\"id\":1,\"generation\":1,\"error\":\"bad\"}"), 0);
        cr_expect_eq(said.retry_in_usec, -1);
        cr_expect_not(said.fatal);
        cr_expect_str_eq(said.class, "");
}

Test(utterance, items_begin_and_end) {
        cr_assert_eq(read_line("{\"id\":1,\"generation\":1,\"item\":\"p 1\",\"begin\":true}"), 0);
        cr_expect_eq(said.kind, UTTERANCE_ITEM_BEGIN);
        cr_expect_str_eq(said.key, "p 1");
        cr_expect_eq(said.force, -1);
        cr_assert_eq(read_line("{\"id\":1,\"generation\":1,\"item\":\"p\",\"begin\":true,\"force\":false}"), 0);
        cr_expect_eq(said.force, 0);
        cr_assert_eq(read_line("{\"id\":1,\"generation\":1,\"item\":\"p\",\"done\":true,\"result\":[1]}"), 0);
        cr_expect_eq(said.kind, UTTERANCE_ITEM_END);
        cr_expect(said.ok);
        cr_expect(json_text_is(said.value, "[1]"));
        cr_assert_eq(read_line("{\"id\":1,\"generation\":1,\"item\":\"p\",\"done\":false,\"error\":\"e\"}"), 0);
        cr_expect_not(said.ok);
        cr_expect_str_eq(said.error, "e");
}

Test(utterance, progress_is_any_json) {
        cr_assert_eq(read_line("{\"id\":1,\"generation\":1,\"progress\":0.5}"), 0);
        cr_expect_eq(said.kind, UTTERANCE_PROGRESS);
        cr_expect(json_text_is(said.value, "0.5"));
}

Test(utterance, what_is_no_message_is_refused_with_a_reason) {
        static const struct {
                const char *line, *problem;
        } cases[] = {
                { "", "it is no JSON object" },
                { "hello", "it is no JSON object" },
                { "[1]", "it is no JSON object" },
                { "{\"id\":1,\"generation\":1,\"result\":", "it is no JSON object" },
                { "{\"generation\":1,\"result\":1}", "it has no id" },
                { "{\"id\":\"1\",\"generation\":1,\"result\":1}", "it has no id" },
                { "{\"id\":1,\"result\":1}", "it has no generation" },
                { "{\"id\":1,\"generation\":1.5,\"result\":1}", "it has no generation" },
                { "{\"id\":1,\"generation\":1}", "it has no result, error, progress or item" },
                { "{\"id\":1,\"generation\":1,\"error\":1}", "its error is no text" },
                { "{\"id\":1,\"generation\":1,\"error\":\"\",\"result\":1}", "it has both a result and an error" },
                { "{\"id\":1,\"generation\":1,\"item\":\"\",\"begin\":true}", "its item has no name" },
                { "{\"id\":1,\"generation\":1,\"item\":\"a\"}", "its item neither begins nor is done" },
                { "{\"id\":1,\"generation\":1,\"item\":\"a\",\"begin\":true,\"done\":true}",
                  "its item neither begins nor is done" },
                { "{\"id\":1,\"generation\":1,\"error\":\"a\",\"retry_in\":\"5\"}",
                  "its retry_in or fatal is neither a span nor true or false" },
                { "{\"id\":1,\"generation\":1,\"error\":\"a\",\"retry_in\":-5}",
                  "its retry_in or fatal is neither a span nor true or false" },
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                cr_expect_eq(read_line(cases[i].line), -EINVAL, "%s", cases[i].line);
                cr_expect_str_eq(problem, cases[i].problem, "%s: %s", cases[i].line, problem);
        }
}

Test(utterance, a_text_that_is_too_long_is_cut_and_not_refused) {
        static char line[60000];
        size_t n = (size_t)sprintf(line, "{\"id\":1,\"generation\":1,\"error\":\"");
        memset(line + n, 'x', 50000);
        strcpy(line + n + 50000, "\"}");
        cr_assert_eq(read_line(line), 0);
        cr_expect_gt(strlen(said.error), 100UL);
        cr_expect_lt(strlen(said.error), (size_t)UTTERANCE_TEXT_MAX);
}

Test(utterance, every_cut_of_a_good_line_is_refused_or_read_and_never_runs_over) {
        static const char line[] =
                "{\"id\":1,\"generation\":2,\"item\":\"a\\u00e9\",\"done\":true,\"result\":{\"x\":[1,\"\\\"\"]}}";
        for (size_t n = 0; n < sizeof line - 1; n++) {
                char *exact = malloc(n + 1); /* so that a sanitizer sees a step beyond it */
                memcpy(exact, line, n);
                cr_expect_eq(utterance_parse(exact, n, &said, problem), -EINVAL);
                free(exact);
        }
}
