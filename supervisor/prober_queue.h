/* prober_queue.h - the requests to the prober that are open: which wait, which were sent, which were called off;
 * private to prober_link.
 *
 * Decides nothing and sends nothing; after prober_queue_init() all in constant time and without memory. A number can be
 * asked again as soon as it was taken out, so each asking has an id of its own: a late answer finds nothing. */
#pragma once
#include "base/usec.h"
#include "supervisor/prober_link.h"
#include <stdint.h>

#define QUEUE_NONE UINT32_MAX

typedef enum QueuePlace { QUEUE_FREE, QUEUE_WAITING, QUEUE_SENT, QUEUE_CALLED_OFF, QUEUE_PLACES } QueuePlace;

typedef struct QueueItem {
        ProberRequest what;
        uint64_t id;
        usec_t due_usec; /* its timeout runs from the asking, also while it waits */
        uint32_t next, previous;
        QueuePlace place;
} QueueItem;

typedef struct ProberQueue {
        QueueItem *items;
        uint32_t n_items;
        uint32_t first[QUEUE_PLACES], last[QUEUE_PLACES]; /* in the order of arrival; QUEUE_NONE */
        uint32_t serial;
} ProberQueue;

int prober_queue_init(ProberQueue *queue, uint32_t n_items);
void prober_queue_done(ProberQueue *queue);

/* 0; -EBUSY: it is open; -EINVAL: no such number. */
int prober_queue_add(ProberQueue *queue, uint32_t number, const ProberRequest *what, usec_t now_usec);
void prober_queue_move(ProberQueue *queue, uint32_t number, QueuePlace place); /* QUEUE_FREE: taken out */
uint32_t prober_queue_first(const ProberQueue *queue, QueuePlace place);       /* QUEUE_NONE: nobody is there */
/* The number of a request that was sent with this id and is still expected to be answered; QUEUE_NONE. */
uint32_t prober_queue_find(const ProberQueue *queue, uint64_t id);
