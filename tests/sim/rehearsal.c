/* rehearsal.c - see rehearsal.h. */
#include "tests/sim/rehearsal.h"

#include "shutdown/conductor.h"
#include "tests/sim/random.h"
#include <stdio.h>

#define TELLS_MAX 400

typedef struct Rehearsal {
        Conductor conductor;
        Random random;
        usec_t now_usec, empty_usec, hooks_usec; /* when the phase's group is gone, and its hooks are */
        bool trace, development, finished, abandoned, paused;
        unsigned withdrawn, entered, stopped, closed; /* how often; how many phases */
        const char *broken;
} Rehearsal;

static void fail(Rehearsal *rehearsal, const char *law) {
        if (!rehearsal->broken)
                rehearsal->broken = law;
}

static bool is_empty(const Rehearsal *rehearsal) {
        return rehearsal->now_usec >= rehearsal->empty_usec;
}

static bool has_no_hooks(const Rehearsal *rehearsal) {
        return rehearsal->now_usec >= rehearsal->hooks_usec;
}

/* True now, or stale where it must mean nothing. What is neither would be a lie, and no law could hold. */
static bool may_tell(const Rehearsal *rehearsal, Happening what) {
        const Conductor *conductor = &rehearsal->conductor;
        Step step = conductor->sequence.step;
        bool idle = step == STEP_SERVING || step == STEP_WITHDRAWING || step == STEP_ENDED;
        switch (what) {
        case HAPPENING_ENDING_ASKED:
        case HAPPENING_FAST_ASKED:
        case HAPPENING_ACKNOWLEDGED: return true;
        case HAPPENING_DELAY_OVER: return step != STEP_ENTERING;
        case HAPPENING_HOOKS_DONE: return has_no_hooks(rehearsal) || (step != STEP_ENTERING && step != STEP_CLOSING);
        case HAPPENING_GROUP_EMPTY: return is_empty(rehearsal) || idle || step == STEP_CLOSING;
        case HAPPENING_LIMIT_REACHED:
                return idle || step == STEP_KILLING || rehearsal->now_usec >= conductor->limit_usec;
        case HAPPENING_DEADLINE_REACHED:
                return step == STEP_SERVING || step == STEP_ENDED ||
                       rehearsal->now_usec >= conductor_deadline_usec(conductor);
        case _HAPPENING_MAX: break;
        }
        return false;
}

static void tell_anything(Rehearsal *rehearsal) {
        Happening what = (Happening)random_below(&rehearsal->random, _HAPPENING_MAX);
        if (!may_tell(rehearsal, what))
                return;
        if (rehearsal->trace)
                printf("%12.6f  %s in %s\n", (double)rehearsal->now_usec / 1e6, happening_to_string(what),
                       step_to_string(rehearsal->conductor.sequence.step));
        conductor_tell(&rehearsal->conductor, what);
}

static usec_t stage_now(void *self) {
        return ((Rehearsal *)self)->now_usec;
}

static void stage_record(void *self, Event *event) {
        Rehearsal *rehearsal = self;
        if (rehearsal->trace)
                printf("%12.6f  %s %s\n", (double)rehearsal->now_usec / 1e6, event_kind_to_string(event->kind),
                       event->phase ? event->phase : "");
        if (rehearsal->finished)
                fail(rehearsal, "L10: an event after the end");
}

static bool stage_withdraw(void *self, bool fast) {
        Rehearsal *rehearsal = self;
        if (rehearsal->withdrawn++ > 0)
                fail(rehearsal, "L6: readiness was withdrawn twice");
        return !fast && random_chance(&rehearsal->random, 60);
}

static usec_t soon(Rehearsal *rehearsal) {
        usec_t most = rehearsal->conductor.budget.deadline_usec * 2;
        if (random_chance(&rehearsal->random, 20))
                return USEC_INFINITY;
        return rehearsal->now_usec +
               random_usec(&rehearsal->random, 0, random_chance(&rehearsal->random, 50) ? most / 10 : most);
}

