/* fake_stage.h - a stage for the conductor: time that stands still until told, groups of a few numbers, and a diary of
 * what was asked of it. */
#pragma once
#include "shutdown/conductor.h"
#include <stdbool.h>

#define FAKE_PHASES 3

typedef struct FakeStage {
        Conductor conductor;
        usec_t now;
        bool gateway;      /* somebody will acknowledge */
        bool hooks_linger; /* begin and end hooks take time: the test says when they are done */
        bool tells_stale;  /* while a phase is closed, says once more that its group is empty */
        unsigned members[FAKE_PHASES], alive[FAKE_PHASES], killed[FAKE_PHASES], left[FAKE_PHASES];
        char diary[4096];  /* "withdraw enter:0 stop:0 close:0 … finish", one blank between */
        char events[4096]; /* "http+3<18s http-3/0/0 …": phases that began with their limit, and ended gone/killed/left
                            */
} FakeStage;

/* Phases http, workers and db with a deadline of 26 s. */
void fake_stage_init(FakeStage *fake, const usec_t delay_usec[static FAKE_PHASES], bool development);
/* The last of a phase is gone, and the conductor hears it. */
void fake_stage_empty(FakeStage *fake, unsigned phase);
/* Goes to the next instant at which the conductor has something to do, and ticks. */
void fake_stage_advance(FakeStage *fake);
