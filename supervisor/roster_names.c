/* roster_names.c - the names of adopted orphans. */
#include "supervisor/roster_names.h"
#include <stdlib.h>
#include <string.h>

static uint32_t take_number(RosterNames *names) {
        if (names->free > 0) {
                uint32_t number = names->free;
                names->free = names->items[number - 1].next_free;
                return number;
        }
        if (names->n_made == names->capacity) {
                uint32_t capacity = names->capacity ? names->capacity * 2 : 16;
                RosterName *items =
                        capacity <= ROSTER_NAMES_MAX ? reallocarray(names->items, capacity, sizeof *items) : NULL;
                if (!items)
                        return 0;
                names->items = items;
                names->capacity = capacity;
        }
        return ++names->n_made;
}

uint32_t roster_names_add(RosterNames *names, const char comm[static ROSTER_COMM_MAX]) {
        uint32_t number = *comm ? take_number(names) : 0;
        if (number == 0)
                return 0;
        memcpy(names->items[number - 1].comm, comm, ROSTER_COMM_MAX);
        names->items[number - 1].comm[ROSTER_COMM_MAX - 1] = '\0';
        names->n_used++;
        return number;
}

const char *roster_names_get(const RosterNames *names, uint32_t number) {
        return number > 0 ? names->items[number - 1].comm : "";
}

void roster_names_remove(RosterNames *names, uint32_t number) {
        if (number == 0)
                return;
        names->items[number - 1].next_free = names->free;
        names->free = number;
        if (--names->n_used == 0)
                roster_names_done(names);
}

void roster_names_done(RosterNames *names) {
        free(names->items);
        *names = (RosterNames){ 0 };
}
