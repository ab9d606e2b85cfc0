/* rehearsal.h - the conductor alone, told every happening in every step: also those that the crew never tells there.
 *
 * The crew tells the conductor only what it awaits, so half of the pairs of step and happening never meet in a whole
 * life. Here a bare stage tells all of them at random instants, from inside its own functions too: what is true at any
 * time, and what is stale only where it must mean nothing. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stdint.h>

/* False when a law is broken; *ret_law names it with a sentence. `trace`: print what happens. */
bool rehearsal_play(uint64_t seed, bool trace, const char **ret_law);
