/* event_text.h - one journal event as one sentence for people.
 *
 * Pure: a value in, text out. The sentences are a table of templates; an event that is newer than this version is shown by
 * its name and fields, so nothing is hidden. Texts come from services and are cleaned: they cannot move a cursor. */
#pragma once
#include <jansson.h>
#include <stddef.h>

typedef enum EventWeight {
        EVENT_WEIGHT_ORDINARY,
        EVENT_WEIGHT_EDGE,    /* of a phase, of the ending */
        EVENT_WEIGHT_WARNING, /* somebody had to be killed, or is tried again */
        EVENT_WEIGHT_FAILURE,
} EventWeight;

#define EVENT_TEXT_MAX 4096

/* Returns `ret_text`. `ret_weight` may be NULL. */
const char *event_text(const json_t *event, char ret_text[static EVENT_TEXT_MAX], EventWeight *ret_weight);
