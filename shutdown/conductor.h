/* conductor.h - carries out the sequence's orders: holds the budget and the ending's timers, and tells the group what
 * to do.
 *
 * Owns no process and no descriptor: what must be done is asked of a small table of functions, so that the same
 * conductor runs in PID 1 and in simulated time. Functions of the table may tell the conductor new happenings at once;
 * these are taken up after the present one. */
#pragma once
#include "base/usec.h"
#include "shutdown/budget.h"
#include "shutdown/event.h"
#include "shutdown/sequence.h"
#include <stdbool.h>

#define ACKNOWLEDGEMENT_USEC (1 * USEC_PER_SEC)
#define FAST_USEC            (1 * USEC_PER_SEC)

typedef struct PhaseTally {
        unsigned members, gone, killed, left;
} PhaseTally;

typedef struct ConductorStage {
        usec_t (*now)(void *self);
        void (*record)(void *self, Event *event);
        bool (*withdraw)(void *self, bool fast); /* true: somebody will acknowledge */
        void (*enter)(void *self, unsigned phase);
        void (*stop)(void *self, unsigned phase, bool everything);
        void (*hurry)(void *self);
        void (*kill)(void *self);
        void (*close)(void *self, unsigned phase);
        void (*abandon)(void *self); /* give up what is left; finish() follows */
        void (*finish)(void *self);
        PhaseTally (*tally)(void *self, unsigned phase);
} ConductorStage;

typedef struct Conductor {
        Sequence sequence;
        Budget budget;
        const char *const *phase_names;
        const ConductorStage *stage;
        void *self;
        usec_t since_usec; /* start of the ending; USEC_INFINITY before */
        usec_t phase_since_usec, limit_usec, delay_usec, acknowledge_usec; /* instants; USEC_INFINITY: not running */
        bool limit_told;                                                   /* the limit has passed; it stays readable */
        unsigned pending; /* bits of happenings told while one was being taken up */
        bool busy;
} Conductor;

void conductor_init(Conductor *conductor, const Budget *budget, const char *const *phase_names, bool development,
                    const ConductorStage *stage, void *self);
void conductor_tell(Conductor *conductor, Happening what);
bool conductor_is_ending(const Conductor *conductor);
usec_t conductor_deadline_usec(const Conductor *conductor); /* instant; USEC_INFINITY before the ending */
usec_t conductor_limit_usec(const Conductor *conductor);    /* instant at which the present phase kills */
/* The next instant at which conductor_tick() has something to do; USEC_INFINITY: none. */
usec_t conductor_next_usec(const Conductor *conductor);
void conductor_tick(Conductor *conductor);
