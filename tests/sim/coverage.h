/* coverage.h - counts how often each happening met each step of the sequence, and illness each state of a life.
 *
 * The linker sends every call of sequence_step() and life_step() through a counting wrapper (--wrap), so that the core
 * is compiled as it is shipped and knows nothing of it. */
#pragma once
#include <stdint.h>

typedef enum CoverageBy {
        COVERAGE_BY_LIVES,      /* the whole core: it tells the conductor only what it awaits */
        COVERAGE_BY_REHEARSALS, /* the conductor alone */
        _COVERAGE_BY_MAX,
} CoverageBy;

void coverage_count_as(CoverageBy by); /* from now on */

/* Prints the tables, the lowest count of both together, and the pairs that were met fewer than `wanted` times; returns
 * how many those are. */
unsigned coverage_print(uint64_t wanted);
