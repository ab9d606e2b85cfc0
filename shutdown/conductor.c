/* conductor.c - from the sequence's orders to the stage's acts; see conductor.h. */
#include "shutdown/conductor.h"

void conductor_init(Conductor *conductor, const Budget *budget, const char *const *phase_names, bool development,
                    const ConductorStage *stage, void *self) {
        *conductor = (Conductor){
                .sequence = sequence_start(budget->n_phases, development),
                .budget = *budget,
                .phase_names = phase_names,
                .stage = stage,
                .self = self,
                .since_usec = USEC_INFINITY,
                .phase_since_usec = USEC_INFINITY,
                .limit_usec = USEC_INFINITY,
                .delay_usec = USEC_INFINITY,
                .acknowledge_usec = USEC_INFINITY,
        };
}

bool conductor_is_ending(const Conductor *conductor) {
        return conductor->sequence.step != STEP_SERVING;
}

usec_t conductor_deadline_usec(const Conductor *conductor) {
        return usec_add(conductor->since_usec, conductor->budget.deadline_usec);
}

usec_t conductor_limit_usec(const Conductor *conductor) {
        return conductor->limit_usec;
}

static usec_t now_of(Conductor *conductor) {
        return conductor->stage->now(conductor->self);
}

/* With a deadline of a second or less the acknowledgement must not eat what the phases need. */
static usec_t acknowledgement_limit(const Budget *budget) {
        return usec_min(ACKNOWLEDGEMENT_USEC, (budget->deadline_usec - budget->reserve_usec) / 4);
}

static void withdraw(Conductor *conductor) {
        usec_t now = now_of(conductor);
        conductor->since_usec = now;
        bool short_cut = conductor->sequence.fast || conductor->sequence.development;
        if (conductor->stage->withdraw(conductor->self, short_cut) && !short_cut)
                conductor->acknowledge_usec = usec_add(now, acknowledgement_limit(&conductor->budget));
        else
                conductor_tell(conductor, HAPPENING_ACKNOWLEDGED);
}

static const char *phase_name(const Conductor *conductor) {
        return conductor->sequence.development ? "all" : conductor->phase_names[conductor->sequence.phase];
}

static void begin_phase(Conductor *conductor) {
        usec_t now = now_of(conductor);
        unsigned phase = conductor->sequence.phase;
        usec_t limit = usec_add(conductor->since_usec, budget_limit(&conductor->budget, phase));
        if (conductor->sequence.fast || conductor->sequence.development)
                limit = usec_min(limit, usec_add(now, FAST_USEC));
        conductor->acknowledge_usec = USEC_INFINITY;
        conductor->phase_since_usec = now;
        conductor->limit_usec = limit;
        conductor->limit_told = false;

        PhaseTally tally = conductor->stage->tally(conductor->self, phase);
        conductor->stage->record(conductor->self, &(Event){ .kind = EVENT_PHASE_STARTED,
                                                            .phase = phase_name(conductor),
                                                            .members = tally.members,
                                                            .limit_usec = usec_sub(limit, now) });
}

static void finish_phase(Conductor *conductor, unsigned phase) {
        PhaseTally tally = conductor->stage->tally(conductor->self, phase);
        const char *name = conductor->sequence.development ? "all" : conductor->phase_names[phase];
        conductor->stage->record(conductor->self,
                                 &(Event){ .kind = EVENT_PHASE_FINISHED,
                                           .phase = name,
                                           .gone = tally.gone,
                                           .killed = tally.killed,
                                           .left = tally.left,
                                           .took_usec = usec_sub(now_of(conductor), conductor->phase_since_usec) });
        conductor->phase_since_usec = conductor->limit_usec = conductor->delay_usec = USEC_INFINITY;
}

static void enter(Conductor *conductor) {
        begin_phase(conductor);
        usec_t delay = conductor->budget.delay_usec[conductor->sequence.phase];
        if (delay > 0)
                conductor->delay_usec = usec_add(now_of(conductor), delay);
        else
                conductor_tell(conductor, HAPPENING_DELAY_OVER);
        conductor->stage->enter(conductor->self, conductor->sequence.phase);
}

static void stop(Conductor *conductor, bool everything) {
        if (conductor->phase_since_usec == USEC_INFINITY)
                begin_phase(conductor); /* a fast ending does not enter first */
        else if (conductor->sequence.fast)
                conductor->limit_usec = usec_min(conductor->limit_usec, usec_add(now_of(conductor), FAST_USEC));
        conductor->delay_usec = USEC_INFINITY;
        conductor->stage->stop(conductor->self, conductor->sequence.phase, everything);
}

