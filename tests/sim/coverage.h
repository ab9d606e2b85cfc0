/* coverage.h - counts how often each happening met each step of the sequence.
 *
 * The linker sends every call of sequence_step() through a counting wrapper (--wrap), so that the core is compiled as it is
 * shipped and knows nothing of it. */
#pragma once
#include <stdint.h>
#include "shutdown/sequence.h"

extern uint64_t coverage_counts[_STEP_MAX][_HAPPENING_MAX];

/* Prints the table and the lowest count; how many pairs were met fewer than `wanted` times. */
unsigned coverage_print(uint64_t wanted);
