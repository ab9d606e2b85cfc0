/* flights.h - the statements that were sent and are not answered yet, in the order in which they will be.
 *
 * Pure but for malloc. Private to the connection. */
#pragma once
#include "base/usec.h"
#include "ledger/pq.h"
#include <stddef.h>

typedef struct Flight Flight;
struct Flight {
        Flight *next;
        usec_t sent, due;
        void (*done)(PqReply *reply, void *userdata);
        void *userdata;
};

typedef struct Flights { /* all zero: none */
        Flight *first, *last;
        size_t n;
} Flights;

Flight *flights_push(Flights *flights, usec_t sent, usec_t due); /* stays the list's; NULL: out of memory */
Flight *flights_shift(Flights *flights); /* the oldest becomes the caller's, to free(); NULL: none */
void flights_pop(Flights *flights);      /* forgets the newest */
Flights flights_take_all(Flights *flights);
const Flight *flights_earliest(const Flights *flights); /* the one that is due first; NULL: none */
