/* fingerprint.h - what errors of one cause have in common: their text without numbers, names and quotations.
 *
 * Pure. A poisonous file that fails 300 times with the same words is one line, and the real fault that 40 jobs have,
 * each with a number of its own in it, is another one. */
#pragma once
#include <stddef.h>

#define FINGERPRINT_MAX 120

/* "row 17: bad value 'x' in 3f2a9c11-…" -> "row #: bad value '…' in #". Only the first line counts. Returns `ret`. */
const char *fingerprint(const char *text, char ret[static FINGERPRINT_MAX]);
