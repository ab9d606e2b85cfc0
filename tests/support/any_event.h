/* any_event.h - events of any kind, filled in by chance from a seed, and told apart field by field. */
#pragma once
#include "shutdown/event.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct AnyEvent {
        Event event;
        uint64_t state;     /* of the generator */
        char memory[16384]; /* of its texts */
        size_t used;
} AnyEvent;

/* Every field that the kind's line has gets a value, odd texts and the ends of the numbers among them. */
void any_event_fill(AnyEvent *any, EventKind kind, uint64_t seed);
/* Sets every text of the kind's line, and lists to one word. */
void any_event_set_texts(AnyEvent *any, EventKind kind, const char *text);

/* NULL when all fields of the kind's line are equal, else the name of one that is not. A list of no words is one that
 * is not there. */
const char *any_event_difference(const Event *a, const Event *b);
