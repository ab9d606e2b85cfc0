/* clock.h - asks the kernel what time it is; the only place that does.
 *
 * Pure modules never include this: they are told the time. */
#pragma once
#include "base/usec.h"

usec_t clock_now_usec(void);  /* CLOCK_MONOTONIC: never steps, not counted while the machine is suspended */
usec_t clock_wall_usec(void); /* CLOCK_REALTIME, since 1970 UTC; may step, so only for printing */

#define CLOCK_TEXT_MAX 32
/* "2026-11-30T20:14:00.123456Z" (RFC 3339, UTC, microseconds). Pure. */
void clock_format_wall(usec_t wall, char ret_text[static CLOCK_TEXT_MAX]);
/* Reads exactly that form back, from 1970 to 9999; -EINVAL: another one, or no such date. Pure. */
int clock_parse_wall(const char *text, usec_t *ret);
