/* outside.h - what comes from outside the processes: requests, signals, faults, and what should not come at all. */
#pragma once
#include "tests/sim/world.h"

void outside_take_place(World *world, const Outside *outside);
