/* names.h - which names are allowed, and which known name a misspelt one probably meant.
 *
 * Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define NAME_LENGTH_MAX 40

/* [A-Za-z0-9_.-]{1,40} */
bool name_is_valid(const char *name);

/* The nearest of `known` (n strings) by edit distance, letter case ignored, when it is near enough to be a slip
 * (at most a third of the length, at least 1, and 2 for words from four letters on); else NULL. */
const char *name_nearest(const char *name, const char *const *known, size_t n);

/* "SIGTERM", "TERM", "15", "SIGRTMIN+3", "RTMAX-1" -> number; -EINVAL otherwise. 0 is no signal: -EINVAL. */
int signal_from_string(const char *text);

#define SIGNAL_TEXT_MAX 16
/* 15 -> "SIGTERM", SIGRTMIN+3 -> "SIGRTMIN+3", unknown -> "SIG99". Returns `ret_text`. */
const char *signal_to_string(int signal_number, char ret_text[static SIGNAL_TEXT_MAX]);
