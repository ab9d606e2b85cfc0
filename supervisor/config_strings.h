/* config_strings.h - lists of strings: one that grows while reading, and the packed form that a Config keeps.
 *
 * Packed: the NULL-terminated array and the letters behind it in one allocation, so that a service's command costs its
 * letters, its pointers and one malloc header. */
#pragma once
#include <stddef.h>

typedef struct Strings {
        char **items;
        size_t n;
} Strings;

int strings_add(Strings *strings, const char *text); /* copied; 0 or -ENOMEM */
/* "K=V": takes the place of an earlier "K=…", else is added; a "K" alone that of an earlier "K". 0 or -ENOMEM. */
int strings_set(Strings *strings, const char *assignment);
/* Every "NAME=…". */
void strings_remove(Strings *strings, const char *name);
void strings_clear(Strings *strings);

int strings_pack(char *const *items, size_t n, char ***ret); /* free() it; 0 or -ENOMEM */
