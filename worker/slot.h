/* slot.h - what one slot of the worker does next, from a job that is given to a job that is settled: decides, does
 * nothing itself.
 *
 * Pure: a slot and a happening in, a slot and orders out. A command that hangs is asked first and killed after
 * `kill_after_usec`; one whose lease is lost is killed at once, because somebody else may hold the job already. What is
 * to be said to the ledger follows from the cause (worker/outcome.h). A job is reported only when nothing of its
 * command is left, or, when the command is a stream that lives on, when it has answered. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>

typedef enum SlotState {
        SLOT_EMPTY,
        SLOT_RUNNING,
        SLOT_ASKED,     /* to stop */
        SLOT_KILLED,    /* not all of it is gone yet */
        SLOT_REPORTING, /* the ledger has not answered yet */
        _SLOT_STATE_MAX,
} SlotState;

typedef enum SlotCause {
        SLOT_CAUSE_NONE,      /* it ended by itself */
        SLOT_CAUSE_STALLED,   /* no progress for too long */
        SLOT_CAUSE_TIMED_OUT, /* the hard limit */
        SLOT_CAUSE_CANCELLED,
        SLOT_CAUSE_BROKEN,  /* a stream that does not keep to its protocol */
        SLOT_CAUSE_DRAINED, /* the limit of the worker's own ending */
        SLOT_CAUSE_LOST,    /* the job is not ours any more */
        _SLOT_CAUSE_MAX,
} SlotCause;

const char *slot_state_to_string(SlotState state);
const char *slot_cause_to_string(SlotCause cause);

typedef struct SlotLimits {
        usec_t stall_usec, hard_usec; /* spans; USEC_INFINITY: none */
        usec_t kill_after_usec;       /* from asking to killing */
} SlotLimits;

typedef struct Slot { /* all zero: empty */
        SlotState state;
        SlotCause cause;
        bool doubted; /* the ledger was asked whether items move */
        SlotLimits limits;
        usec_t stall_usec, hard_usec, kill_usec; /* instants */
} Slot;

typedef enum SlotHappeningKind {
        SLOT_GIVEN,       /* a job, with its limits, at an instant */
        SLOT_PROGRESSED,  /* at an instant */
        SLOT_SILENT,      /* the ledger knows of no progress of its items either */
        SLOT_ANSWERED,    /* a stream told how its job ended */
        SLOT_BROKE,       /* a stream wrote what is no message */
        SLOT_GONE,        /* the command and all below it */
        SLOT_CANCEL,      /* the ledger asks for it */
        SLOT_STALE,       /* the ledger says that the job is not ours */
        SLOT_DRAIN_LIMIT, /* of the worker */
        SLOT_TIME,        /* it is that late */
        SLOT_SETTLED,     /* the ledger answered the report */
        _SLOT_HAPPENING_MAX,
} SlotHappeningKind;

typedef struct SlotHappening {
        SlotHappeningKind kind;
        usec_t now_usec;
        SlotLimits limits; /* of SLOT_GIVEN */
} SlotHappening;

enum {
        SLOT_ORDER_START = 1 << 0,
        SLOT_ORDER_LOOK = 1 << 1, /* for progress of its items in the ledger: SLOT_PROGRESSED or SLOT_SILENT */
        SLOT_ORDER_ASK = 1 << 2,
        SLOT_ORDER_KILL = 1 << 3,
        SLOT_ORDER_REPORT = 1 << 4,
        SLOT_ORDER_VACATE = 1 << 5, /* the job is settled, or was lost */
};

typedef struct SlotStep {
        Slot next;
        unsigned orders;
} SlotStep;

SlotStep slot_step(Slot now, SlotHappening what);
/* When SLOT_TIME should be told next; USEC_INFINITY: never. */
usec_t slot_next_usec(Slot slot);
bool slot_holds_lease(Slot slot); /* a command works on a job, so its lease is to be renewed */
