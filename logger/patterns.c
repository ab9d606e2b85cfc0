/* patterns.c - compiles and runs the expressions of LogPattern hooks with the regex of libc. */
#include "logger/patterns.h"
#include "base/take.h"
#include <errno.h>
#include <string.h>

int patterns_add(Patterns *patterns, const char *hook, const char *expression) {
        if (strlen(hook) >= PATTERN_NAME_MAX)
                return -ENAMETOOLONG;
        if (patterns->n == PATTERNS_MAX)
                return -E2BIG;
        Pattern *items = reallocarray(patterns->items, patterns->n + 1, sizeof *items);
        if (!items)
                return -ENOMEM;
        patterns->items = items;
        Pattern *added = &items[patterns->n];
        int r = regcomp(&added->regex, expression, REG_EXTENDED | REG_NOSUB);
        if (r != 0)
                return r == REG_ESPACE ? -ENOMEM : -EINVAL;
        strcpy(added->hook, hook);
        patterns->n++;
        return 0;
}

void patterns_done(Patterns *patterns) {
        for (unsigned i = 0; i < patterns->n; i++)
                regfree(&patterns->items[i].regex);
        free(patterns->items);
        *patterns = (Patterns){ 0 };
}

bool pattern_matches(const Pattern *pattern, const char *line, size_t length) {
        /* REG_STARTEND (glibc, musl lacks it): the line needs no NUL at its end and may have some inside. */
        regmatch_t span = { .rm_so = 0, .rm_eo = (regoff_t)length };
        return regexec(&pattern->regex, line, 1, &span, REG_STARTEND) == 0;
}
