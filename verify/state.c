/* state.c - see state.h. */
#include "verify/state.h"
#include "base/enumeration.h"
#include <stdlib.h>

static const char *const words[_ITEM_KIND_MAX] = {
        [ITEM_FILE] = "file",         [ITEM_BINARY] = "binary",     [ITEM_DIRECTORY] = "directory",
        [ITEM_LINK] = "link",         [ITEM_SPECIAL] = "special",   [ITEM_ABSENT] = "absent",
        [ITEM_TABLE] = "table",       [ITEM_SEQUENCE] = "sequence", [ITEM_CATALOGUE] = "catalogue",
        [ITEM_REQUESTS] = "requests",
};

ENUMERATION(item_kind, ItemKind, words)

void item_done(Item *item) {
        free(item->key);
        free(item->attributes);
        for (size_t i = 0; i < item->n_lines; i++)
                free(item->lines[i]);
        free(item->lines);
        *item = (Item){ 0 };
}

void state_done(State *state) {
        for (size_t i = 0; i < state->n_items; i++)
                item_done(&state->items[i]);
        free(state->items);
        *state = (State){ 0 };
}

int state_add(State *state, Item *item) {
        Item *items = reallocarray(state->items, state->n_items + 1, sizeof *items);

        if (!items) {
                item_done(item);
                return -ENOMEM;
        }
        state->items = items;
        items[state->n_items++] = *item;
        *item = (Item){ 0 };
        return 0;
}

static int by_key(const void *a, const void *b) {
        return strcmp(((const Item *)a)->key, ((const Item *)b)->key);
}

void state_sort(State *state) {
        if (state->n_items > 0)
                qsort(state->items, state->n_items, sizeof *state->items, by_key);
}

const Item *state_find(const State *state, const char *key) {
        const Item wanted = { .key = (char *)key };

        return state->n_items > 0 ? bsearch(&wanted, state->items, state->n_items, sizeof wanted, by_key) : NULL;
}
