/* environment.c - see environment.h. */
#include "supervisor/environment.h"
#include "supervisor/child.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void environment_add(Environment *environment, const char *name, const char *format, ...) {
        char *at = environment->text + environment->used;
        size_t room = sizeof environment->text - environment->used;
        if (environment->n == ENVIRONMENT_OWN_MAX)
                return;
        int n = snprintf(at, room, "%s=", name);
        if (n < 0 || (size_t)n >= room)
                return;
        va_list arguments;
        va_start(arguments, format);
        int m = vsnprintf(at + n, room - (size_t)n, format, arguments);
        va_end(arguments);
        if (m < 0 || (size_t)n + (size_t)m >= room)
                return;
        environment->own[environment->n++] = at;
        environment->own[environment->n] = NULL;
        environment->used += (size_t)n + (size_t)m + 1;
}

void environment_put(Environment *environment, const char *word) {
        if (environment->n == ENVIRONMENT_OWN_MAX)
                return;
        environment->own[environment->n++] = word;
        environment->own[environment->n] = NULL;
}

char *environment_add_pid(Environment *environment, const char *name) {
        size_t before = environment->n;
        char *at = environment->text + environment->used;
        environment_add(environment, name, "%s", CHILD_PID_ROOM);
        return environment->n > before ? at + strlen(name) + 1 : NULL;
}

static bool same_name(const char *a, const char *b) {
        while (*a && *a == *b && *a != '=')
                a++, b++;
        return (*a == '=' || !*a) && (*b == '=' || !*b);
}

static bool is_in(char *const *list, size_t n, const char *word) {
        for (size_t i = 0; i < n; i++)
                if (same_name(list[i], word))
                        return true;
        return false;
}

static size_t count(char *const *list) {
        size_t n = 0;
        while (list && list[n])
                n++;
        return n;
}

/* Only the first `n_checked` words can clash with a new one: a list has no name twice within itself, or its own first
 * one counts, as getenv(3) has it. */
static size_t append(char **all, size_t n, char *const *list) {
        size_t n_checked = n;
        for (size_t i = 0; list && list[i]; i++)
                if (!is_in(all, n_checked, list[i]))
                        all[n++] = list[i];
        return n;
}

int environment_join(const Environment *environment, char *const *configured, char *const *inherited, char ***ret) {
        char **all = calloc(environment->n + count(configured) + count(inherited) + 1, sizeof *all);
        if (!all)
                return -ENOMEM;
        size_t n = append(all, 0, (char *const *)environment->own);
        n = append(all, n, configured);
        append(all, n, inherited);
        *ret = all;
        return 0;
}