static void stage_enter(void *self, unsigned phase) {
        Rehearsal *rehearsal = self;
        if (phase != rehearsal->entered || phase != rehearsal->closed)
                fail(rehearsal, "L2: a phase was entered out of order");
        rehearsal->entered = phase + 1;
        rehearsal->empty_usec = soon(rehearsal);
        rehearsal->hooks_usec = soon(rehearsal);
        if (random_chance(&rehearsal->random, 30))
                tell_anything(rehearsal);
}

static void stage_stop(void *self, unsigned phase, bool everything) {
        Rehearsal *rehearsal = self;
        if (everything != rehearsal->development)
                fail(rehearsal, "L2: all phases at once are for development only");
        if (!everything && (phase != rehearsal->stopped || phase != rehearsal->closed))
                fail(rehearsal, "L1: a phase was stopped before the one before it was over");
        if (rehearsal->entered <= phase) { /* a fast ending and a development one do not enter first */
                rehearsal->entered = phase + 1;
                rehearsal->empty_usec = soon(rehearsal);
        }
        rehearsal->stopped = phase + 1;
}

static void stage_hurry(void *self) {
        if (random_chance(&((Rehearsal *)self)->random, 50))
                tell_anything(self);
}

static void stage_kill(void *self) {
        Rehearsal *rehearsal = self;
        if (rehearsal->now_usec < rehearsal->conductor.limit_usec)
                fail(rehearsal, "C: killed before the limit");
        rehearsal->stopped = rehearsal->conductor.sequence.phase + 1;
        if (random_chance(&rehearsal->random, 80))
                rehearsal->empty_usec = usec_min(rehearsal->empty_usec, rehearsal->now_usec);
        rehearsal->hooks_usec = usec_min(rehearsal->hooks_usec, rehearsal->now_usec);
}

static void stage_close(void *self, unsigned phase) {
        Rehearsal *rehearsal = self;
        if (phase + 1 != rehearsal->stopped)
                fail(rehearsal, "L2: a phase was closed that was not stopped");
        if (!is_empty(rehearsal))
                fail(rehearsal, "L1: a phase was closed that was not empty");
        rehearsal->closed = phase + 1;
        rehearsal->hooks_usec = soon(rehearsal);
}

static void stage_abandon(void *self) {
        Rehearsal *rehearsal = self;
        rehearsal->abandoned = true;
        if (rehearsal->now_usec < conductor_deadline_usec(&rehearsal->conductor))
                fail(rehearsal, "L4: abandoned before the deadline");
}

static void stage_finish(void *self) {
        Rehearsal *rehearsal = self;
        if (rehearsal->finished)
                fail(rehearsal, "L10: it finished twice");
        if (!rehearsal->abandoned && rehearsal->closed != rehearsal->conductor.sequence.n_phases)
                fail(rehearsal, "L2: a phase was skipped");
        if (!rehearsal->paused && rehearsal->now_usec > conductor_deadline_usec(&rehearsal->conductor))
                fail(rehearsal, "L4: it finished after the deadline");
        rehearsal->finished = true;
}

static PhaseTally stage_tally(void *self, unsigned phase) {
        (void)self, (void)phase;
        return (PhaseTally){ .members = 1 };
}

static const ConductorStage bare_stage = {
        .now = stage_now,
        .record = stage_record,
        .withdraw = stage_withdraw,
        .enter = stage_enter,
        .stop = stage_stop,
        .hurry = stage_hurry,
        .kill = stage_kill,
        .close = stage_close,
        .abandon = stage_abandon,
        .finish = stage_finish,
        .tally = stage_tally,
};

