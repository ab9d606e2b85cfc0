/* mask.h - compares lines by their tokens: what differed between two runs that were alike is free, the rest is law.
 *
 * Pure. A token is a run of letters, digits, '_' and '.', a run of blanks, or any other byte alone; a time stamp of the
 * span is one token and equal to every other. So "6" that was 6 both times is never free, however it looks; a pid, a
 * uuid or a duration that differed is. The number of tokens is never free. */
#pragma once
#include "verify/stamp.h"
#include <stdbool.h>

typedef enum MaskFit {
        MASK_DIFFERS, /* the tokens cannot be put side by side */
        MASK_SAME,    /* byte for byte, but for time stamps */
        MASK_FITS,    /* differs where a mask lies */
} MaskFit;

/* Can the two be put side by side? MASK_FITS: yes, with at least one token that is free from now on. */
MaskFit mask_of(const char *one, const char *other, StampSpan span);
/* Does `line` fit where the two runs had `one` and `other`? */
MaskFit mask_fit(const char *one, const char *other, const char *line, StampSpan span);

/* Names of random files: "ew.Xa3f" and "ew.9Qbz" in one directory. */
bool mask_is_same_name(const char *one, const char *other);
/* Is `key` a third one of them? */
bool mask_admits_name(const char *one, const char *other, const char *key);
