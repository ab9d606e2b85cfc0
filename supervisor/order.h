/* order.h - says what a graph of After= means: its cycles, its reverse, and how long its chains are.
 *
 * Pure but for malloc. Nodes are numbered from 0; an edge from a to b says that a waits for b. Walks with a stack of
 * its own, never by recursion: a chain of 60,000 services must not cost 60,000 frames. */
#pragma once
#include "base/usec.h"
#include <stddef.h>
#include <stdint.h>

typedef struct OrderGraph {
        size_t n; /* nodes, at most 65,535 */
        const uint32_t
                *first; /* n + 1 entries: the edges of node i are targets[first[i]] up to targets[first[i + 1]] */
        const uint16_t *targets;
} OrderGraph;

/* `nodes[0]` waits for `nodes[1]`, and so on; the last waits for the first. Non-zero ends the search. */
typedef int (*OrderCycle)(void *userdata, const uint16_t *nodes, size_t n);

/* Calls `each` once for every edge that closes a cycle on the walk: without cycles never, with some at least once. 0,
 * the answer that ended the search, or -ENOMEM. */
int order_cycles(const OrderGraph *graph, OrderCycle each, void *userdata);

/* For each node the heaviest chain of edges from it on, itself included; `weights` NULL: each node weighs 1. 0; -ELOOP
 * when there is a cycle (nothing is written then); -ENOMEM. */
int order_lengths(const OrderGraph *graph, const usec_t *weights, usec_t *ret_lengths);

/* The same graph with each edge turned round: `ret_first` n + 1 entries, `ret_targets` as many as there are edges,
 * those of a node in rising order. */
void order_reverse(const OrderGraph *graph, uint32_t *ret_first, uint16_t *ret_targets);
