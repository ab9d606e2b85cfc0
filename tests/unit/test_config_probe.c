/* test_config_probe.c - the values of probes: targets, commands, options, and what is said of the bad ones. */
#include "base/take.h"
#include "supervisor/config_probe.h"
#include <criterion/criterion.h>
#include <string.h>

static ProbeConfig probe;
static Problem problem;

static void tear_down(void) {
        probe_config_done(&probe);
}

TestSuite(config_probe, .fini = tear_down);

static const ProbeConfig *must_take(const char *text, ProbeKind kind) {
        probe_config_done(&probe);
        problem.text[0] = '\0';
        cr_assert_eq(probe_parse(text, kind, &probe, &problem), 0, "%s: %s", text, problem.text);
        return &probe;
}

Test(config_probe, without_options_the_defaults_are_those_of_kubernetes) {
        const ProbeConfig *taken = must_take("tcp://127.0.0.1:80", PROBE_LIVENESS);
        cr_expect(taken->by == PROBE_BY_TCP && taken->period_usec == 10 * USEC_PER_SEC);
        cr_expect(taken->timeout_usec == USEC_PER_SEC && taken->delay_usec == 0);
        cr_expect(taken->failures == 3 && taken->successes == 1 && !taken->argv);
}

Test(config_probe, each_target_has_one_form) {
        static const struct {
                const char *text;
                ProbeBy by;
                const char *target;
        } rows[] = {
                { "http://127.0.0.1:8080/health", PROBE_BY_HTTP, "http://127.0.0.1:8080/health" },
                { "http://localhost", PROBE_BY_HTTP, "http://localhost:80/" },
                { "http://[0::1]?x=1", PROBE_BY_HTTP, "http://[::1]:80/?x=1" },
                { "tcp://[::1]:5432", PROBE_BY_TCP, "[::1]:5432" },
                { "  tcp://LOCALHOST:1\t", PROBE_BY_TCP, "localhost:1" },
                { "unix:/run/app.sock", PROBE_BY_UNIX, "/run/app.sock" },
                { "unix:'/run/my app.sock' period=1s", PROBE_BY_UNIX, "/run/my app.sock" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                const ProbeConfig *taken = must_take(rows[i].text, PROBE_READINESS);
                cr_expect_eq(taken->by, rows[i].by, "%s", rows[i].text);
                cr_expect_str_eq(taken->target, rows[i].target, "%s", rows[i].text);
        }
}

Test(config_probe, none_is_no_probe) {
        cr_expect_eq(must_take("none", PROBE_STARTUP)->by, PROBE_BY_NONE);
}

Test(config_probe, every_option_is_read) {
        const ProbeConfig *taken =
                must_take("unix:/x period=500ms timeout=2s failures=1000 successes=2 delay=\"1min 5s\"",
                          PROBE_READINESS);
        cr_expect(taken->period_usec == 500 * USEC_PER_MSEC && taken->timeout_usec == 2 * USEC_PER_SEC);
        cr_expect(taken->failures == 1000 && taken->successes == 2 && taken->delay_usec == 65 * USEC_PER_SEC);
        cr_expect_eq(must_take("unix:/x period=100ms", PROBE_READINESS)->period_usec, 100 * USEC_PER_MSEC);
}

/* The command is the words with blanks between them, then | and the failures. */
Test(config_probe, a_command_ends_where_the_options_begin) {
        static const char *const rows[][2] = {
                { "exec:true", "true|3" },
                { "exec: /bin/check -v", "/bin/check -v|3" },
                { "exec:pg_isready -q -h /run failures=5", "pg_isready -q -h /run|5" },
                { "exec:sh -c \"exit 0\" failures=4 delay=1s", "sh -c exit 0|4" },
                { "exec:curl -m timeout=3 x failures=2", "curl -m timeout=3 x|2" },
                { "exec:check 'failures=9' failures=2", "check failures=9|2" },
                { "exec:check \"failures=9\"", "check failures=9|3" },
                { "exec:check \\failures=9", "check failures=9|3" },
                { "exec:check 'perido=1s'", "check perido=1s|3" },
                { "exec:check \"a \\\" b\" failures=6", "check a \" b|6" },
                { "exec:check a\\ failures=7", "check a failures=7|3" },
                { "exec:check x'y failures=1 'z failures=8", "check xy failures=1 z|8" },
                { "exec:test A=1 = -eq=2", "test A=1 = -eq=2|3" },
                { "exec:\"my program\" x", "my program x|3" },
                { "'exec:a b'", "a b|3" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                const ProbeConfig *taken = must_take(rows[i][0], PROBE_LIVENESS);
                char text[200] = "";
                size_t length = 0;
                cr_expect(taken->by == PROBE_BY_EXEC && !taken->target);
                for (char **word = taken->argv; *word; word++)
                        length += (size_t)sprintf(text + length, "%s%s", word == taken->argv ? "" : " ", *word);
                sprintf(text + length, "|%u", taken->failures);
                cr_expect_str_eq(text, rows[i][1], "%s: %s", rows[i][0], text);
        }
}

Test(config_probe, bad_ones_are_told_what_would_be_right) {
        static const struct {
                ProbeKind kind;
                const char *text, *says;
        } rows[] = {
                { PROBE_READINESS, "", "says not what to look at" },
                { PROBE_READINESS, "period=1s", "says not what to look at" },
                { PROBE_READINESS, "127.0.0.1:80", "must begin with http://, tcp://, unix: or exec:" },
                { PROBE_READINESS, "none period=1s", "must begin with" },
                { PROBE_READINESS, "https://localhost/", "speaks no TLS" },
                { PROBE_READINESS, "http://app/health", "or localhost" },
                { PROBE_READINESS, "http://app:s3cret@localhost/", "a user or a password" },
                { PROBE_READINESS, "http://localhost:0/", "from 1 to 65535" },
                { PROBE_READINESS, "http://localhost/a#b", "#fragment" },
                { PROBE_READINESS, "tcp://localhost", "the port is missing: write localhost:PORT" },
                { PROBE_READINESS, "tcp://localhost:80/x", "from 1 to 65535" },
                { PROBE_READINESS, "unix:run/app.sock", "absolute path" },
                { PROBE_READINESS, "unix:@app", "absolute path" },
                { PROBE_READINESS, "unix:", "absolute path" },
                { PROBE_READINESS, "exec:", "the command is empty" },
                { PROBE_READINESS, "exec: period=1s", "the command is empty" },
                { PROBE_READINESS, "exec:\"\"", "the command is empty" },
                { PROBE_READINESS, "exec: ''", "the command is empty" },
                { PROBE_READINESS, "exec:sh -c \"exit", "quote \" is not closed" },
                { PROBE_READINESS, "exec:check perido=1s", "did you mean period=? (quote it" },
                { PROBE_READINESS, "exec:check timout=1s failures=2", "did you mean timeout=? (quote it" },
                { PROBE_READINESS, "tcp://localhost:1 perido=1s", "perido= is no option, did you mean period=?" },
                { PROBE_READINESS, "tcp://localhost:1 every=1s", "only period=, timeout=" },
                { PROBE_READINESS, "tcp://localhost:1 period", "only period=, timeout=" },
                { PROBE_READINESS, "tcp://localhost:1 \"period=1s\"", "without quotes" },
                { PROBE_READINESS, "tcp://localhost:1 period=1s tcp://localhost:2", "only period=, timeout=" },
                { PROBE_READINESS, "unix:/x period=99ms", "period must be at least 100ms" },
                { PROBE_READINESS, "unix:/x period=infinity", "period must end" },
                { PROBE_READINESS, "unix:/x period=", "is no span of time" },
                { PROBE_READINESS, "unix:/x period=1 parsec", "only period=" },
                { PROBE_READINESS, "unix:/x timeout=0", "timeout must be more than 0" },
                { PROBE_READINESS, "unix:/x delay=-1s", "is no span of time" },
                { PROBE_READINESS, "unix:/x delay=infinity", "delay must end" },
                { PROBE_READINESS, "unix:/x failures=0", "from 1 to 1000" },
                { PROBE_READINESS, "unix:/x failures=1001", "from 1 to 1000" },
                { PROBE_READINESS, "unix:/x failures=99999999999999999999", "from 1 to 1000" },
                { PROBE_READINESS, "unix:/x successes=two", "from 1 to 1000" },
                { PROBE_READINESS, "unix:/x period=1s period=1s", "period= stands in it twice" },
                { PROBE_LIVENESS, "unix:/x successes=2", "successes must be 1 here" },
                { PROBE_STARTUP, "unix:/x successes=2", "successes must be 1 here" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                ProbeConfig untouched = { .failures = 77 };
                problem.text[0] = '\0';
                cr_expect_eq(probe_parse(rows[i].text, rows[i].kind, &untouched, &problem), -EINVAL, "%s was taken",
                             rows[i].text);
                cr_expect_not_null(strstr(problem.text, rows[i].says), "%s: %s", rows[i].text, problem.text);
                cr_expect_null(strstr(problem.text, "s3cret"));
                cr_expect(untouched.failures == 77 && !untouched.target && !untouched.argv);
        }
}

Test(config_probe, the_path_of_a_socket_has_at_most_107_bytes) {
        char text[200] = "unix:/";
        memset(text + 6, 'x', 106);
        cr_expect_eq(strlen(must_take(text, PROBE_READINESS)->target), 107);
        text[112] = 'x';
        cr_expect_eq(probe_parse(text, PROBE_READINESS, &probe, &problem), -EINVAL);
        cr_expect_not_null(strstr(problem.text, "107 bytes"));
}
