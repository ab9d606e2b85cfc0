/* test_scale.c - where an instant stands: in order, within the room, and round at the ticks. */
#include <criterion/criterion.h>

#include "report/scale.h"

Test(scale, later_is_never_further_left_and_nothing_leaves_the_room) {
        const ScalePlan plans[] = {
                { 0, 10, 1000000, 1000100, 10, 900 },     { 5, 5, 5, 5, 10, 900 },
                { 0, 100, USEC_INFINITY, 1000, 10, 900 }, { 1000, 0, 2000, 9000, 8, 352 },
                { 0, 999999, 1000000, 1000000, 8, 352 },  { 0, 0, 1, USEC_INFINITY / 4, 8, 352 },
        };
        for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
                Scale scale = scale_make(&plans[i]);
                double before = plans[i].left;
                for (usec_t t = 0; t < 1100000; t += 777) {
                        double x = scale_x(&scale, t);
                        cr_assert(x >= before && x <= plans[i].right, "plan %zu at %u: %f", i, (unsigned)t, x);
                        before = x;
                }
        }
}

Test(scale, a_long_wait_is_cut_and_the_ending_gets_the_room) {
        Scale scale = scale_make(&(ScalePlan){ 0, 100, 1000000, 1001000, 0, 1000 });
        cr_assert_eq(scale.n, 3);
        cr_expect(scale.parts[1].cut && !scale.parts[0].cut && !scale.parts[2].cut);
        cr_expect(scale.parts[2].right - scale.parts[2].left > 700);
        cr_expect_eq(scale.parts[2].zero, 1000000);
}

Test(scale, a_short_run_and_one_without_an_ending_are_whole) {
        cr_expect_eq(scale_make(&(ScalePlan){ 0, 100, 1000, 1500, 0, 1000 }).n, 1);
        cr_expect_eq(scale_make(&(ScalePlan){ 0, 100, USEC_INFINITY, 1500, 0, 1000 }).n, 1);
}

Test(scale, ticks_are_round_and_far_enough_apart) {
        const ScalePart part = { 0, 962000, 0, 700, 0, false };
        usec_t spans[SCALE_TICKS_MAX];
        size_t n = scale_ticks(&part, 66, spans);
        cr_assert_eq(n, 10);
        for (size_t i = 0; i < n; i++)
                cr_expect_eq(spans[i], i * 100000);
        const ScalePart cut = { 0, 962000, 0, 700, 0, true };
        cr_expect_eq(scale_ticks(&cut, 66, spans), 0);
}
