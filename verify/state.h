/* state.h - what a world looks like after a run, as a sorted list of items that can be compared.
 *
 * Only what differs from the machine as it was before the Setup stands in it: a file that was written and put back is
 * no item, a file that is gone is an ITEM_ABSENT. Rows and requests are lines, as the lines of a text file are. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ItemKind {
        ITEM_FILE,   /* key "/run/x": lines are its content, split at '\n', the last one without it */
        ITEM_BINARY, /* a file with a NUL or larger than STATE_TEXT_MAX: one line, its size and SHA-256 */
        ITEM_DIRECTORY,
        ITEM_LINK,      /* one line: its target */
        ITEM_SPECIAL,   /* socket, fifo, device: one line that says which */
        ITEM_ABSENT,    /* it was there before the Setup and is not now */
        ITEM_TABLE,     /* key "table public.jobs": a row a line, as JSON, sorted */
        ITEM_SEQUENCE,  /* key "sequence public.jobs_id_seq": one line, its last value */
        ITEM_CATALOGUE, /* key "catalogue": a line an object of the database: its kind, name and definition */
        ITEM_REQUESTS,  /* key "http": a line a request that the sink got and that counts, sorted */
        _ITEM_KIND_MAX
} ItemKind;

#define STATE_TEXT_MAX ((size_t)1024 * 1024)

typedef struct Item {
        char *key;
        ItemKind kind;
        char *attributes; /* "0644 root:root", "0644 1000:1000 user.x=…"; "" where there are none */
        char **lines;     /* NUL-terminated; bytes as they are */
        size_t n_lines;
} Item;

typedef struct State {
        Item *items; /* sorted by key, bytewise; keys are unique */
        size_t n_items;
        uint64_t database_xmax; /* pg_snapshot_xmax: a higher one means that a transaction wrote in between; 0: no
                                   database */
        uint64_t requests;      /* all requests but GET, HEAD and OPTIONS that the sink got so far in this world */
} State;

void item_done(Item *item);    /* the same */
void state_done(State *state); /* gives back the parts and zeroes */
/* Takes the item's parts (also on failure). Any order; state_sort() afterwards. 0 or -ENOMEM. */
int state_add(State *state, Item *item);
void state_sort(State *state);
const Item *state_find(const State *state, const char *key); /* NULL: no such item */

const char *item_kind_to_string(ItemKind kind);
int item_kind_from_string(const char *text);
