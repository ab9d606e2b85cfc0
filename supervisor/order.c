/* order.c - the walks over a graph of After=. */
#include "supervisor/order.h"
#include "base/take.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef enum Mark { MARK_NEW, MARK_ON_PATH, MARK_DONE } Mark;

/* A walk into the depth: `path` is the chain of nodes from where it began to where it is. */
typedef struct Walk {
        const OrderGraph *graph;
        uint32_t *next; /* of each node, the edge to look at next */
        uint16_t *path;
        size_t length;
        uint8_t *marks;
} Walk;

static int walk_init(Walk *walk, const OrderGraph *graph) {
        size_t n = graph->n;
        uint32_t *memory = malloc(n * (sizeof(uint32_t) + sizeof(uint16_t) + sizeof(uint8_t)) + 1);
        if (!memory)
                return -ENOMEM;
        *walk = (Walk){ .graph = graph, .next = memory, .path = (uint16_t *)(memory + n) };
        walk->marks = (uint8_t *)(walk->path + n);
        memcpy(walk->next, graph->first, n * sizeof *walk->next);
        memset(walk->marks, MARK_NEW, n);
        return 0;
}

static void walk_done(Walk *walk) {
        free(walk->next);
}

static void walk_push(Walk *walk, uint16_t node) {
        walk->marks[node] = MARK_ON_PATH;
        walk->path[walk->length++] = node;
}

/* The part of the path that `node`, which is on it, closes to a ring. */
static int tell_cycle(const Walk *walk, uint16_t node, OrderCycle each, void *userdata) {
        size_t from = walk->length - 1;
        while (walk->path[from] != node)
                from--;
        return each(userdata, walk->path + from, walk->length - from);
}

typedef void (*NodeDone)(void *userdata, const OrderGraph *graph, uint16_t node);

/* Walks from `root`; `done` is called for each node when all that it waits for is done. */
static int walk_from(Walk *walk, uint16_t root, OrderCycle cycle, NodeDone done, void *userdata) {
        walk_push(walk, root);
        while (walk->length > 0) {
                uint16_t node = walk->path[walk->length - 1];
                if (walk->next[node] == walk->graph->first[node + 1]) {
                        walk->marks[node] = MARK_DONE;
                        walk->length--;
                        if (done)
                                done(userdata, walk->graph, node);
                        continue;
                }
                uint16_t target = walk->graph->targets[walk->next[node]++];
                if (walk->marks[target] == MARK_NEW) {
                        walk_push(walk, target);
                } else if (walk->marks[target] == MARK_ON_PATH) {
                        int r = tell_cycle(walk, target, cycle, userdata);
                        if (r != 0)
                                return r;
                }
        }
        return 0;
}

static int walk_all(const OrderGraph *graph, OrderCycle cycle, NodeDone done, void *userdata) {
        _cleanup_(walk_done) Walk walk = { 0 };
        int r = walk_init(&walk, graph);

        for (size_t i = 0; r == 0 && i < graph->n; i++)
                if (walk.marks[i] == MARK_NEW)
                        r = walk_from(&walk, (uint16_t)i, cycle, done, userdata);
        return r;
}

int order_cycles(const OrderGraph *graph, OrderCycle each, void *userdata) {
        return walk_all(graph, each, NULL, userdata);
}

typedef struct Lengths {
        const usec_t *weights;
        usec_t *lengths;
} Lengths;

static int refuse_cycle(void *userdata, const uint16_t *nodes, size_t n) {
        (void)userdata, (void)nodes, (void)n;
        return -ELOOP;
}

static void add_length(void *userdata, const OrderGraph *graph, uint16_t node) {
        Lengths *lengths = userdata;
        usec_t longest = 0;

        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
                longest = usec_max(longest, lengths->lengths[graph->targets[i]]);
        lengths->lengths[node] = usec_add(longest, lengths->weights ? lengths->weights[node] : 1);
}

int order_lengths(const OrderGraph *graph, const usec_t *weights, usec_t *ret_lengths) {
        _cleanup_(freep) usec_t *result = calloc(graph->n + 1, sizeof *result);
        if (!result)
                return -ENOMEM;
        Lengths lengths = { .weights = weights, .lengths = result };
        int r = walk_all(graph, refuse_cycle, add_length, &lengths);
        if (r == 0)
                memcpy(ret_lengths, result, graph->n * sizeof *result);
        return r;
}

void order_reverse(const OrderGraph *graph, uint32_t *ret_first, uint16_t *ret_targets) {
        size_t n = graph->n;
        uint32_t n_edges = graph->first[n];

        /* Count into the entry two further on, sum up, and let the filling below move each entry to its place: the one
         * array is counter, cursor and result, in turn. */
        memset(ret_first, 0, (n + 1) * sizeof *ret_first);
        for (uint32_t i = 0; i < n_edges; i++)
                if (graph->targets[i] + 2U <= n)
                        ret_first[graph->targets[i] + 2]++;
        for (size_t i = 2; i <= n; i++)
                ret_first[i] += ret_first[i - 1];
        for (size_t i = 0; i < n; i++)
                for (uint32_t edge = graph->first[i]; edge < graph->first[i + 1]; edge++)
                        ret_targets[ret_first[graph->targets[edge] + 1]++] = (uint16_t)i;
}