static void hurry(Conductor *conductor) {
        conductor->limit_usec = usec_min(conductor->limit_usec, usec_add(now_of(conductor), FAST_USEC));
        conductor->stage->hurry(conductor->self);
}

/* In a short cut the group had its second; the end hooks have one of their own, before the reserve. */
static void close_phase(Conductor *conductor) {
        if (conductor->sequence.fast || conductor->sequence.development) {
                usec_t last = usec_sub(conductor_deadline_usec(conductor), conductor->budget.reserve_usec);
                conductor->limit_usec = usec_min(last, usec_add(now_of(conductor), FAST_USEC));
                conductor->limit_told = false;
        }
        conductor->stage->close(conductor->self, conductor->sequence.phase);
}

static void abandon(Conductor *conductor) {
        conductor->stage->abandon(conductor->self);
        if (conductor->phase_since_usec != USEC_INFINITY)
                finish_phase(conductor, conductor->sequence.phase);
        conductor->stage->finish(conductor->self);
}

static void carry_out(Conductor *conductor, Order order) {
        switch (order) {
        case ORDER_WITHDRAW: withdraw(conductor); break;
        case ORDER_ENTER: enter(conductor); break;
        case ORDER_STOP: stop(conductor, false); break;
        case ORDER_STOP_ALL: stop(conductor, true); break;
        case ORDER_HURRY: hurry(conductor); break;
        case ORDER_KILL: conductor->stage->kill(conductor->self); break;
        case ORDER_CLOSE: close_phase(conductor); break;
        case ORDER_FINISH: conductor->stage->finish(conductor->self); break;
        case ORDER_ABANDON: abandon(conductor); break;
        case ORDER_NONE:
        case _ORDER_MAX: break;
        }
}

/* What was told of a step that is over says nothing about the next one: the stage looks again when it gets the new
 * order. Without this an empty group of one phase could stand for that of the next. */
#define STEP_BOUND                                                                                                     \
        (1U << HAPPENING_DELAY_OVER | 1U << HAPPENING_HOOKS_DONE | 1U << HAPPENING_GROUP_EMPTY |                       \
         1U << HAPPENING_LIMIT_REACHED)

/* A phase is over when the sequence leaves its closing step, by whatever order. */
static void take_up(Conductor *conductor, Happening what) {
        Sequence before = conductor->sequence;
        SequenceStep step = sequence_step(before, what);
        conductor->sequence = step.next;
        if (step.next.step != before.step || step.next.phase != before.phase)
                conductor->pending &= ~STEP_BOUND;
        if (before.step == STEP_CLOSING && step.next.step != STEP_CLOSING && step.order != ORDER_ABANDON)
                finish_phase(conductor, before.phase);
        carry_out(conductor, step.order);
}

/* Bits, not a queue: telling the same thing twice before it was taken up means it once, and the enum's order is the
 * order in which simultaneous happenings are taken up (a request before a limit, a limit before the deadline). */
void conductor_tell(Conductor *conductor, Happening what) {
        conductor->pending |= 1U << what;
        if (conductor->busy)
                return;
        conductor->busy = true;
        while (conductor->pending) {
                Happening next = (Happening)__builtin_ctz(conductor->pending);
                conductor->pending &= ~(1U << next);
                take_up(conductor, next);
        }
        conductor->busy = false;
}

usec_t conductor_next_usec(const Conductor *conductor) {
        if (conductor->sequence.step == STEP_SERVING || conductor->sequence.step == STEP_ENDED)
                return USEC_INFINITY;
        usec_t next = usec_min(conductor->acknowledge_usec, conductor->delay_usec);
        if (!conductor->limit_told)
                next = usec_min(next, conductor->limit_usec);
        return usec_min(next, conductor_deadline_usec(conductor));
}

void conductor_tick(Conductor *conductor) {
        usec_t now = now_of(conductor);
        if (now >= conductor->acknowledge_usec) {
                conductor->acknowledge_usec = USEC_INFINITY;
                conductor_tell(conductor, HAPPENING_ACKNOWLEDGED);
        }
        if (now >= conductor->delay_usec) {
                conductor->delay_usec = USEC_INFINITY;
                conductor_tell(conductor, HAPPENING_DELAY_OVER);
        }
        if (now >= conductor->limit_usec && !conductor->limit_told) {
                conductor->limit_told = true;
                conductor_tell(conductor, HAPPENING_LIMIT_REACHED);
        }
        if (now >= conductor_deadline_usec(conductor))
                conductor_tell(conductor, HAPPENING_DEADLINE_REACHED);
}
