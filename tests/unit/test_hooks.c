/* test_hooks.c - once for an epoch and a run, whoever asks and however often. */
#include <criterion/criterion.h>
#include <errno.h>

#include "shutdown/hooks.h"

Test(hooks, each_word_goes_there_and_back) {
        for (int on = 0; on < _HOOK_ON_MAX; on++)
                cr_assert_eq(hook_on_from_string(hook_on_to_string((HookOn)on)), on);
        cr_assert_eq(hook_on_from_string("pre-lunch"), -EINVAL);
        cr_assert_null(hook_on_to_string(_HOOK_ON_MAX));
}

Test(hooks, a_hook_that_never_ran_may_begin) {
        HookSlot slot = { 0 };
        cr_assert_eq(hook_ask(&slot, 0, 0), HOOK_MAY_BEGIN);
        cr_assert_eq(hook_ask(&slot, 1, 1), HOOK_MAY_BEGIN);
}

Test(hooks, asking_changes_nothing) {
        HookSlot slot = { 0 };
        for (int i = 0; i < 10; i++)
                cr_assert_eq(hook_ask(&slot, 1, 1), HOOK_MAY_BEGIN);
        hook_begin(&slot, 1, 1);
        for (int i = 0; i < 10; i++)
                cr_assert_eq(hook_ask(&slot, 1, 1), HOOK_ALREADY_RUNS);
}

Test(hooks, what_ran_in_this_epoch_and_run_does_not_run_again_and_keeps_its_first_answer) {
        HookSlot slot = { 0 };
        hook_begin(&slot, 2, 3);
        hook_finish(&slot, 7);
        cr_assert_eq(hook_ask(&slot, 2, 3), HOOK_ALREADY_RAN);
        cr_assert_eq(slot.status, 7);
}

Test(hooks, the_next_run_and_the_next_epoch_may_begin) {
        HookSlot slot = { 0 };
        hook_begin(&slot, 2, 3);
        hook_finish(&slot, 0);
        cr_assert_eq(hook_ask(&slot, 2, 4), HOOK_MAY_BEGIN);
        cr_assert_eq(hook_ask(&slot, 3, 3), HOOK_MAY_BEGIN);
}

/* A hook of an earlier run that hangs must not run twice at once. */
Test(hooks, one_that_still_runs_holds_back_every_other_run) {
        HookSlot slot = { 0 };
        hook_begin(&slot, 2, 3);
        cr_assert_eq(hook_ask(&slot, 2, 4), HOOK_ALREADY_RUNS);
        cr_assert_eq(hook_ask(&slot, 3, 1), HOOK_ALREADY_RUNS);
}

Test(hooks, no_series_of_requests_begins_a_hook_twice) {
        enum { EPOCHS = 2, RUNS = 2, MOVES = EPOCHS * RUNS + 1, LENGTH = 7 };
        unsigned series_count = 1;
        for (int i = 0; i < LENGTH; i++)
                series_count *= MOVES;
        for (unsigned series = 0; series < series_count; series++) {
                unsigned begun[EPOCHS][RUNS] = { 0 }, left = series, epoch = 0, run = 0;
                HookSlot slot = { 0 };
                for (int i = 0; i < LENGTH; i++, left /= MOVES) {
                        unsigned move = left % MOVES;
                        if (move == MOVES - 1) {
                                if (slot.state == HOOK_RUNNING)
                                        hook_finish(&slot, 0);
                                continue;
                        }
                        /* Epochs and runs only grow. */
                        unsigned asked_epoch = move / RUNS, asked_run = move % RUNS;
                        if (asked_epoch < epoch || (asked_epoch == epoch && asked_run < run))
                                continue;
                        epoch = asked_epoch;
                        run = asked_run;
                        if (hook_ask(&slot, epoch, run) != HOOK_MAY_BEGIN)
                                continue;
                        hook_begin(&slot, epoch, run);
                        cr_assert_eq(++begun[epoch][run], 1, "series %u", series);
                }
        }
}

Test(hooks, marks_are_counted_by_epoch_from_the_first_on) {
        HookSlot slot = { 0 };
        cr_assert_eq(hook_mark(&slot, 1, 500), 1);
        cr_assert_eq(hook_mark(&slot, 1, 700), 2);
        cr_assert_eq(slot.first_mark_usec, 500);
        cr_assert_eq(hook_mark(&slot, 2, 900), 1);
        cr_assert_eq(slot.first_mark_usec, 900);
}

Test(hooks, a_mark_in_epoch_nought_is_counted_too) {
        HookSlot slot = { 0 };
        cr_assert_eq(hook_mark(&slot, 0, 500), 1);
        cr_assert_eq(slot.first_mark_usec, 500);
        cr_assert_eq(hook_mark(&slot, 0, 700), 2);
}

/* What an application says of its own hook is no run of ours. */
Test(hooks, a_mark_is_no_run) {
        HookSlot slot = { 0 };
        hook_mark(&slot, 1, 500);
        cr_assert_eq(hook_ask(&slot, 1, 1), HOOK_MAY_BEGIN);
        hook_begin(&slot, 1, 1);
        hook_finish(&slot, 0);
        cr_assert_eq(hook_mark(&slot, 1, 900), 2);
}
