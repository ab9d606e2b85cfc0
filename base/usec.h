/* usec.h - the one time type: microseconds, monotonic unless a name says wall. */
#pragma once
#include <stdint.h>

typedef uint64_t usec_t;

#define USEC_INFINITY UINT64_MAX
#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC  UINT64_C(1000000)

/* Sums that stay at infinity instead of wrapping around. */
static inline usec_t usec_add(usec_t a, usec_t b) {
        return a > USEC_INFINITY - b ? USEC_INFINITY : a + b;
}

/* Differences that stop at zero; infinity less anything finite stays infinite. */
static inline usec_t usec_sub(usec_t a, usec_t b) {
        return a == USEC_INFINITY ? USEC_INFINITY : a > b ? a - b : 0;
}

static inline usec_t usec_min(usec_t a, usec_t b) {
        return a < b ? a : b;
}

static inline usec_t usec_max(usec_t a, usec_t b) {
        return a > b ? a : b;
}
