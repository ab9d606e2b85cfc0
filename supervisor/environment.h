/* environment.h - the environment that a service or a hook finds.
 *
 * endwell's own variables first, then those of the configuration, then what endwell itself was given, each name once.
 * Source: contracts/config.md, "A service finds in its environment" and [Hook NAME]. */
#pragma once
#include <stddef.h>

#define ENVIRONMENT_OWN_MAX  24
#define ENVIRONMENT_TEXT_MAX 8192

/* endwell's own variables, made in one piece of memory that the caller keeps. */
typedef struct Environment {
        size_t n, used;
        const char *own[ENVIRONMENT_OWN_MAX + 1];
        char text[ENVIRONMENT_TEXT_MAX];
} Environment;

/* Adds "NAME=value"; what does not fit is left out whole (values are bounded by the configuration's own limits). */
void environment_add(Environment *environment, const char *name, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* A word of the caller's, "NAME=value" of any length, which must live as long. */
void environment_put(Environment *environment, const char *word);
/* NAME with room for a pid, which the child writes there (ChildPlan.pid_words): where. NULL: it does not fit. */
char *environment_add_pid(Environment *environment, const char *name);

/* The whole, NULL-terminated, for exec: `own`, then `configured` (may be NULL), then `inherited`. One allocation that
 * holds only pointers; free() it. 0 or -ENOMEM. */
int environment_join(const Environment *environment, char *const *configured, char *const *inherited, char ***ret);
