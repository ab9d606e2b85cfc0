/* backoff.h - how long to wait before the next attempt to connect.
 *
 * Pure. Doubles from `first` to `most`, of which between a half and the whole is taken by chance, so that a hundred
 * processes that lost the same server do not come back in step. */
#pragma once
#include "base/usec.h"

/* After the `failures`th failure in a row (1 is the first); `chance` is any number. At least first / 2, at most `most`.
 */
usec_t backoff_usec(unsigned failures, usec_t first, usec_t most, uint32_t chance);
