/* alarms.h - the instants at which something is due, for a fixed number of items.
 *
 * A binary heap with a place for each item: set and clear cost O(log n), the earliest O(1). Owns its two arrays; never
 * allocates after alarms_init(). */
#pragma once
#include "base/usec.h"
#include <stdint.h>

typedef struct Alarms {
        uint32_t n_items, n_set;
        uint32_t *heap;  /* items, earliest first */
        uint32_t *place; /* of an item in the heap, from 1; 0: not set */
        usec_t *when;    /* of an item */
} Alarms;

#define ALARM_NONE UINT32_MAX

int alarms_init(Alarms *alarms, uint32_t n_items); /* 0 or -ENOMEM */
void alarms_done(Alarms *alarms);
void alarms_set(Alarms *alarms, uint32_t item, usec_t when); /* USEC_INFINITY clears */
usec_t alarms_when(const Alarms *alarms, uint32_t item);     /* USEC_INFINITY: not set */
usec_t alarms_next(const Alarms *alarms);                    /* USEC_INFINITY: nothing is set */
/* The earliest item if it is due by `now`, and clears it; else ALARM_NONE. */
uint32_t alarms_take_due(Alarms *alarms, usec_t now);
