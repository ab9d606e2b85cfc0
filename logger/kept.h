/* kept.h - the last lines of each service, in memory, for those who ask for them.
 *
 * A ring of KEPT_RING_SIZE for each service, its instances together, made with its first line; at most KEPT_RINGS_MAX:
 * after that the service that has been silent longest loses its ring. Never fails: without memory nothing is kept.
 * Whoever reads has a position, which is good for ever: what is no longer kept is passed over, and that is said. */
#pragma once
#include "logger/entry.h"

#define KEPT_RING_SIZE (256 * 1024)
#define KEPT_RINGS_MAX 128
#define KEPT_TEXT_MAX  3072 /* of one entry; a longer text becomes several */

typedef struct Kept Kept;

Kept *kept_new(void); /* NULL: no memory */
Kept *kept_free(Kept *kept);

void kept_put(Kept *kept, const Entry *entry);

#define KEPT_ALL 0 /* every instance */

typedef struct KeptReader {
        char service[ENTRY_NAME_MAX];
        unsigned instance; /* or KEPT_ALL */
        uint64_t position;
        bool missed; /* lines were lost since it was last set to false */
} KeptReader;

/* A line as it was kept, in memory of its own. */
typedef struct KeptLine {
        EntrySource source;
        Entry entry; /* points into this struct */
        char text[KEPT_TEXT_MAX];
} KeptLine;

/* Lines of the reader's service and instance that are kept. */
uint64_t kept_count(const Kept *kept, const KeptReader *reader);
/* Before the last `n` of them, or before all. */
void kept_rewind(const Kept *kept, KeptReader *reader, uint64_t n);
/* The next one. False: there is none yet. */
bool kept_read(const Kept *kept, KeptReader *reader, KeptLine *ret);
