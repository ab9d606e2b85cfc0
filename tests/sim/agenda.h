/* agenda.h - what will happen in the simulated world, and when; of equal instants the player picks which comes first.
 *
 * A plain array: there are never more than a few dozen entries, and the walk must be able to choose any of the equal
 * ones. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stdint.h>

#define AGENDA_MAX 1024

typedef enum ItemKind {
        ITEM_EXECUTED,
        ITEM_EXEC_FAILED,
        ITEM_HOOK_EXEC_FAILED,
        ITEM_SAYS, /* a datagram of a process: `detail` is a Saying */
        ITEM_FORKS,
        ITEM_DIES,
        ITEM_COLLECTED, /* PID 1 notices a death */
        ITEM_SURVEYED,
        ITEM_ACKNOWLEDGED,
        ITEM_PROBED,    /* a check is answered: `slot` is its probe run, `generation` its number, `detail` the answer */
        ITEM_HAPPENING, /* `detail` is an index into the schedule's happenings */
} ItemKind;

typedef struct Item {
        usec_t at_usec;
        ItemKind kind;
        uint32_t slot, generation; /* of the process it is about */
        uint32_t detail;
} Item;

typedef struct Agenda {
        Item items[AGENDA_MAX];
        unsigned n;
        bool overflowed; /* the schedule was too wild for the array: a fault of the simulation */
} Agenda;

void agenda_add(Agenda *agenda, Item item);
/* The earliest instant; USEC_INFINITY: nothing will happen. *ret_n tells how many items share it. */
usec_t agenda_next(const Agenda *agenda, unsigned *ret_n);
/* Takes out the `which`-th (from 0) of those that share the earliest instant. */
Item agenda_take(Agenda *agenda, usec_t at_usec, unsigned which);
