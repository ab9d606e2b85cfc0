/* checks.h - the checks of probes in the simulated world: begun by the crew, answered by chance and by the service's
 * mood.
 */
#pragma once
#include "tests/sim/world.h"

int checks_begin(World *world, uint32_t probe_run);
void checks_call_off(World *world, uint32_t probe_run);
void checks_take_answer(World *world, const Item *item); /* of one that is looked at from elsewhere */
void checks_on_collected(World *world, const Process *gone);
