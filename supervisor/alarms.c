/* alarms.c - see alarms.h. */
#include "supervisor/alarms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int alarms_init(Alarms *alarms, uint32_t n_items) {
        Alarms made = { .n_items = n_items };
        made.heap = calloc((size_t)n_items + 1, sizeof *made.heap);
        made.place = calloc((size_t)n_items + 1, sizeof *made.place);
        made.when = calloc((size_t)n_items + 1, sizeof *made.when);
        if (!made.heap || !made.place || !made.when) {
                alarms_done(&made);
                return -ENOMEM;
        }
        *alarms = made;
        return 0;
}

void alarms_done(Alarms *alarms) {
        free(alarms->heap);
        free(alarms->place);
        free(alarms->when);
        *alarms = (Alarms){ 0 };
}

/* Ties go to the lower item, so that what happens at one instant happens in one order, always. */
static bool before(const Alarms *alarms, uint32_t a, uint32_t b) {
        return alarms->when[a] != alarms->when[b] ? alarms->when[a] < alarms->when[b] : a < b;
}

static void put(Alarms *alarms, uint32_t at, uint32_t item) {
        alarms->heap[at] = item;
        alarms->place[item] = at + 1;
}

static void rise(Alarms *alarms, uint32_t at, uint32_t item) {
        while (at > 0 && before(alarms, item, alarms->heap[(at - 1) / 2])) {
                put(alarms, at, alarms->heap[(at - 1) / 2]);
                at = (at - 1) / 2;
        }
        put(alarms, at, item);
}

static void sink(Alarms *alarms, uint32_t at, uint32_t item) {
        for (;;) {
                uint32_t child = 2 * at + 1;
                if (child >= alarms->n_set)
                        break;
                if (child + 1 < alarms->n_set && before(alarms, alarms->heap[child + 1], alarms->heap[child]))
                        child++;
                if (before(alarms, item, alarms->heap[child]))
                        break;
                put(alarms, at, alarms->heap[child]);
                at = child;
        }
        put(alarms, at, item);
}

static void clear(Alarms *alarms, uint32_t item) {
        if (alarms->place[item] == 0)
                return;
        uint32_t at = alarms->place[item] - 1;
        alarms->place[item] = 0;
        uint32_t last = alarms->heap[--alarms->n_set];
        if (last == item)
                return;
        if (at > 0 && before(alarms, last, alarms->heap[(at - 1) / 2]))
                rise(alarms, at, last);
        else
                sink(alarms, at, last);
}

void alarms_set(Alarms *alarms, uint32_t item, usec_t when) {
        clear(alarms, item);
        if (when == USEC_INFINITY)
                return;
        alarms->when[item] = when;
        rise(alarms, alarms->n_set++, item);
}

usec_t alarms_when(const Alarms *alarms, uint32_t item) {
        return alarms->place[item] ? alarms->when[item] : USEC_INFINITY;
}

usec_t alarms_next(const Alarms *alarms) {
        return alarms->n_set > 0 ? alarms->when[alarms->heap[0]] : USEC_INFINITY;
}

uint32_t alarms_take_due(Alarms *alarms, usec_t now) {
        if (alarms_next(alarms) > now || alarms->n_set == 0)
                return ALARM_NONE;
        uint32_t item = alarms->heap[0];
        clear(alarms, item);
        return item;
}
