/* test_cast.c - instances get numbers, each its own, however many there are. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/take.h"
#include "shutdown/cast.h"

Test(cast, an_instance_keeps_its_number_while_the_table_grows) {
        _cleanup_(cast_done) Cast cast = { 0 };
        static char names[500][8];
        size_t number;
        for (unsigned i = 0; i < 1000; i++) {
                snprintf(names[i / 2], sizeof names[i / 2], "s%u", i / 2);
                cr_assert_eq(cast_join(&cast, names[i / 2], i % 2 + 1, &number), 0);
                cr_assert_eq(number, i);
        }
        for (unsigned i = 0; i < 1000; i++)
                cr_assert_eq(cast_find(&cast, names[i / 2], i % 2 + 1), i);
        cr_assert_eq(cast_join(&cast, "s7", 2, &number), 0);
        cr_assert_eq(number, 15);
        cr_assert_eq(cast.n, 1000);
}

Test(cast, a_stranger_and_a_name_that_is_none_have_no_number) {
        _cleanup_(cast_done) Cast cast = { 0 };
        size_t number;
        cr_assert_eq(cast_find(&cast, "web", 1), SIZE_MAX);
        cr_assert_eq(cast_join(&cast, "web", 1, &number), 0);
        cr_assert_eq(cast_find(&cast, "web", 2), SIZE_MAX);
        cr_assert_eq(cast_find(&cast, NULL, 1), SIZE_MAX);
}
