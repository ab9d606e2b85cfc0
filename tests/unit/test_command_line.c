/* test_command_line.c - the command line of endwell-worker. */
#include "base/take.h"
#include "worker/command_line.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static CommandLine line;
static char problem[COMMAND_LINE_PROBLEM_MAX];

/* Words parted by blanks, behind the program's name. */
static int parse(const char *words) {
        static char text[512];
        static char *argv[64];
        int argc = 0;
        char *rest = NULL;
        snprintf(text, sizeof text, "endwell-worker %s", words);
        for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
                argv[argc++] = word;
        argv[argc] = NULL;
        problem[0] = '\0';
        return command_line_parse(argc, argv, &line, problem);
}

Test(command_line, a_queue_and_a_command_are_enough) {
        cr_assert_eq(parse("--queue speech -- ./synthesize -x --queue y"), 0, "%s", problem);
        cr_expect_str_eq(line.queue, "speech");
        cr_expect_str_eq(line.argv[0], "./synthesize");
        cr_expect_str_eq(line.argv[2], "--queue");
        cr_expect_eq(line.slots, 1);
        cr_expect_eq(line.stall_usec, USEC_INFINITY);
        cr_expect_eq(line.hard_usec, USEC_INFINITY);
        cr_expect_eq(line.max_jobs, UINT64_MAX);
        cr_expect_eq(line.max_result, 1024UL * 1024);
        cr_expect_not(line.stream);
}

Test(command_line, every_option_is_read) {
        cr_assert_eq(
                parse("-q q -n 8 --stream --stall-timeout 30s --hard-timeout 5min --kill-after 0 --bury-codes 65,78 "
                      "--max-result 2M --poll 500ms --drain-timeout 10s --max-jobs 100 --max-lifetime 1h "
                      "--strict-lease "
                      "--quiet -c f.ini --log-format json --log-level debug cmd"),
                0, "%s", problem);
        cr_expect_eq(line.slots, 8);
        cr_expect(line.stream && line.strict_lease && line.quiet);
        cr_expect_eq(line.stall_usec, 30 * USEC_PER_SEC);
        cr_expect_eq(line.hard_usec, 300 * USEC_PER_SEC);
        cr_expect_eq(line.kill_after_usec, 0);
        cr_expect(line.bury.buries[65] && line.bury.buries[78]);
        cr_expect_eq(line.max_result, 2UL << 20);
        cr_expect_eq(line.poll_usec, 500 * USEC_PER_MSEC);
        cr_expect_eq(line.drain_usec, 10 * USEC_PER_SEC);
        cr_expect_eq(line.max_jobs, 100);
        cr_expect_eq(line.lifetime_usec, 3600 * USEC_PER_SEC);
        cr_expect_str_eq(line.config, "f.ini");
        cr_expect_eq(line.log_format, LOG_FORMAT_JSON);
        cr_expect_eq(line.log_level, LOG_LEVEL_DEBUG);
        cr_expect_str_eq(line.argv[0], "cmd");
}

Test(command_line, what_is_wrong_is_named) {
        static const char *const bad[] = {
                "cmd",
                "-q q",
                "-q q --",
                "-q",
                "-q q --nonsense cmd",
                "-q q -n 0 cmd",
                "-q q -n 4097 cmd",
                "-q q -n 8x cmd",
                "-q q -n -1 cmd",
                "-q q --stall-timeout soon cmd",
                "-q q --stall-timeout 0 cmd",
                "-q q --poll infinity cmd",
                "-q q --bury-codes 75 cmd",
                "-q q --max-result 0 cmd",
                "-q q --max-result 1T cmd",
                "-q q --max-jobs 0 cmd",
                "-q q --log-level loud cmd",
        };
        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                cr_expect_eq(parse(bad[i]), -EINVAL, "%s", bad[i]);
                cr_expect_neq(problem[0], '\0', "%s", bad[i]);
        }
}

Test(command_line, help_and_version_need_nothing_else) {
        cr_expect_eq(parse("--help"), COMMAND_LINE_HELP);
        cr_expect_eq(parse("--version"), COMMAND_LINE_VERSION);
}

Test(command_line, the_help_names_every_option) {
        static const char *const names[] = { "--queue",        "--concurrency",   "--stream",     "--stall-timeout",
                                             "--hard-timeout", "--kill-after",    "--bury-codes", "--max-result",
                                             "--poll",         "--drain-timeout", "--max-jobs",   "--max-lifetime",
                                             "--strict-lease", "--quiet",         "--config",     "--log-format",
                                             "--log-level" };
        for (size_t i = 0; i < LENGTH_OF(names); i++)
                cr_expect_not_null(strstr(command_line_help, names[i]), "%s", names[i]);
}
