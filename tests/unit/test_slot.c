/* test_slot.c - what a slot does next: by example, and every sequence of happenings against the laws. */
#include "worker/slot.h"
#include <criterion/criterion.h>

static const SlotLimits limits = { .stall_usec = 10, .hard_usec = 100, .kill_after_usec = 5 };

static SlotStep step(Slot slot, SlotHappeningKind kind, usec_t now) {
        return slot_step(slot, (SlotHappening){ .kind = kind, .now_usec = now, .limits = limits });
}

static Slot running(usec_t now) {
        return step((Slot){ 0 }, SLOT_GIVEN, now).next;
}

Test(slot, every_state_and_every_cause_has_a_word) {
        for (int state = 0; state < _SLOT_STATE_MAX; state++)
                cr_expect_not_null(slot_state_to_string((SlotState)state));
        for (int cause = 0; cause < _SLOT_CAUSE_MAX; cause++)
                cr_expect_not_null(slot_cause_to_string((SlotCause)cause));
        cr_expect_null(slot_state_to_string(_SLOT_STATE_MAX));
        cr_expect_null(slot_cause_to_string(_SLOT_CAUSE_MAX));
}

Test(slot, a_job_is_started_reported_when_its_command_is_gone_and_settled) {
        SlotStep given = step((Slot){ 0 }, SLOT_GIVEN, 1);
        cr_expect_eq(given.orders, SLOT_ORDER_START);
        SlotStep gone = step(given.next, SLOT_GONE, 2);
        cr_expect_eq(gone.orders, SLOT_ORDER_REPORT);
        cr_expect_eq(gone.next.cause, SLOT_CAUSE_NONE);
        SlotStep settled = step(gone.next, SLOT_SETTLED, 3);
        cr_expect_eq(settled.orders, SLOT_ORDER_VACATE);
        cr_expect_eq(settled.next.state, SLOT_EMPTY);
}

Test(slot, a_stall_is_doubted_first_and_progress_of_items_lifts_the_doubt) {
        Slot slot = running(0);
        cr_expect_eq(slot_next_usec(slot), 10);
        SlotStep doubt = step(slot, SLOT_TIME, 10);
        cr_expect_eq(doubt.orders, SLOT_ORDER_LOOK);
        cr_expect_eq(step(doubt.next, SLOT_TIME, 11).orders, 0, "the ledger is asked once");
        Slot moved = step(doubt.next, SLOT_PROGRESSED, 7).next;
        cr_expect_eq(step(moved, SLOT_SILENT, 12).orders, 0);
        cr_expect_eq(slot_next_usec(moved), 17);
        SlotStep silent = step(doubt.next, SLOT_SILENT, 12);
        cr_expect_eq(silent.orders, SLOT_ORDER_ASK);
        cr_expect_eq(silent.next.cause, SLOT_CAUSE_STALLED);
        cr_expect_eq(slot_next_usec(silent.next), 17);
}

Test(slot, progress_moves_the_stall_and_never_the_hard_limit) {
        Slot slot = running(0);
        for (usec_t now = 5; now < 100; now += 5)
                slot = step(step(slot, SLOT_PROGRESSED, now).next, SLOT_TIME, now).next;
        cr_expect_eq(slot.state, SLOT_RUNNING);
        SlotStep late = step(slot, SLOT_TIME, 100);
        cr_expect_eq(late.orders, SLOT_ORDER_ASK);
        cr_expect_eq(late.next.cause, SLOT_CAUSE_TIMED_OUT);
        cr_expect_eq(step(late.next, SLOT_TIME, 104).orders, 0);
        cr_expect_eq(step(late.next, SLOT_TIME, 105).orders, SLOT_ORDER_KILL);
}

Test(slot, old_progress_does_not_bring_the_stall_nearer) {
        Slot slot = step(running(0), SLOT_PROGRESSED, 50).next;
        cr_expect_eq(slot_next_usec(step(slot, SLOT_PROGRESSED, 20).next), 60);
}

Test(slot, a_lost_job_is_killed_at_once_and_never_reported) {
        SlotStep lost = step(running(0), SLOT_STALE, 1);
        cr_expect_eq(lost.orders, SLOT_ORDER_KILL);
        SlotStep gone = step(lost.next, SLOT_GONE, 2);
        cr_expect_eq(gone.orders, SLOT_ORDER_VACATE);
        cr_expect_eq(gone.next.state, SLOT_EMPTY);
        Slot asked = step(running(0), SLOT_CANCEL, 1).next;
        cr_expect_eq(step(asked, SLOT_STALE, 2).next.cause, SLOT_CAUSE_LOST, "whatever it was stopped for before");
}

Test(slot, the_limit_of_the_drain_kills_and_keeps_an_earlier_cause) {
        SlotStep drained = step(running(0), SLOT_DRAIN_LIMIT, 1);
        cr_expect_eq(drained.orders, SLOT_ORDER_KILL);
        cr_expect_eq(drained.next.cause, SLOT_CAUSE_DRAINED);
        Slot late = step(running(0), SLOT_TIME, 100).next;
        cr_expect_eq(step(late, SLOT_DRAIN_LIMIT, 101).next.cause, SLOT_CAUSE_TIMED_OUT);
}

