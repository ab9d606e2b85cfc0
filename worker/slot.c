/* slot.c - see slot.h. */
#include "worker/slot.h"
#include "base/enumeration.h"

static const char *const state_words[_SLOT_STATE_MAX] = {
        [SLOT_EMPTY] = "empty",   [SLOT_RUNNING] = "running",     [SLOT_ASKED] = "asked",
        [SLOT_KILLED] = "killed", [SLOT_REPORTING] = "reporting",
};

static const char *const cause_words[_SLOT_CAUSE_MAX] = {
        [SLOT_CAUSE_NONE] = "none",           [SLOT_CAUSE_STALLED] = "stalled", [SLOT_CAUSE_TIMED_OUT] = "timed out",
        [SLOT_CAUSE_CANCELLED] = "cancelled", [SLOT_CAUSE_BROKEN] = "broken",   [SLOT_CAUSE_DRAINED] = "drained",
        [SLOT_CAUSE_LOST] = "lost",
};

const char *slot_state_to_string(SlotState state) {
        return (unsigned)state < _SLOT_STATE_MAX ? state_words[state] : NULL;
}

const char *slot_cause_to_string(SlotCause cause) {
        return (unsigned)cause < _SLOT_CAUSE_MAX ? cause_words[cause] : NULL;
}

static bool works(Slot slot) {
        return slot.state == SLOT_RUNNING || slot.state == SLOT_ASKED;
}

bool slot_holds_lease(Slot slot) {
        return works(slot) || (slot.state == SLOT_KILLED && slot.cause != SLOT_CAUSE_LOST);
}

static SlotStep stay(Slot slot) {
        return (SlotStep){ .next = slot };
}

static SlotStep kill_it(Slot slot, SlotCause cause) {
        if (slot.cause == SLOT_CAUSE_NONE || cause == SLOT_CAUSE_LOST)
                slot.cause = cause;
        slot.state = SLOT_KILLED;
        slot.kill_usec = USEC_INFINITY;
        return (SlotStep){ .next = slot, .orders = SLOT_ORDER_KILL };
}

static SlotStep ask(Slot slot, SlotCause cause, usec_t now) {
        if (slot.limits.kill_after_usec == 0)
                return kill_it(slot, cause);
        slot.cause = cause;
        slot.state = SLOT_ASKED;
        slot.kill_usec = usec_add(now, slot.limits.kill_after_usec);
        return (SlotStep){ .next = slot, .orders = SLOT_ORDER_ASK };
}

static SlotStep give(const SlotHappening *what) {
        Slot slot = { .state = SLOT_RUNNING, .limits = what->limits, .kill_usec = USEC_INFINITY };
        slot.stall_usec = usec_add(what->now_usec, what->limits.stall_usec);
        slot.hard_usec = usec_add(what->now_usec, what->limits.hard_usec);
        return (SlotStep){ .next = slot, .orders = SLOT_ORDER_START };
}

/* Progress that the ledger knows of may be older than what was seen here. */
static SlotStep note_progress(Slot slot, usec_t at) {
        usec_t due = usec_add(at, slot.limits.stall_usec);
        if (slot.state != SLOT_RUNNING)
                return stay(slot);
        slot.doubted = false;
        slot.stall_usec = usec_max(slot.stall_usec, due);
        return stay(slot);
}

/* An answer of one that was asked to stop counts: it says how the job ended, where an exit code would only say that the
 * program has stopped. Only a stream whose job is cancelled is asked so that it may live on (by a line). */
static SlotStep note_answer(Slot slot) {
        if (!works(slot))
                return stay(slot);
        bool ends = slot.state == SLOT_ASKED && slot.cause != SLOT_CAUSE_CANCELLED;
        slot.state = SLOT_REPORTING;
        slot.cause = SLOT_CAUSE_NONE;
        return (SlotStep){ .next = slot, .orders = SLOT_ORDER_REPORT | (ends ? SLOT_ORDER_KILL : 0u) };
}

static SlotStep note_gone(Slot slot) {
        if (!works(slot) && slot.state != SLOT_KILLED)
                return stay(slot);
        if (slot.cause == SLOT_CAUSE_LOST)
                return (SlotStep){ .next = { 0 }, .orders = SLOT_ORDER_VACATE };
        slot.state = SLOT_REPORTING;
        return (SlotStep){ .next = slot, .orders = SLOT_ORDER_REPORT };
}

static SlotStep note_time(Slot slot, usec_t now) {
        if (slot.state == SLOT_ASKED && now >= slot.kill_usec)
                return kill_it(slot, slot.cause);
        if (slot.state != SLOT_RUNNING)
                return stay(slot);
        if (now >= slot.hard_usec)
                return ask(slot, SLOT_CAUSE_TIMED_OUT, now);
        if (now < slot.stall_usec || slot.doubted)
                return stay(slot);
        slot.doubted = true;
        return (SlotStep){ .next = slot, .orders = SLOT_ORDER_LOOK };
}

/* What was seen while the ledger was asked counts more than its answer. */
static SlotStep note_silence(Slot slot, usec_t now) {
        if (slot.state != SLOT_RUNNING || !slot.doubted)
                return stay(slot);
        slot.doubted = false;
        return now >= slot.stall_usec ? ask(slot, SLOT_CAUSE_STALLED, now) : stay(slot);
}

SlotStep slot_step(Slot now, SlotHappening what) {
        switch (what.kind) {
        case SLOT_GIVEN: return now.state == SLOT_EMPTY ? give(&what) : stay(now);
        case SLOT_PROGRESSED: return note_progress(now, what.now_usec);
        case SLOT_SILENT: return note_silence(now, what.now_usec);
        case SLOT_ANSWERED: return note_answer(now);
        case SLOT_BROKE: return works(now) ? kill_it(now, SLOT_CAUSE_BROKEN) : stay(now);
        case SLOT_GONE: return note_gone(now);
        case SLOT_CANCEL: return now.state == SLOT_RUNNING ? ask(now, SLOT_CAUSE_CANCELLED, what.now_usec) : stay(now);
        case SLOT_STALE: return slot_holds_lease(now) ? kill_it(now, SLOT_CAUSE_LOST) : stay(now);
        case SLOT_DRAIN_LIMIT: return works(now) ? kill_it(now, SLOT_CAUSE_DRAINED) : stay(now);
        case SLOT_TIME: return note_time(now, what.now_usec);
        case SLOT_SETTLED:
                return now.state == SLOT_REPORTING ? (SlotStep){ .next = { 0 }, .orders = SLOT_ORDER_VACATE }
                                                   : stay(now);
        case _SLOT_HAPPENING_MAX: break;
        }
        return stay(now);
}

usec_t slot_next_usec(Slot slot) {
        switch (slot.state) {
        case SLOT_RUNNING: return slot.doubted ? slot.hard_usec : usec_min(slot.stall_usec, slot.hard_usec);
        case SLOT_ASKED: return slot.kill_usec;
        case SLOT_REPORTING:
        case SLOT_EMPTY:
        case SLOT_KILLED:
        case _SLOT_STATE_MAX: break;
        }
        return USEC_INFINITY;
}
