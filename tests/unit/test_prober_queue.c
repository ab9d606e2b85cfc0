/* test_prober_queue.c - the open requests to the prober: their order, their places, their ids. */
#include "supervisor/prober_queue.h"
#include <criterion/criterion.h>
#include <errno.h>

static const ProberRequest any = { .by = PROBE_BY_TCP, .target = "127.0.0.1:80", .timeout_usec = 1000 };

Test(prober_queue, who_asked_first_is_first_in_each_place) {
        ProberQueue queue;
        cr_assert_eq(prober_queue_init(&queue, 4), 0);
        for (uint32_t number = 4; number-- > 0;)
                cr_assert_eq(prober_queue_add(&queue, number, &any, 5), 0);
        for (uint32_t number = 4; number-- > 0;) {
                cr_assert_eq(prober_queue_first(&queue, QUEUE_WAITING), number);
                prober_queue_move(&queue, number, QUEUE_SENT);
        }
        cr_assert_eq(prober_queue_first(&queue, QUEUE_WAITING), QUEUE_NONE);
        cr_assert_eq(prober_queue_first(&queue, QUEUE_SENT), 3);
        prober_queue_done(&queue);
}

Test(prober_queue, a_number_is_open_until_it_was_taken_out) {
        ProberQueue queue;
        cr_assert_eq(prober_queue_init(&queue, 2), 0);
        cr_assert_eq(prober_queue_add(&queue, 2, &any, 0), -EINVAL);
        cr_assert_eq(prober_queue_add(&queue, QUEUE_NONE, &any, 0), -EINVAL);
        for (QueuePlace place = QUEUE_WAITING; place < QUEUE_PLACES; place++) {
                cr_assert_eq(prober_queue_add(&queue, 1, &any, 0), 0);
                prober_queue_move(&queue, 1, place);
                cr_assert_eq(prober_queue_add(&queue, 1, &any, 0), -EBUSY);
                prober_queue_move(&queue, 1, QUEUE_FREE);
                for (QueuePlace other = QUEUE_WAITING; other < QUEUE_PLACES; other++)
                        cr_assert_eq(prober_queue_first(&queue, other), QUEUE_NONE);
        }
        prober_queue_done(&queue);
}

Test(prober_queue, only_the_answer_to_the_last_asking_is_expected) {
        ProberQueue queue;
        cr_assert_eq(prober_queue_init(&queue, 8), 0);
        cr_assert_eq(prober_queue_add(&queue, 7, &any, 0), 0);
        uint64_t first = queue.items[7].id;
        cr_assert_eq(prober_queue_find(&queue, first), QUEUE_NONE, "it was not sent yet");
        prober_queue_move(&queue, 7, QUEUE_SENT);
        cr_assert_eq(prober_queue_find(&queue, first), 7);
        prober_queue_move(&queue, 7, QUEUE_CALLED_OFF);
        cr_assert_eq(prober_queue_find(&queue, first), QUEUE_NONE, "nobody waits for it");
        prober_queue_move(&queue, 7, QUEUE_FREE);
        cr_assert_eq(prober_queue_add(&queue, 7, &any, 0), 0);
        prober_queue_move(&queue, 7, QUEUE_SENT);
        cr_assert_eq(prober_queue_find(&queue, first), QUEUE_NONE);
        cr_assert_eq(prober_queue_find(&queue, queue.items[7].id), 7);
        cr_assert_eq(prober_queue_find(&queue, 8), QUEUE_NONE);
        cr_assert_eq(prober_queue_find(&queue, UINT64_MAX), QUEUE_NONE);
        prober_queue_done(&queue);
}

Test(prober_queue, the_timeout_runs_from_the_asking) {
        ProberQueue queue;
        ProberRequest endless = any;
        cr_assert_eq(prober_queue_init(&queue, 2), 0);
        cr_assert_eq(prober_queue_add(&queue, 0, &any, 7000), 0);
        cr_assert_eq(queue.items[0].due_usec, 8000);
        endless.timeout_usec = USEC_INFINITY;
        cr_assert_eq(prober_queue_add(&queue, 1, &endless, 7000), 0);
        cr_assert_eq(queue.items[1].due_usec, USEC_INFINITY);
        prober_queue_done(&queue);
}

/* Against a plain model: moves at random, and each place must hold the same numbers in the same order. */
Test(prober_queue, the_places_keep_what_is_put_into_them_whatever_the_order_of_moves) {
        enum { N = 6 };
        uint32_t model[QUEUE_PLACES][N], n[QUEUE_PLACES] = { 0 }, state = 1;
        QueuePlace place[N] = { QUEUE_FREE };
        ProberQueue queue;
        cr_assert_eq(prober_queue_init(&queue, N), 0);
        for (int step = 0; step < 20000; step++) {
                state = state * 1103515245 + 12345;
                uint32_t number = (state >> 16) % N;
                QueuePlace to =
                        place[number] == QUEUE_FREE ? QUEUE_WAITING : (QueuePlace)((state >> 24) % QUEUE_PLACES);
                for (uint32_t i = 0, j = 0; place[number] != QUEUE_FREE && i < n[place[number]]; i++) {
                        model[place[number]][j] = model[place[number]][i];
                        j += model[place[number]][i] != number;
                }
                if (place[number] == QUEUE_FREE) {
                        cr_assert_eq(prober_queue_add(&queue, number, &any, 0), 0);
                } else {
                        n[place[number]]--;
                        prober_queue_move(&queue, number, to);
                }
                place[number] = to;
                if (to != QUEUE_FREE)
                        model[to][n[to]++] = number;
                for (QueuePlace p = QUEUE_WAITING; p < QUEUE_PLACES; p++) {
                        uint32_t at = prober_queue_first(&queue, p);
                        for (uint32_t i = 0; i < n[p]; i++, at = queue.items[at].next)
                                cr_assert_eq(at, model[p][i], "step %d", step);
                        cr_assert_eq(at, QUEUE_NONE, "step %d", step);
                }
        }
        prober_queue_done(&queue);
}
