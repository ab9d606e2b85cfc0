/* test_superior.c - how long the supervisor lets this worker live, read from its status. */
#include "worker/superior.h"
#include <criterion/criterion.h>
#include <errno.h>

static const char status[] = "{\"result\":{\"limit_us\":1,\"services\":[{\"service\":\"w\",\"instances\":["
                             "{\"instance\":1,\"owner\":\"aaaa\",\"since_us\":5,\"limit_us\":7000000},"
                             "{\"instance\":2,\"owner\":\"bbbb\",\"since_us\":5},"
                             "{\"instance\":3,\"owner\":\"cccc\",\"since_us\":5,\"limit_us\":9}]}]}}";

Test(superior, the_limit_of_the_instance_with_our_name_is_found) {
        usec_t limit = 0;
        cr_assert_eq(superior_read_limit(status, "aaaa", &limit), 0);
        cr_expect_eq(limit, 7000000);
        cr_assert_eq(superior_read_limit(status, "cccc", &limit), 0);
        cr_expect_eq(limit, 9);
}

Test(superior, nobody_elses_limit_is_taken_for_ours) {
        usec_t limit = 42;
        cr_expect_eq(superior_read_limit(status, "bbbb", &limit), -ENOENT);
        cr_expect_eq(superior_read_limit(status, "dddd", &limit), -ENOENT);
        cr_expect_eq(superior_read_limit("", "aaaa", &limit), -ENOENT);
        cr_expect_eq(limit, 42);
}
