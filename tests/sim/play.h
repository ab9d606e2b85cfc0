/* play.h - lives one schedule through, from crew_start() to finish(), and stops at the first broken law. */
#pragma once
#include "tests/sim/laws.h"

typedef struct Chooser Chooser;

typedef struct PlayRules {
        bool trace;
        bool sample_reading; /* write each event and read it back (L9 on what was written) */
        Chooser *chooser;    /* decides among equals and about scripts; NULL: random numbers do */
        void (*rewrite)(World *world, uint32_t member, Script *script); /* NULL, or has the last word about a script */
        void (*look)(const World *world);                               /* NULL, or called after each step */
} PlayRules;

/* False when a law is broken: *laws says which. */
bool play(World *world, Laws *laws, const Schedule *schedule, const PlayRules *rules);
