/* agenda.c - the array of what will happen. */
#include "tests/sim/agenda.h"

void agenda_add(Agenda *agenda, Item item) {
        if (item.at_usec == USEC_INFINITY)
                return;
        if (agenda->n == AGENDA_MAX) {
                agenda->overflowed = true;
                return;
        }
        agenda->items[agenda->n++] = item;
}

usec_t agenda_next(const Agenda *agenda, unsigned *ret_n) {
        usec_t first = USEC_INFINITY;
        unsigned n = 0;
        for (unsigned i = 0; i < agenda->n; i++) {
                usec_t at = agenda->items[i].at_usec;
                if (at < first) {
                        first = at;
                        n = 0;
                }
                n += at == first;
        }
        *ret_n = n;
        return first;
}

Item agenda_take(Agenda *agenda, usec_t at_usec, unsigned which) {
        for (unsigned i = 0; i < agenda->n; i++) {
                if (agenda->items[i].at_usec != at_usec || which-- > 0)
                        continue;
                Item item = agenda->items[i];
                /* The order of the others is kept: the walk counts on the same indices in each replay. */
                for (agenda->n--; i < agenda->n; i++)
                        agenda->items[i] = agenda->items[i + 1];
                return item;
        }
        return (Item){ .at_usec = at_usec, .kind = ITEM_SURVEYED };
}
