/* test_oom.c - what the kernel's counters of the OOM killer say. */
#include <criterion/criterion.h>
#include <errno.h>

#include "supervisor/oom.h"

static uint64_t kills(const char *text) {
        uint64_t number = 999;
        int r = oom_parse(text, &number);
        cr_expect(r == 0 || (r == -EBADMSG && number == 999));
        return number;
}

Test(oom, the_kills_are_counted_in_both_versions) {
        cr_expect_eq(kills("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), 3);
        cr_expect_eq(kills("low 0\nhigh 0\nmax 71\noom 5\noom_kill 2\noom_group_kill 9\n"), 2);
        cr_expect_eq(kills("oom_kill 18446744073709551615"), UINT64_MAX);
        cr_expect_eq(kills("oom_kill 0\n"), 0);
}

Test(oom, an_old_kernel_that_does_not_count_says_nothing) {
        cr_expect_eq(kills("oom_kill_disable 0\nunder_oom 0\n"), 999);
        cr_expect_eq(kills(""), 999);
        cr_expect_eq(kills("oom_kill"), 999);
        cr_expect_eq(kills("oom_kill \n"), 999);
        cr_expect_eq(kills("oom_kill x\n"), 999);
        cr_expect_eq(kills("xoom_kill 7\n"), 999);
        cr_expect_eq(kills("oom_kill 7x\n"), 999);
}

Test(oom, without_a_counter_nobody_is_found_to_be_its) {
        Oom oom = OOM_NONE;
        oom_begin(&oom);
        cr_expect_not(oom_explains(&oom));
        oom_close(&oom);
}
