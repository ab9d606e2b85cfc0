/* sequence.h - decides the next step of an ending; does nothing itself.
 *
 * A Sequence is a value: copy it, compare it, print it. sequence_step() is a pure function of (where we are, what
 * happened). It never logs, never allocates, never asks the clock; the conductor does all of that. Every happening may
 * arrive in every step: what means nothing there changes nothing. */
#pragma once
#include <stdbool.h>

typedef enum Step {
        STEP_SERVING,     /* starting up, or up */
        STEP_WITHDRAWING, /* readiness is withdrawn, its acknowledgement is awaited */
        STEP_ENTERING,    /* the phase's delay and its begin hooks */
        STEP_STOPPING,    /* the phase's group is asked, and awaited */
        STEP_KILLING,     /* the limit has passed: the group was killed, and is awaited */
        STEP_CLOSING,     /* the group is gone: the phase's end hooks */
        STEP_ENDED,
        _STEP_MAX,
} Step;

typedef enum Happening {
        HAPPENING_ENDING_ASKED, /* for the first or the tenth time */
        HAPPENING_FAST_ASKED,
        HAPPENING_ACKNOWLEDGED, /* or nobody is there to acknowledge, or it took too long */
        HAPPENING_DELAY_OVER,
        HAPPENING_HOOKS_DONE,  /* no hook of the phase's edge runs any more */
        HAPPENING_GROUP_EMPTY, /* nobody of this phase or an earlier one is left */
        HAPPENING_LIMIT_REACHED,
        HAPPENING_DEADLINE_REACHED,
        _HAPPENING_MAX,
} Happening;

typedef enum Order {
        ORDER_NONE,
        ORDER_WITHDRAW,
        ORDER_ENTER,    /* run the begin hooks of `phase`, wait its delay */
        ORDER_STOP,     /* stop the group of `phase`, in its order */
        ORDER_STOP_ALL, /* development: everything at once */
        ORDER_HURRY,    /* what was asked politely has one second more */
        ORDER_KILL,     /* SIGKILL whatever of `phase` is left */
        ORDER_CLOSE,    /* run the end hooks of `phase` */
        ORDER_FINISH,
        ORDER_ABANDON, /* the deadline: give up what is left, then finish */
        _ORDER_MAX,
} Order;

typedef struct Sequence {
        Step step;
        unsigned phase;    /* index of the phase that is ending; in development the last, for all */
        unsigned n_phases; /* at least 1 */
        bool development;
        bool fast;
        bool delay_over; /* of this phase */
        bool hooks_done; /* of this phase's begin edge */
} Sequence;

typedef struct SequenceStep {
        Sequence next;
        Order order;
} SequenceStep;

Sequence sequence_start(unsigned n_phases, bool development);
SequenceStep sequence_step(Sequence now, Happening what);

const char *step_to_string(Step step);
int step_from_string(const char *text);
const char *happening_to_string(Happening happening);
int happening_from_string(const char *text);
const char *order_to_string(Order order);
int order_from_string(const char *text);
