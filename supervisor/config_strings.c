/* config_strings.c - growing and packed lists of strings. */
#include "supervisor/config_strings.h"
#include "base/take.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int strings_add(Strings *strings, const char *text) {
        char **items = reallocarray(strings->items, strings->n + 1, sizeof *items);
        if (!items)
                return -ENOMEM;
        strings->items = items;
        items[strings->n] = strdup(text);
        if (!items[strings->n])
                return -ENOMEM;
        strings->n++;
        return 0;
}

int strings_set(Strings *strings, const char *assignment) {
        size_t length = strcspn(assignment, "=") + 1;

        for (size_t i = 0; i < strings->n; i++)
                if (strncmp(strings->items[i], assignment, length) == 0) {
                        char *copy = strdup(assignment);
                        if (!copy)
                                return -ENOMEM;
                        free(strings->items[i]);
                        strings->items[i] = copy;
                        return 0;
                }
        return strings_add(strings, assignment);
}

void strings_remove(Strings *strings, const char *name) {
        size_t length = strlen(name), n = 0;

        for (size_t i = 0; i < strings->n; i++)
                if (strncmp(strings->items[i], name, length) == 0 && strings->items[i][length] == '=')
                        free(strings->items[i]);
                else
                        strings->items[n++] = strings->items[i];
        strings->n = n;
}

void strings_clear(Strings *strings) {
        for (size_t i = 0; i < strings->n; i++)
                free(strings->items[i]);
        free(strings->items);
        *strings = (Strings){ 0 };
}

int strings_pack(char *const *items, size_t n, char ***ret) {
        size_t size = (n + 1) * sizeof(char *);
        for (size_t i = 0; i < n; i++)
                size += strlen(items[i]) + 1;
        char **packed = malloc(size);
        if (!packed)
                return -ENOMEM;

        char *letters = (char *)(packed + n + 1);
        for (size_t i = 0; i < n; i++) {
                packed[i] = letters;
                letters = stpcpy(letters, items[i]) + 1;
        }
        packed[n] = NULL;
        *ret = packed;
        return 0;
}
