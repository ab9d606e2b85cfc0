/* flights.c - the statements that were sent and are not answered yet: a list from the oldest to the newest. */
#include "ledger/flights.h"
#include <stdlib.h>

Flight *flights_push(Flights *flights, usec_t sent, usec_t due) {
        Flight *flight = malloc(sizeof *flight);

        if (!flight)
                return NULL;
        *flight = (Flight){ .sent = sent, .due = due };
        *(flights->last ? &flights->last->next : &flights->first) = flight;
        flights->last = flight;
        flights->n++;
        return flight;
}

Flight *flights_shift(Flights *flights) {
        Flight *flight = flights->first;

        if (!flight)
                return NULL;
        flights->first = flight->next;
        if (!flights->first)
                flights->last = NULL;
        flights->n--;
        return flight;
}

void flights_pop(Flights *flights) {
        Flight **at = &flights->first;

        flights->last = NULL;
        while (*at && (*at)->next) {
                flights->last = *at;
                at = &(*at)->next;
        }
        if (!*at)
                return;
        free(*at);
        *at = NULL;
        flights->n--;
}

Flights flights_take_all(Flights *flights) {
        Flights all = *flights;

        *flights = (Flights){ 0 };
        return all;
}

const Flight *flights_earliest(const Flights *flights) {
        const Flight *earliest = flights->first;

        for (const Flight *flight = earliest; flight; flight = flight->next)
                if (flight->due < earliest->due)
                        earliest = flight;
        return earliest;
}
