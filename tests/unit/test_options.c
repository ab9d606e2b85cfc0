/* test_options.c - the command line of endwell-logger. */
#include "logger/options.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static int parse(Options *ret, char *problem, const char *words) {
        char text[256], *argv[16] = { (char *)"endwell-logger" };
        int argc = 1;
        strcpy(text, words);
        for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
                argv[argc++] = strdup(word);
        return options_parse(argc, argv, ret, problem);
}

Test(options, every_word_is_understood) {
        Options options;
        char problem[256];
        cr_assert_eq(parse(&options, problem,
                           "--socket-fd 3 --journal /x/j --journal-max-size 2M --log-format json --log-level debug"),
                     0);
        cr_assert_eq(options.socket_fd, 3);
        cr_assert_str_eq(options.journal_path, "/x/j");
        cr_assert_eq(options.journal_max_size, 2 * 1024 * 1024);
        cr_assert_eq(options.log_format, LOG_FORMAT_JSON);
        cr_assert_eq(options.log_level, LOG_LEVEL_DEBUG);
}

Test(options, without_words_the_socket_is_descriptor_0_and_there_is_no_journal) {
        Options options;
        char problem[256];
        cr_assert_eq(parse(&options, problem, ""), 0);
        cr_assert_eq(options.socket_fd, 0);
        cr_assert_null(options.journal_path);
}

Test(options, what_is_wrong_is_named) {
        static const struct {
                const char *words, *named;
        } table[] = {
                { "--socket-fd x", "socket-fd: x" },   { "--socket-fd -1", "socket-fd: -1" },
                { "--journal-max-size 1", "size: 1" }, { "--log-level loud", "log-level: loud" },
                { "--log-format", "--log-format" },    { "--nonsense", "--nonsense" },
                { "--journal j more", "more" },
        };
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                Options options = { .socket_fd = 77 };
                char problem[256] = "";
                cr_expect_eq(parse(&options, problem, table[i].words), -EINVAL, "row %zu", i);
                cr_expect(strstr(problem, table[i].named), "row %zu: %s", i, problem);
                cr_expect_eq(options.socket_fd, 77, "row %zu", i);
        }
}
