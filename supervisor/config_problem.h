/* config_problem.h - a sentence that says what is wrong with a value and what would be right; for config_*.c only. */
#pragma once
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct Problem {
        char text[400];
} Problem;

static inline int problem_say(Problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Always -EINVAL, so that whoever finds it can answer with it. */
static inline int problem_say(Problem *problem, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        vsnprintf(problem->text, sizeof problem->text, format, ap);
        va_end(ap);
        return -EINVAL;
}
