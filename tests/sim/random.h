/* random.h - the simulation's own random numbers: the same seed gives the same numbers on every machine.
 *
 * Pure. splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): one word of state, and
 * every seed, also 0 and 1, is a good one. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Random {
        uint64_t state;
} Random;

static inline uint64_t random_next(Random *random) {
        uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        return z ^ z >> 31;
}

/* 0 to n - 1; n is at least 1. */
static inline unsigned random_below(Random *random, unsigned n) {
        return (unsigned)((random_next(random) >> 32) * n >> 32);
}

static inline bool random_chance(Random *random, unsigned percent) {
        return random_below(random, 100) < percent;
}

/* low to high, both included. Half of the answers lie on a coarse grid, so that many things fall on the same instant.
 */
static inline usec_t random_usec(Random *random, usec_t low, usec_t high) {
        usec_t span = high - low + 1, grid = random_below(random, 2) ? 1 : 50 * USEC_PER_MSEC;
        usec_t value = low + random_next(random) % span;
        if (grid > 1 && value - low >= grid)
                value -= value % grid;
        return value < low ? low : value;
}
