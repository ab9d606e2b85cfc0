/* utf8.h - tells valid UTF-8 from the rest, and makes text fit to be printed.
 *
 * Pure. Source: RFC 3629 (no overlong forms, no surrogates, nothing above U+10FFFF). */
#pragma once
#include <stddef.h>

/* Bytes of the character at the front of `text` (1 to 4; a NUL is one), 0 when there is no valid one. */
size_t utf8_character(const char *text, size_t length);

/* The longest front of `text` that is at most `max` bytes and does not end inside a character. */
size_t utf8_cut(const char *text, size_t length, size_t max);

/* Replaces in place each control character (NUL and newline too) and each byte of no valid character by '?': what is
 * left can be printed, and cannot forge a line or move a cursor. */
void utf8_clean(char *text, size_t length);
