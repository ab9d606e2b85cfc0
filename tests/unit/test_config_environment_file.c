/* test_config_environment_file.c - the syntax of environment files, as systemd reads them, and what it would pass over.
 */
#include "base/take.h"
#include "supervisor/config_environment_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Assignments as <NAME=VALUE>, refusals as LINE:sentence; */
static char heard[4096];

static int on_assign(void *userdata, const char *assignment) {
        (void)userdata;
        size_t length = strlen(heard);
        snprintf(heard + length, sizeof heard - length, "<%s>", assignment);
        return strcmp(assignment, "STOP=1") == 0 ? -E2BIG : 0;
}

static void on_refuse(void *userdata, unsigned line, const char *sentence) {
        (void)userdata;
        size_t length = strlen(heard);
        snprintf(heard + length, sizeof heard - length, "%u:%s;", line, sentence);
}

static int parse_bytes(const char *text, size_t length) {
        static const EnvironmentSink sink = { .assign = on_assign, .refuse = on_refuse };
        /* In memory of just this size, so that a look beyond the end is seen. */
        _cleanup_(freep) char *exact = malloc(length ? length : 1);
        memcpy(exact, text, length);
        heard[0] = '\0';
        return environment_file_parse(exact, length, &sink);
}

static int parse(const char *text) {
        return parse_bytes(text, strlen(text));
}

Test(config_environment_file, what_systemd_takes_is_taken_as_systemd_takes_it) {
        static const char *const rows[][2] = {
                { "", "" },
                { "A=1", "<A=1>" },
                { "A=1\nB=2\n", "<A=1><B=2>" },
                { "A=1\r\nB=2\r\n", "<A=1><B=2>" },
                { "\xEF\xBB\xBF"
                  "A=1",
                  "<A=1>" },
                { "\n \t\n# c\n; A=1\n  # c=d\nA=1", "<A=1>" },
                { "A=", "<A=>" },
                { "A=\nB=1", "<A=><B=1>" },
                { "  A = 1 ", "<A=1>" },
                { "A=a b\tc  ", "<A=a b\tc>" },
                { "A=b # c", "<A=b # c>" },
                { "A=#b", "<A=#b>" },
                { "A=b=c", "<A=b=c>" },
                { "A='b  c'", "<A=b  c>" },
                { "A=\"b  c\"  ", "<A=b  c>" },
                { "A='b'c", "<A=bc>" },
                { "A='b' c", "<A=bc>" },
                { "A='b'\"c\"'d'", "<A=bcd>" },
                { "A=b'c'", "<A=b'c'>" },
                { "A=it's", "<A=it's>" },
                { "A='$x \\n \"'", "<A=$x \\n \">" },
                { "A=\"\\\"\\\\\\`\\$\\n\"", "<A=\"\\`$\\n>" },
                { "A=b\\ c\\\\\\n", "<A=b c\\n>" },
                { "A=b\\ ", "<A=b >" },
                { "A=b \\\n  c", "<A=b   c>" },
                { "A=b\\\r\nc", "<A=bc>" },
                { "A=\"b\\\nc\"", "<A=bc>" },
                { "A='b\nc'\nB=1", "<A=b\nc><B=1>" },
                { "A=\"b\r\nc\"", "<A=b\nc>" },
                { "A='b' # c", "<A=b# c>" },
                { "# c \\\nA=1", "<A=1>" },
                { "A=1\nA=2", "<A=1><A=2>" },
                { "A=${B}", "<A=${B}>" },
                { "_a9=\xC3\xA4", "<_a9=\xC3\xA4>" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                cr_expect_eq(parse(rows[i][0]), 0);
                cr_expect_str_eq(heard, rows[i][1], "%s: %s", rows[i][0], heard);
        }
}

Test(config_environment_file, what_systemd_would_pass_over_is_refused_at_its_line_and_nothing_of_it_is_said) {
        static const char *const rows[][2] = {
                { "A=1\ns3cret\nB=2", "<A=1>2:is no NAME=VALUE;<B=2>" },
                { "s3cret", "1:is no NAME=VALUE;" },
                { "=s3cret", "1:has no name of A-Z, a-z, 0-9 and _ before the =;" },
                { "9A=s3cret", "1:has no name of A-Z, a-z, 0-9 and _ before the =;" },
                { "A-B=s3cret\nC=1", "1:has no name of A-Z, a-z, 0-9 and _ before the =;<C=1>" },
                { "A B=s3cret", "1:has no name of A-Z, a-z, 0-9 and _ before the =;" },
                { "export A=s3cret", "1:begins with export, which only a shell understands: leave it out;" },
                { "\n\nA='s3cret\n\n", "3:a quote ' that begins in this assignment is not closed;" },
                { "A=\"s3cret", "1:a quote \" that begins in this assignment is not closed;" },
                { "A=\"s3cret\\", "1:a quote \" that begins in this assignment is not closed;" },
                { "A=s3cret\\", "1:the file ends in a backslash;" },
                { "A=s3\001cret\nB=1", "1:has a control character in its value;<B=1>" },
                { "A=s3\rcret", "1:has a control character in its value;" },
                { "A=s3\177cret", "1:has a control character in its value;" },
                { "A=\xFFs3cret", "1:has invalid UTF-8 in its value;" },
                { "A='1\n2\n3'\nB\nC=1", "<A=1\n2\n3>4:is no NAME=VALUE;<C=1>" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                cr_expect_eq(parse(rows[i][0]), 0);
                cr_expect_str_eq(heard, rows[i][1], "%s: %s", rows[i][0], heard);
        }
        cr_expect_eq(parse_bytes("A=b\0c\nB\0=1\nC=1", 14), 0);
        cr_expect_str_eq(heard, "1:has a NUL byte in its value;2:has a NUL byte before the =;<C=1>");
}

Test(config_environment_file, who_takes_no_more_ends_the_reading) {
        cr_expect_eq(parse("A=1\nSTOP=1\nB=1"), -E2BIG);
        cr_expect_str_eq(heard, "<A=1><STOP=1>");
}

Test(config_environment_file, what_exec_would_refuse_is_refused_before) {
        _cleanup_(freep) char *text = malloc(140000);
        memset(text, 'x', 140000);
        memcpy(text, "A=", 2);
        cr_expect_eq(parse_bytes(text, ENVIRONMENT_ASSIGNMENT_MAX + 1), 0);
        cr_expect_str_eq(heard, "1:is longer than the kernel takes (128 KiB);");
        cr_expect_eq(parse_bytes(text, ENVIRONMENT_ASSIGNMENT_MAX), 0);
        cr_expect(strncmp(heard, "<A=xxx", 6) == 0);
}
