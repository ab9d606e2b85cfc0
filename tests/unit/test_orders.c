/* test_orders.c - command line and environment of the reaper. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/take.h"
#include "reaper/orders.h"

static int read_words(const char *const *words, Orders *ret, char *problem) {
        int n = 0;
        while (words[n])
                n++;
        return orders_read(n, (char **)words, ret, problem);
}

#define READ(ret, problem, ...) read_words((const char *const[]){ "endwell-reaper", ##__VA_ARGS__, NULL }, ret, problem)

static void setup(void) {
        clearenv();
}

TestSuite(orders, .init = setup);

Test(orders, with_nothing_said_it_sweeps_as_the_contract_says) {
        char problem[ORDERS_PROBLEM_MAX];
        Orders orders;
        cr_assert_eq(READ(&orders, problem), 0);
        cr_assert_eq(orders.interval_usec, 5 * USEC_PER_SEC);
        cr_assert_eq(orders.batch, 500u);
        cr_assert_eq(orders.retention_usec, 7 * 24 * 3600 * USEC_PER_SEC);
        cr_assert_eq(orders.prune_batch, 5000u);
        cr_assert_null(orders.socket);
        cr_assert_not(orders.once);
}

Test(orders, the_environment_is_endwells_and_an_option_wins_over_it) {
        char problem[ORDERS_PROBLEM_MAX];
        Orders orders;
        setenv("ENDWELL_REAPER_INTERVAL_USEC", "250000", 1);
        setenv("ENDWELL_REAPER_RETENTION_USEC", "infinity", 1);
        setenv("ENDWELL_REAPER_BATCH", "7", 1);
        setenv("ENDWELL_REAPER_PRUNE_BATCH", "8", 1);
        setenv("ENDWELL_SOCKET", "/run/endwell/control.sock", 1);
        setenv("ENDWELL_SERVICE", "reaper", 1);
        setenv("ENDWELL_INSTANCE", "1", 1);
        cr_assert_eq(READ(&orders, problem), 0);
        cr_assert_eq(orders.interval_usec, 250 * USEC_PER_MSEC);
        cr_assert_eq(orders.retention_usec, USEC_INFINITY);
        cr_assert_eq(orders.batch, 7u);
        cr_assert_eq(orders.prune_batch, 8u);
        cr_assert_str_eq(orders.socket, "/run/endwell/control.sock");
        cr_assert_str_eq(orders.service, "reaper");
        cr_assert_eq(orders.instance, 1u);
        cr_assert_str_eq(orders.phase, "");

        cr_assert_eq(READ(&orders, problem, "--interval", "1min", "--batch=9", "--once", "-c", "x.ini"), 0);
        cr_assert_eq(orders.interval_usec, 60 * USEC_PER_SEC);
        cr_assert_eq(orders.batch, 9u);
        cr_assert(orders.once);
        cr_assert_str_eq(orders.config, "x.ini");
}

static const struct Row {
        const char *option, *value;
} bad[] = {
        { "--interval", "0" },   { "--interval", "infinity" }, { "--interval", "soon" },  { "--batch", "0" },
        { "--batch", "-1" },     { "--batch", "100001" },      { "--batch", "5x" },       { "--retention", "0" },
        { "--prune-batch", "" }, { "--log-level", "loud" },    { "--log-format", "xml" }, { "--frequency", "1" },
        { "--once", "now" },
};

Test(orders, what_cannot_be_meant_is_refused_with_its_option) {
        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                char problem[ORDERS_PROBLEM_MAX] = "";
                Orders orders = { .batch = 77 };
                cr_assert_eq(READ(&orders, problem, bad[i].option, bad[i].value), -EINVAL, "%s %s", bad[i].option,
                             bad[i].value);
                cr_assert(strstr(problem, bad[i].option) || strstr(problem, bad[i].value), "%s", problem);
                cr_assert_eq(orders.batch, 77u, "untouched on failure");
        }
        char problem[ORDERS_PROBLEM_MAX];
        Orders orders;
        cr_assert_eq(READ(&orders, problem, "--batch"), -EINVAL);
}

Test(orders, a_bad_variable_is_named) {
        static const char *const names[] = { "ENDWELL_REAPER_INTERVAL_USEC", "ENDWELL_REAPER_RETENTION_USEC",
                                             "ENDWELL_REAPER_BATCH", "ENDWELL_REAPER_PRUNE_BATCH" };
        for (size_t i = 0; i < LENGTH_OF(names); i++) {
                char problem[ORDERS_PROBLEM_MAX];
                Orders orders;
                clearenv();
                setenv(names[i], "5s", 1);
                cr_assert_eq(READ(&orders, problem), -EINVAL);
                cr_assert(strstr(problem, names[i]), "%s", problem);
        }
}

Test(orders, help_is_an_answer) {
        char problem[ORDERS_PROBLEM_MAX];
        Orders orders;
        cr_assert_eq(READ(&orders, problem, "--help"), ORDERS_HELP);
        cr_assert_eq(READ(&orders, problem, "-h"), ORDERS_HELP);
}
