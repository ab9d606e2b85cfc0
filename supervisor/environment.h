/* environment.h - the environment that a service or a hook finds.
 *
 * endwell's own variables first, then those of the configuration, then those of the user that it runs as, then what
 * endwell itself was given, each name once. Source: contracts/config.md, "A service finds in its environment" and
 * [Hook NAME]; systemd.exec(5). */
#pragma once
#include "supervisor/config.h"
#include <stdbool.h>
#include <stddef.h>

#define ENVIRONMENT_OWN_MAX  24
#define ENVIRONMENT_TEXT_MAX 8192

/* endwell's own variables; all zero: none yet. */
typedef struct Environment {
        size_t n, used;
        const char *own[ENVIRONMENT_OWN_MAX + 1];
        char *text; /* ENVIRONMENT_TEXT_MAX bytes, made for the first; not on the stack, whose pages would stay ours */
        bool failed;
} Environment;

void environment_done(Environment *environment);
/* Adds "NAME=value"; what does not fit is left out whole (values are bounded by the configuration's own limits).
 * Without memory environment_join() will say so. */
void environment_add(Environment *environment, const char *name, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* Adds a word of the caller's, "NAME=value" of any length, which must live as long. */
void environment_put(Environment *environment, const char *word);
/* Adds "NAME=" and room for a pid; where its digits shall go: for ChildPlan.pid_words. NULL: it does not fit. */
char *environment_add_pid(Environment *environment, const char *name);
/* Adds HOME, USER, LOGNAME and SHELL, as far as the user's database entry says them. */
void environment_add_user(Environment *environment, const Rights *rights);

typedef struct EnvironmentParts {
        const Environment *own;
        char *const *configured; /* NULL: nothing */
        const Environment *user; /* NULL: nothing */
        char *const *inherited;
        const Inheritance *inheritance; /* NULL: all of it, and nothing is unset */
} EnvironmentParts;

/* The whole, NULL-terminated, for exec; what the inheritance unsets is left out whoever else gives it, but for `own`.
 * One allocation that holds only pointers; free() it. Its time grows with the number of words and no faster. 0 or
 * -ENOMEM. */
int environment_join(const EnvironmentParts *parts, char ***ret);
