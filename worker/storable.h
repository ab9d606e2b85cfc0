/* storable.h - makes JSON of what a command wrote, so that it can be stored.
 *
 * Pure but for malloc. What is JSON in UTF-8 stays as it is, byte for byte; anything else becomes {"base64":"…"};
 * blanks only are no result at all. */
#pragma once
#include <stddef.h>

/* 0 and malloc's text, NULL when there is nothing to store; -ENOMEM. */
int storable_new(const char *bytes, size_t length, char **ret);
