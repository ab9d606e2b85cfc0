/* stamp.h - finds the time stamps of a span of time in a text.
 *
 * Pure. Two runs in the same second write the same stamp, so that comparing them does not show it as noise; a third run
 * a second later would be taken for a difference. A stamp counts only if it says a moment of the span, in any time zone
 * (they differ by quarters of an hour, at most 14 hours): a date that a hook counts up is none.
 * Shapes: 1764580000 with fractions, or ms/us/ns glued to it; 2026-12-01T09:27:03.1 with T or a blank; 09:27:03. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct StampSpan {
        int64_t since_sec, until_sec; /* wall clock; both 0: nothing is a stamp */
} StampSpan;

/* How many bytes at `text` are a stamp of the span; 0: none. `text` must be the begin of a word. */
size_t stamp_length(const char *text, StampSpan span);
