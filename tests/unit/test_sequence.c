/* test_sequence.c - the table of an ending, by rows, and its laws by a walk over every series of happenings. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/take.h"
#include "shutdown/sequence.h"

static const struct Row {
        const char *says;
        Sequence from;
        Happening what;
        Step step;
        Order order;
} rows[] = {
        { "a request withdraws readiness first",
          { STEP_SERVING, 0, 3 },
          HAPPENING_ENDING_ASKED,
          STEP_WITHDRAWING,
          ORDER_WITHDRAW },
        { "an empty house ignores an empty group",
          { STEP_SERVING, 0, 3 },
          HAPPENING_GROUP_EMPTY,
          STEP_SERVING,
          ORDER_NONE },
        { "a deadline means nothing before the ending",
          { STEP_SERVING, 0, 3 },
          HAPPENING_DEADLINE_REACHED,
          STEP_SERVING,
          ORDER_NONE },
        { "the acknowledgement enters the first phase",
          { STEP_WITHDRAWING, 0, 3 },
          HAPPENING_ACKNOWLEDGED,
          STEP_ENTERING,
          ORDER_ENTER },
        { "a second request changes nothing",
          { STEP_WITHDRAWING, 0, 3 },
          HAPPENING_ENDING_ASKED,
          STEP_WITHDRAWING,
          ORDER_NONE },
        { "a fast request waits for no acknowledgement",
          { STEP_WITHDRAWING, 0, 3 },
          HAPPENING_FAST_ASKED,
          STEP_STOPPING,
          ORDER_STOP },
        { "development asks everybody at once",
          { STEP_WITHDRAWING, 0, 3, .development = true },
          HAPPENING_ACKNOWLEDGED,
          STEP_STOPPING,
          ORDER_STOP_ALL },
        { "the delay alone does not stop the group",
          { STEP_ENTERING, 1, 3 },
          HAPPENING_DELAY_OVER,
          STEP_ENTERING,
          ORDER_NONE },
        { "hooks and delay together do",
          { STEP_ENTERING, 1, 3, .delay_over = true },
          HAPPENING_HOOKS_DONE,
          STEP_STOPPING,
          ORDER_STOP },
        { "nobody waits a delay for an empty group",
          { STEP_ENTERING, 1, 3, .hooks_done = true },
          HAPPENING_GROUP_EMPTY,
          STEP_STOPPING,
          ORDER_STOP },
        { "a limit turns asking into killing",
          { STEP_STOPPING, 1, 3 },
          HAPPENING_LIMIT_REACHED,
          STEP_KILLING,
          ORDER_KILL },
        { "killing ends only with an empty group",
          { STEP_KILLING, 1, 3 },
          HAPPENING_LIMIT_REACHED,
          STEP_KILLING,
          ORDER_NONE },
        { "an empty group runs the end hooks",
          { STEP_KILLING, 1, 3 },
          HAPPENING_GROUP_EMPTY,
          STEP_CLOSING,
          ORDER_CLOSE },
        { "the last phase's end hooks done, it is over",
          { STEP_CLOSING, 2, 3 },
          HAPPENING_HOOKS_DONE,
          STEP_ENDED,
          ORDER_FINISH },
        { "hurrying twice hurries once",
          { STEP_STOPPING, 1, 3, .fast = true },
          HAPPENING_FAST_ASKED,
          STEP_STOPPING,
          ORDER_NONE },
        { "the deadline gives up what is left",
          { STEP_ENTERING, 0, 3 },
          HAPPENING_DEADLINE_REACHED,
          STEP_ENDED,
          ORDER_ABANDON },
        { "after the end nothing happens", { STEP_ENDED, 2, 3 }, HAPPENING_DEADLINE_REACHED, STEP_ENDED, ORDER_NONE },
};

Test(sequence, each_row_of_the_table_holds) {
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                SequenceStep step = sequence_step(rows[i].from, rows[i].what);
                cr_assert_eq(step.next.step, rows[i].step, "%s: got %s", rows[i].says, step_to_string(step.next.step));
                cr_assert_eq(step.order, rows[i].order, "%s: ordered %s", rows[i].says, order_to_string(step.order));
        }
}

#define WALK_LENGTH 9

typedef struct Walk {
        unsigned stops, finishes, withdrawals;
        int last_stopped;
} Walk;

static void check(Sequence before, Happening what, SequenceStep step, Walk *walk) {
        Sequence next = step.next;
        cr_assert_geq(next.phase, before.phase, "a phase never goes back");
        cr_assert(next.development || next.phase <= before.phase + 1, "a phase is never skipped");
        if (next.phase > before.phase && !next.development)
                cr_assert(before.step == STEP_CLOSING && what == HAPPENING_HOOKS_DONE,
                          "a phase is left only when it is closed");
        if (next.step == STEP_CLOSING && before.step != STEP_CLOSING)
                cr_assert_eq(what, HAPPENING_GROUP_EMPTY, "only an empty group closes a phase");
        if (step.order == ORDER_STOP) {
                cr_assert_gt((int)next.phase, walk->last_stopped, "no phase is stopped twice");
                walk->last_stopped = (int)next.phase;
        }
        cr_assert(!(before.fast && !next.fast), "fast stays fast");
        walk->withdrawals += step.order == ORDER_WITHDRAW;
        walk->finishes += step.order == ORDER_FINISH || step.order == ORDER_ABANDON;
        cr_assert_leq(walk->withdrawals, 1, "readiness is withdrawn once");
        cr_assert_leq(walk->finishes, 1, "it ends once");
        cr_assert_eq(walk->finishes == 1, next.step == STEP_ENDED, "it ends by an order");
}

static unsigned long walk_all(Sequence now, Walk walk, unsigned depth) {
        unsigned long n = 1;
        if (depth == WALK_LENGTH || now.step == STEP_ENDED)
                return n;
        for (Happening what = 0; what < _HAPPENING_MAX; what++) {
                SequenceStep step = sequence_step(now, what);
                if (memcmp(&step.next, &now, sizeof now) == 0 && step.order == ORDER_NONE)
                        continue; /* a happening that changes nothing leads to a walk that is walked already */
                Walk next = walk;
                check(now, what, step, &next);
                n += walk_all(step.next, next, depth + 1);
        }
        return n;
}

Test(sequence, no_series_of_happenings_breaks_the_order) {
        for (int development = 0; development <= 1; development++) {
                unsigned long n = walk_all(sequence_start(2, development), (Walk){ .last_stopped = -1 }, 0);
                cr_assert_gt(n, development ? 10UL : 500UL, "only %lu walks", n);
        }
}

Test(sequence, every_word_reads_back_as_itself) {
        for (Step i = 0; i < _STEP_MAX; i++)
                cr_assert_eq(step_from_string(step_to_string(i)), (int)i);
        for (Happening i = 0; i < _HAPPENING_MAX; i++)
                cr_assert_eq(happening_from_string(happening_to_string(i)), (int)i);
        for (Order i = 0; i < _ORDER_MAX; i++)
                cr_assert_eq(order_from_string(order_to_string(i)), (int)i);
}
