/* test_invocation.c - the words that PID 1 starts the gateway with. */
#include "gateway/invocation.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static int parse(const char *const *words, int n, Invocation *ret, char *problem) {
        return invocation_parse(n, (char **)words, ret, problem);
}

Test(invocation, every_option_has_its_place) {
        static const char *const words[] = {
                "g",           "--socket", "/run/s",       "--listen", "127.0.0.1:1", "--ready-when", "a,b",
                "--dashboard", "yes",      "--log-format", "json",     "--log-level", "debug",        NULL
        };
        char problem[INVOCATION_PROBLEM_MAX];
        Invocation invocation;
        cr_assert_eq(parse(words, 13, &invocation, problem), 0, "%s", problem);
        cr_expect_str_eq(invocation.socket, "/run/s");
        cr_expect_str_eq(invocation.listen, "127.0.0.1:1");
        cr_expect_str_eq(invocation.ready_when, "a,b");
        cr_expect(invocation.dashboard);
        cr_expect_eq(invocation.log_format, LOG_FORMAT_JSON);
        cr_expect_eq(invocation.log_level, LOG_LEVEL_DEBUG);
}

Test(invocation, what_is_wrong_is_named) {
        static const struct {
                const char *words[6];
                const char *says;
        } rows[] = {
                { { "g", "--listen", "x:1" }, "missing: --socket" },
                { { "g", "--socket", "x" }, "missing: --listen" },
                { { "g", "--socket" }, "a value is missing after: --socket" },
                { { "g", "--what" }, "unknown option: --what" },
                { { "g", "--dashboard", "maybe" }, "dashboard: maybe" },
                { { "g", "--log-level", "loud" }, "log-level: loud" },
                { { "g", "more" }, "too many words: more" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char problem[INVOCATION_PROBLEM_MAX] = "";
                Invocation invocation = { .socket = "untouched" };
                int n = 0;
                while (rows[i].words[n])
                        n++;
                cr_expect_eq(parse(rows[i].words, n, &invocation, problem), -EINVAL);
                cr_expect_str_eq(problem, rows[i].says);
                cr_expect_str_eq(invocation.socket, "untouched");
        }
}

Test(invocation, help_is_help) {
        static const char *const words[] = { "g", "--help", NULL };
        char problem[INVOCATION_PROBLEM_MAX];
        Invocation invocation;
        cr_assert_eq(parse(words, 2, &invocation, problem), INVOCATION_HELP);
}
