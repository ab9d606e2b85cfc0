/* duration.h - reads and writes spans of time and sizes as people write them.
 *
 * Pure. Durations: "500ms", "30s", "5min", "1h 30min", a bare number is seconds (fractions allowed: "0.5"); units us,
 * ms, s/sec, min/m, h/hr, d, w in the spellings of systemd.time(7); "infinity". Sizes: "64K", "2M", "1G" (powers of
 * 1024). */
#pragma once
#include "base/usec.h"
#include <stddef.h>

/* 0, -EINVAL (not a duration), -ERANGE (too long for usec_t). "infinity" gives USEC_INFINITY: the caller says whether
 * it is allowed. */
int duration_parse(const char *text, usec_t *ret);

#define DURATION_TEXT_MAX 40
/* For people, at most three significant parts: "211 ms", "1.5 s", "26.46 s", "2 min 5 s", "infinity". Returns
 * `ret_text`. */
const char *duration_format(usec_t span, char ret_text[static DURATION_TEXT_MAX]);

/* 0, -EINVAL, -ERANGE. */
int size_parse(const char *text, uint64_t *ret_bytes);
