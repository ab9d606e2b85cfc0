/* prober_queue.c - numbers in three lists, without memory of their own. */
#include "supervisor/prober_queue.h"
#include <errno.h>
#include <stdlib.h>

int prober_queue_init(ProberQueue *queue, uint32_t n_items) {
        *queue = (ProberQueue){ .n_items = n_items, .items = calloc(n_items + 1UL, sizeof *queue->items) };
        for (unsigned i = 0; i < QUEUE_PLACES; i++)
                queue->first[i] = queue->last[i] = QUEUE_NONE;
        return queue->items ? 0 : -ENOMEM;
}

void prober_queue_done(ProberQueue *queue) {
        free(queue->items);
        *queue = (ProberQueue){ 0 };
}

static void take_out(ProberQueue *queue, QueueItem *item) {
        if (item->previous == QUEUE_NONE)
                queue->first[item->place] = item->next;
        else
                queue->items[item->previous].next = item->next;
        if (item->next == QUEUE_NONE)
                queue->last[item->place] = item->previous;
        else
                queue->items[item->next].previous = item->previous;
}

static void append(ProberQueue *queue, uint32_t number, QueuePlace place) {
        QueueItem *item = &queue->items[number];

        item->place = place;
        item->next = QUEUE_NONE;
        item->previous = queue->last[place];
        if (item->previous == QUEUE_NONE)
                queue->first[place] = number;
        else
                queue->items[item->previous].next = number;
        queue->last[place] = number;
}

void prober_queue_move(ProberQueue *queue, uint32_t number, QueuePlace place) {
        QueueItem *item = &queue->items[number];

        if (item->place != QUEUE_FREE)
                take_out(queue, item);
        item->place = place;
        if (place != QUEUE_FREE)
                append(queue, number, place);
}

int prober_queue_add(ProberQueue *queue, uint32_t number, const ProberRequest *what, usec_t now_usec) {
        if (number >= queue->n_items)
                return -EINVAL;
        QueueItem *item = &queue->items[number];
        if (item->place != QUEUE_FREE)
                return -EBUSY;
        item->what = *what;
        item->id = (uint64_t)++queue->serial << 32 | number;
        item->due_usec = usec_add(now_usec, what->timeout_usec);
        append(queue, number, QUEUE_WAITING);
        return 0;
}

uint32_t prober_queue_first(const ProberQueue *queue, QueuePlace place) {
        return queue->first[place];
}

uint32_t prober_queue_find(const ProberQueue *queue, uint64_t id) {
        uint32_t number = (uint32_t)id;
        if (number >= queue->n_items || queue->items[number].place != QUEUE_SENT || queue->items[number].id != id)
                return QUEUE_NONE;
        return number;
}