Test(slot, the_answer_of_a_stream_counts_even_when_it_was_asked_to_stop) {
        SlotStep answer = step(running(0), SLOT_ANSWERED, 1);
        cr_expect_eq(answer.orders, SLOT_ORDER_REPORT);
        Slot asked = step(running(0), SLOT_TIME, 100).next;
        answer = step(asked, SLOT_ANSWERED, 101);
        cr_expect_eq(answer.orders, SLOT_ORDER_REPORT | SLOT_ORDER_KILL);
        cr_expect_eq(answer.next.cause, SLOT_CAUSE_NONE);
        Slot cancelled = step(running(0), SLOT_CANCEL, 1).next;
        cr_expect_eq(step(cancelled, SLOT_ANSWERED, 2).orders, SLOT_ORDER_REPORT, "a line asked it: it lives on");
}

Test(slot, without_a_span_to_stop_in_it_is_killed_at_once) {
        SlotHappening given = { .kind = SLOT_GIVEN, .limits = { .stall_usec = USEC_INFINITY, .hard_usec = 1 } };
        Slot slot = slot_step((Slot){ 0 }, given).next;
        cr_expect_eq(step(slot, SLOT_TIME, 1).orders, SLOT_ORDER_KILL);
}

/* ---- Every sequence ---- */

typedef struct Seen {
        unsigned starts, reports, vacates, kills;
        bool gone;
} Seen;

static void judge(Slot before, SlotHappeningKind kind, SlotStep after, Seen *seen) {
        seen->starts += (after.orders & SLOT_ORDER_START) != 0;
        seen->reports += (after.orders & SLOT_ORDER_REPORT) != 0;
        seen->vacates += (after.orders & SLOT_ORDER_VACATE) != 0;
        cr_assert_leq(seen->reports, seen->starts, "a job is reported at most once");
        cr_assert_leq(seen->vacates, seen->starts, "and leaves its slot once");
        cr_assert_leq(seen->starts, seen->vacates + 1, "one job at a time");
        if (after.orders & SLOT_ORDER_REPORT) {
                cr_assert(kind == SLOT_GONE || kind == SLOT_ANSWERED, "reported only when it is over");
                cr_assert_neq(before.cause, SLOT_CAUSE_LOST, "what is lost is not written");
        }
        if (before.state == SLOT_KILLED && kind != SLOT_GONE)
                cr_assert_eq(after.next.state, SLOT_KILLED, "only its end ends a kill");
        if (before.state == SLOT_EMPTY)
                cr_assert(kind == SLOT_GIVEN ? after.orders == SLOT_ORDER_START : after.orders == 0);
        if ((after.orders & SLOT_ORDER_KILL) && !(after.orders & SLOT_ORDER_REPORT))
                cr_assert_eq(after.next.state, SLOT_KILLED);
        if (after.next.state == SLOT_ASKED)
                cr_assert_neq(slot_next_usec(after.next), USEC_INFINITY, "asking turns into killing by itself");
        if (after.next.cause == SLOT_CAUSE_LOST)
                cr_assert_not(slot_holds_lease(after.next), "a lost lease is not renewed");
}

static unsigned long walk(Slot slot, usec_t now, unsigned depth, Seen seen) {
        unsigned long n = 1;
        if (depth == 0)
                return n;
        for (int kind = 0; kind < _SLOT_HAPPENING_MAX; kind++) {
                usec_t at = now + (kind == SLOT_TIME ? 101 : 1);
                Seen next = seen;
                SlotStep after = step(slot, (SlotHappeningKind)kind, at);
                judge(slot, (SlotHappeningKind)kind, after, &next);
                n += walk(after.next, at, depth - 1, next);
        }
        return n;
}

Test(slot, no_sequence_of_seven_happenings_breaks_a_law) {
        cr_expect_gt(walk((Slot){ 0 }, 1, 7, (Seen){ 0 }), 10000000UL);
}

/* Whatever came before, time and the end of the command bring each slot to a report or to emptiness. */
static void settle(Slot slot, usec_t now) {
        for (int i = 0; i < 6 && slot.state != SLOT_EMPTY && slot.state != SLOT_REPORTING; i++) {
                now += 1000;
                slot = step(step(slot, SLOT_TIME, now).next, SLOT_SILENT, now).next;
                if (slot.state == SLOT_KILLED)
                        slot = step(slot, SLOT_GONE, now).next;
        }
        cr_assert(slot.state == SLOT_EMPTY || slot.state == SLOT_REPORTING);
}

static void walk_to_rest(Slot slot, usec_t now, unsigned depth) {
        settle(slot, now);
        for (int kind = 0; depth > 0 && kind < _SLOT_HAPPENING_MAX; kind++)
                walk_to_rest(step(slot, (SlotHappeningKind)kind, now + 1).next, now + 1, depth - 1);
}

Test(slot, from_everywhere_time_leads_to_rest) {
        walk_to_rest((Slot){ 0 }, 1, 5);
}
