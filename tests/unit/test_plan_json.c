/* test_plan_json.c - orders to a keeper, there and back. */
#include "base/take.h"
#include "verify/plan_json.h"
#include <criterion/criterion.h>
#include <errno.h>

Test(plan_json, a_plan_comes_back_as_it_was_with_bytes_that_are_no_utf8) {
        char first[] = "/bin/echo", odd[] = "\xff\x80 caf\xc3\xa9", empty[] = "", variable[] = "A=\xfe",
             other[] = "true";
        char *argv[] = { first, odd, empty, NULL }, *envp[] = { variable, NULL }, *argv2[] = { other, NULL };
        gid_t groups[] = { 5, 4294967294u };
        TracerPlan plan = { .first = { .argv = argv,
                                       .envp = envp,
                                       .directory = "/t\xe9",
                                       .uid = 4294967294u,
                                       .gid = 7,
                                       .groups = groups,
                                       .n_groups = 2,
                                       .timeout_usec = 5 * USEC_PER_SEC },
                            .action = TRACER_HOLD,
                            .before = 3,
                            .signal = 15,
                            .second = { .argv = argv2, .envp = envp, .keep_identity = true } };
        json_t *value;
        PlanRead read;

        cr_assert_eq(plan_to_json(&plan, &value), 0);
        cr_assert_eq(plan_from_json(value, &read), 0);
        cr_expect_str_eq(read.plan.first.argv[1], argv[1]);
        cr_expect_str_eq(read.plan.first.argv[2], "");
        cr_expect_null(read.plan.first.argv[3]);
        cr_expect_str_eq(read.plan.first.envp[0], envp[0]);
        cr_expect_str_eq(read.plan.first.directory, "/t\xe9");
        cr_expect_eq(read.plan.first.uid, 4294967294u);
        cr_expect_eq(read.plan.first.groups[1], 4294967294u);
        cr_expect_eq(read.plan.first.n_groups, 2);
        cr_expect_eq(read.plan.first.timeout_usec, 5 * USEC_PER_SEC);
        cr_expect_eq(read.plan.action, TRACER_HOLD);
        cr_expect_eq(read.plan.before, 3);
        cr_expect_eq(read.plan.signal, 15);
        cr_expect(read.plan.second.keep_identity);
        cr_expect_not(read.plan.first.keep_identity);
        plan_read_done(&read);
        json_decref(value);
}

Test(plan_json, what_is_no_order_is_refused) {
        static const char *const bad[] = { "{}", "[]", "{\"first\":{\"argv\":[]}}",
                                           "{\"first\":{\"argv\":[1],\"envp\":[],\"directory\":\"/\"}}",
                                           "{\"first\":{\"argv\":[\"\\u20ac\"],\"envp\":[],\"directory\":\"/\"}}" };
        PlanRead read;

        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                json_t *value = json_loads(bad[i], 0, NULL);
                cr_expect_eq(plan_from_json(value, &read), -EBADMSG, "%s", bad[i]);
                json_decref(value);
        }
}
