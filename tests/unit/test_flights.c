/* test_flights.c - the statements that are not answered yet. */
#include "ledger/flights.h"
#include <criterion/criterion.h>

Test(flights, they_are_answered_in_the_order_of_sending) {
        Flights flights = { 0 };

        for (usec_t i = 1; i <= 5; i++)
                cr_assert_eq(flights_push(&flights, i, 100 - i)->sent, i);
        for (usec_t i = 1; i <= 5; i++) {
                Flight *flight = flights_shift(&flights);
                cr_assert_eq(flight->sent, i);
                free(flight);
        }
        cr_assert_null(flights_shift(&flights));
        cr_assert_eq(flights.n, 0);
        cr_assert_null(flights.last);
}

Test(flights, the_earliest_deadline_need_not_be_the_oldest_ones) {
        Flights flights = { 0 };

        cr_assert_null(flights_earliest(&flights));
        flights_push(&flights, 1, 300);
        flights_push(&flights, 2, 100);
        flights_push(&flights, 3, USEC_INFINITY);
        cr_assert_eq(flights_earliest(&flights)->due, 100);
        for (Flight *flight; (flight = flights_shift(&flights));)
                free(flight);
}

Test(flights, the_newest_can_be_forgotten_down_to_none) {
        Flights flights = { 0 };

        flights_push(&flights, 1, 1);
        flights_push(&flights, 2, 2);
        flights_pop(&flights);
        cr_assert(flights.n == 1 && flights.last == flights.first && flights.first->sent == 1);
        flights_push(&flights, 3, 3);
        cr_assert_eq(flights.last->sent, 3);
        flights_pop(&flights);
        flights_pop(&flights);
        flights_pop(&flights);
        cr_assert(flights.n == 0 && !flights.first && !flights.last);
}

Test(flights, all_at_once_leave_none_behind) {
        Flights flights = { 0 };

        flights_push(&flights, 1, 1);
        flights_push(&flights, 2, 2);
        Flights all = flights_take_all(&flights);
        cr_assert(flights.n == 0 && !flights.first && !flights.last && all.n == 2);
        for (Flight *flight; (flight = flights_shift(&all));)
                free(flight);
}
