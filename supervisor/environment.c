/* environment.c - see environment.h. */
#include "supervisor/environment.h"
#include "supervisor/child.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void environment_done(Environment *environment) {
        free(environment->text);
        *environment = (Environment){ 0 };
}

void environment_add(Environment *environment, const char *name, const char *format, ...) {
        if (!environment->text)
                environment->text = malloc(ENVIRONMENT_TEXT_MAX);
        environment->failed |= !environment->text;
        if (environment->failed || environment->n == ENVIRONMENT_OWN_MAX)
                return;
        char *at = environment->text + environment->used;
        size_t room = ENVIRONMENT_TEXT_MAX - environment->used;
        int n = snprintf(at, room, "%s=", name);
        if (n < 0 || (size_t)n >= room)
                return;
        va_list arguments;
        va_start(arguments, format);
        int m = vsnprintf(at + n, room - (size_t)n, format, arguments);
        va_end(arguments);
        if (m < 0 || (size_t)n + (size_t)m >= room)
                return;
        environment_put(environment, at);
        environment->used += (size_t)n + (size_t)m + 1;
}

void environment_put(Environment *environment, const char *word) {
        if (environment->n == ENVIRONMENT_OWN_MAX)
                return;
        environment->own[environment->n++] = word;
        environment->own[environment->n] = NULL;
}

char *environment_add_pid(Environment *environment, const char *name) {
        size_t n = environment->n;
        environment_add(environment, name, "%s", CHILD_PID_ROOM);
        if (environment->n == n)
                return NULL;
        return environment->text + environment->used - sizeof CHILD_PID_ROOM;
}

void environment_add_user(Environment *environment, const Rights *rights) {
        if (rights->home)
                environment_add(environment, "HOME", "%s", rights->home);
        if (rights->user) {
                environment_add(environment, "USER", "%s", rights->user);
                environment_add(environment, "LOGNAME", "%s", rights->user);
        }
        if (rights->shell)
                environment_add(environment, "SHELL", "%s", rights->shell);
}

/* Words by their names: open addressing, at most half full. */
typedef struct Names {
        const char **slots;
        size_t capacity; /* a power of two */
} Names;

static bool same_name(const char *a, const char *b) {
        while (*a && *a == *b && *a != '=')
                a++, b++;
        return (*a == '=' || !*a) && (*b == '=' || !*b);
}

static uint32_t hash_name(const char *word) { /* FNV-1a */
        uint32_t hash = 2166136261U;
        for (; *word && *word != '='; word++)
                hash = (hash ^ (uint8_t)*word) * 16777619U;
        return hash;
}

/* Where the name is, or would be. */
static const char **place_of(const Names *names, const char *word) {
        size_t i = hash_name(word) & (names->capacity - 1);
        while (names->slots[i] && !same_name(names->slots[i], word))
                i = (i + 1) & (names->capacity - 1);
        return &names->slots[i];
}

static void add_names(Names *names, char *const *list) {
        for (size_t i = 0; list && list[i]; i++)
                *place_of(names, list[i]) = list[i];
}

static size_t count(char *const *list) {
        size_t n = 0;
        while (list && list[n])
                n++;
        return n;
}

static size_t capacity_for(size_t n) {
        size_t capacity = 4;
        while (capacity < n * 2)
                capacity *= 2;
        return capacity;
}

/* What is being put together: the words, and the names that are taken. */
typedef struct Joining {
        char **all;
        size_t n;
        Names taken;
} Joining;

/* Of one name the first to speak wins, as getenv(3) has it. A word without a name (execve(2) takes any, and so we may
 * have been given odd ones) stands in nobody's way. */
static void append(Joining *joining, char *word) {
        if (*word != '=' && *word) {
                const char **place = place_of(&joining->taken, word);
                if (*place)
                        return;
                *place = word;
        }
        joining->all[joining->n++] = word;
}

static void append_all(Joining *joining, char *const *list) {
        for (size_t i = 0; list && list[i]; i++)
                append(joining, list[i]);
}

static void append_passed(Joining *joining, char *const *list, const Names *passed) {
        for (size_t i = 0; list && list[i]; i++)
                if (*place_of(passed, list[i]))
                        append(joining, list[i]);
}

int environment_join(const EnvironmentParts *parts, char ***ret) {
        static const char *const always[] = { "PATH", NULL };
        const Inheritance *inheritance = parts->inheritance;
        char *const *own = (char *const *)parts->own->own, *const *user = NULL, *const *unset = NULL,
                    *const *pass = NULL;
        if (parts->user)
                user = (char *const *)parts->user->own;
        if (inheritance) {
                unset = inheritance->unset;
                pass = inheritance->pass;
        }
        if (parts->own->failed || (parts->user && parts->user->failed))
                return -ENOMEM;
        size_t n = count(own) + count(parts->configured) + count(user) + count(parts->inherited);
        Joining joining = { .taken.capacity = capacity_for(n + count(unset)) };
        Names passed = { .capacity = capacity_for(count(pass) + 1) };

        joining.all = calloc(n + 1 + joining.taken.capacity + passed.capacity, sizeof *joining.all);
        if (!joining.all)
                return -ENOMEM;
        joining.taken.slots = (const char **)(joining.all + n + 1);
        passed.slots = joining.taken.slots + joining.taken.capacity;

        append_all(&joining, own);
        add_names(&joining.taken, unset);
        append_all(&joining, parts->configured);
        append_all(&joining, user);
        if (inheritance && inheritance->passes_some) {
                add_names(&passed, (char *const *)always);
                add_names(&passed, pass);
                append_passed(&joining, parts->inherited, &passed);
        } else
                append_all(&joining, parts->inherited);
        *ret = joining.all;
        return 0;
}
