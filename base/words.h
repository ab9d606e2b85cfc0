/* words.h - splits a command into words as a POSIX shell does, with no shell.
 *
 * Pure but for malloc. Quotes ('', "" with backslash before $ ` " \ and newline), backslash outside quotes; no
 * expansion, no globbing, no comments, no operators: `;` and `|` are letters. Empty quoted words are kept.
 * Source: POSIX.1-2017 XCU 2.2. */
#pragma once
#include <stddef.h>

/* One allocation: the NULL-terminated array and the letters behind it; free() it. 0; -EINVAL with a sentence in
 * *ret_problem ("a quote \" is not closed", "a backslash at the end"); -ENOMEM. Text of blanks only gives an empty
 * array. */
int words_split(const char *text, char ***ret_words, size_t *ret_n, const char **ret_problem);
