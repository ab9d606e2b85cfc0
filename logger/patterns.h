/* patterns.h - the LogPattern hooks of one stream: which of them does a line match?
 *
 * POSIX extended regular expressions, matched against bytes (NUL included), the newline not among them. */
#pragma once
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define PATTERNS_MAX     64
#define PATTERN_NAME_MAX 41

typedef struct Pattern {
        char hook[PATTERN_NAME_MAX];
        regex_t regex;
} Pattern;

typedef struct Patterns {
        Pattern *items;
        unsigned n;
} Patterns;

/* 0; -EINVAL: no such expression; -ENAMETOOLONG; -E2BIG: there are PATTERNS_MAX already; -ENOMEM. */
int patterns_add(Patterns *patterns, const char *hook, const char *expression);
void patterns_done(Patterns *patterns);
/* An expression that runs out of memory on a line does not match it. */
bool pattern_matches(const Pattern *pattern, const char *line, size_t length);
