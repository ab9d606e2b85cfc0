/* texts.h - a list of texts that ends with NULL: grown, copied, given back.
 *
 * Pure but for malloc. An empty list may be NULL. */
#pragma once
#include <stddef.h>

/* Takes `text`, also on failure; NULL: there was no memory for it. `*n` counts them. 0 or -ENOMEM. */
int texts_add(char ***texts, size_t *n, char *text);
int texts_copy(char *const *texts, char ***ret); /* 0 or -ENOMEM */
char **texts_free(char **texts);
