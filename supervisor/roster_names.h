/* roster_names.h - the names of adopted orphans, numbered from 1; a part of the roster.
 *
 * Most processes are no orphans and have none, so they lie beside the table and not in it. A number is given again when
 * it was given back; the memory goes when the last one was. */
#pragma once
#include <stdint.h>

#define ROSTER_COMM_MAX  16
#define ROSTER_NAMES_MAX ((1U << 24) - 1) /* what RosterEntry.name can hold */

typedef union RosterName {
        char comm[ROSTER_COMM_MAX];
        uint32_t next_free; /* 0: none */
} RosterName;

typedef struct RosterNames {
        RosterName *items;
        uint32_t n_used, n_made, capacity, free; /* free: the first that was given back; 0: none */
} RosterNames;

/* 0: there is no memory, or no number, for it. */
uint32_t roster_names_add(RosterNames *names, const char comm[static ROSTER_COMM_MAX]);
const char *roster_names_get(const RosterNames *names, uint32_t number); /* "" of 0 */
void roster_names_remove(RosterNames *names, uint32_t number);           /* does nothing with 0 */
void roster_names_done(RosterNames *names);
