/* enumeration.h - the words of an enum, from one table, in both directions.
 *
 * Pure. ENUMERATION(prefix, Type, table) defines prefix_to_string() and prefix_from_string(); the table is
 * `static const char *const table[_TYPE_MAX]` and a missing word fails the build's unit test, not the user. */
#pragma once
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* An enum that takes one byte, not four: for those of which PID 1 keeps thousands, one in each service or instance. */
#define _one_byte_ __attribute__((packed))

static inline int enumeration_find(const char *const *words, size_t n, const char *text) {
        for (size_t i = 0; i < n; i++)
                if (words[i] && strcmp(words[i], text) == 0)
                        return (int)i;
        return -EINVAL;
}

#define ENUMERATION(prefix, Type, words)                                                                               \
        const char *prefix##_to_string(Type value) {                                                                   \
                if ((size_t)value >= sizeof(words) / sizeof *(words)) /* below 0, too */                               \
                        return NULL;                                                                                   \
                return (words)[value];                                                                                 \
        }                                                                                                              \
        int prefix##_from_string(const char *text) {                                                                   \
                return enumeration_find(words, sizeof(words) / sizeof *(words), text);                                 \
        }
