/* test_arguments.c - the command line of endwell-prober. */
#include "prober/arguments.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static int parse(Arguments *ret, char problem[static ARGUMENTS_PROBLEM_MAX], const char *words) {
        static char text[256];
        char *argv[16] = { (char *)"endwell-prober" };
        int argc = 1;
        strcpy(text, words);
        for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
                argv[argc++] = word;
        return arguments_parse(argc, argv, ret, problem);
}

Test(arguments, every_word_is_understood) {
        Arguments arguments;
        char problem[ARGUMENTS_PROBLEM_MAX];
        cr_assert_eq(parse(&arguments, problem, "--log-format json --log-level debug"), 0);
        cr_assert_eq(arguments.log_format, LOG_FORMAT_JSON);
        cr_assert_eq(arguments.log_level, LOG_LEVEL_DEBUG);
        cr_assert_eq(parse(&arguments, problem, ""), 0);
        cr_assert_eq(arguments.log_format, LOG_FORMAT_AUTO);
        cr_assert_eq(arguments.log_level, LOG_LEVEL_INFO);
        cr_assert_eq(parse(&arguments, problem, "--help"), ARGUMENTS_HELP);
}

Test(arguments, what_is_wrong_is_named) {
        static const struct {
                const char *words, *named;
        } table[] = {
                { "--nonsense", "--nonsense" },
                { "--log-level", "--log-level" },
                { "--log-level loud", "log-level: loud" },
                { "--log-format x", "log-format: x" },
                { "word", "word" },
        };
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                Arguments arguments = { .log_level = LOG_LEVEL_ERR };
                char problem[ARGUMENTS_PROBLEM_MAX] = "";
                cr_assert_eq(parse(&arguments, problem, table[i].words), -EINVAL);
                cr_assert_not_null(strstr(problem, table[i].named), "%s", problem);
                cr_assert_eq(arguments.log_level, LOG_LEVEL_ERR, "untouched on failure");
        }
}