static void plan(Rehearsal *rehearsal) {
        static const char *const names[] = { "http", "workers", "db", "telemetry" };
        Random *random = &rehearsal->random;
        BudgetPhase phases[4];
        unsigned n = 1 + random_below(random, 4);
        usec_t deadline = random_usec(random, USEC_PER_SEC / 2, 30 * USEC_PER_SEC), sum;
        for (unsigned i = 0; i < n; i++)
                phases[i] = (BudgetPhase){ .name = names[i],
                                           .timeout_usec = USEC_INFINITY,
                                           .members = random_below(random, 3),
                                           .delay_usec = random_chance(random, 40) ? random_below(random, 100000) : 0 };
        Budget budget;
        budget_plan(deadline, phases, n, &budget,
                    &sum); /* at most 0.4 s of delays in 0.25 s at least: may be refused … */
        if (sum > deadline - budget_reserve(deadline, 2 * n)) {
                for (unsigned i = 0; i < n; i++)
                        phases[i].delay_usec = 0; /* … then without them */
                budget_plan(deadline, phases, n, &budget, &sum);
        }
        rehearsal->development = random_chance(random, 15);
        conductor_init(&rehearsal->conductor, &budget, names, rehearsal->development, &bare_stage, rehearsal);
}

/* The instants at which something is due are the ones where mistakes are. */
static void wait(Rehearsal *rehearsal) {
        usec_t next = conductor_next_usec(&rehearsal->conductor);
        next = usec_min(next, rehearsal->empty_usec > rehearsal->now_usec ? rehearsal->empty_usec : USEC_INFINITY);
        next = usec_min(next, rehearsal->hooks_usec > rehearsal->now_usec ? rehearsal->hooks_usec : USEC_INFINITY);
        if (next == USEC_INFINITY || next <= rehearsal->now_usec)
                return;
        if (random_chance(&rehearsal->random, 8)) { /* endwell itself did not run for a while: a throttled container */
                rehearsal->paused = true;
                next = usec_add(next, random_usec(&rehearsal->random, 0, rehearsal->conductor.budget.deadline_usec));
        }
        rehearsal->now_usec = random_chance(&rehearsal->random, 60)
                                      ? next
                                      : random_usec(&rehearsal->random, rehearsal->now_usec, next);
}

static void tell_truth(Rehearsal *rehearsal) {
        Step step = rehearsal->conductor.sequence.step;
        if ((step == STEP_ENTERING || step == STEP_CLOSING) && has_no_hooks(rehearsal))
                conductor_tell(&rehearsal->conductor, HAPPENING_HOOKS_DONE);
        step = rehearsal->conductor.sequence.step;
        if ((step == STEP_STOPPING || step == STEP_KILLING) && is_empty(rehearsal))
                conductor_tell(&rehearsal->conductor, HAPPENING_GROUP_EMPTY);
}

bool rehearsal_play(uint64_t seed, bool trace, const char **ret_law) {
        Rehearsal rehearsal = { .random = { seed * 77 + 5 }, .now_usec = 1, .trace = trace };
        plan(&rehearsal);
        for (unsigned i = 0; i < TELLS_MAX && !rehearsal.finished && !rehearsal.broken; i++) {
                for (unsigned n = random_below(&rehearsal.random, 4); n > 0; n--)
                        tell_anything(&rehearsal);
                if (conductor_next_usec(&rehearsal.conductor) <= rehearsal.now_usec &&
                    random_chance(&rehearsal.random, 90))
                        conductor_tick(&rehearsal.conductor);
                if (random_chance(&rehearsal.random, 70))
                        tell_truth(&rehearsal);
                if (conductor_next_usec(&rehearsal.conductor) > rehearsal.now_usec)
                        wait(&rehearsal);
        }
        if (!rehearsal.finished)
                fail(&rehearsal, "L4: it never finished");
        for (unsigned i = 0; i < 8; i++) /* after the end nothing means anything */
                tell_anything(&rehearsal);
        *ret_law = rehearsal.broken;
        return !rehearsal.broken;
}
