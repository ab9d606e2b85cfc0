/* test_order.c - the walks over a graph of After=: small graphs by hand, and every graph of four nodes. */
#include "base/take.h"
#include "supervisor/order.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static char told[400];

static int tell(void *userdata, const uint16_t *nodes, size_t n) {
        unsigned *count = userdata;
        size_t length = strlen(told);

        for (size_t i = 0; i < n; i++)
                length += (size_t)snprintf(told + length, sizeof told - length, "%u ", nodes[i]);
        snprintf(told + length, sizeof told - length, "%u;", nodes[0]);
        ++*count;
        return 0;
}

static unsigned count_cycles(const OrderGraph *graph) {
        unsigned count = 0;
        *told = '\0';
        cr_assert_eq(order_cycles(graph, tell, &count), 0);
        return count;
}

Test(order, a_graph_of_nobody_has_no_cycle) {
        const uint32_t first[] = { 0 };
        cr_expect_eq(count_cycles(&(OrderGraph){ .n = 0, .first = first, .targets = NULL }), 0);
}

Test(order, a_chain_has_no_cycle_and_its_lengths_count_up) {
        const uint32_t first[] = { 0, 1, 2, 2 };
        const uint16_t targets[] = { 1, 2 };
        OrderGraph graph = { .n = 3, .first = first, .targets = targets };
        usec_t lengths[3];

        cr_expect_eq(count_cycles(&graph), 0);
        cr_assert_eq(order_lengths(&graph, NULL, lengths), 0);
        cr_expect(lengths[0] == 3 && lengths[1] == 2 && lengths[2] == 1);
}

Test(order, a_node_that_waits_for_itself_is_a_cycle) {
        const uint32_t first[] = { 0, 1 };
        const uint16_t targets[] = { 0 };
        cr_expect_eq(count_cycles(&(OrderGraph){ .n = 1, .first = first, .targets = targets }), 1);
        cr_expect_str_eq(told, "0 0;");
}

Test(order, a_cycle_is_told_without_the_way_that_led_to_it) {
        const uint32_t first[] = { 0, 1, 2, 3 }; /* 0 -> 1 -> 2 -> 1 */
        const uint16_t targets[] = { 1, 2, 1 };
        cr_expect_eq(count_cycles(&(OrderGraph){ .n = 3, .first = first, .targets = targets }), 1);
        cr_expect_str_eq(told, "1 2 1;");
}

Test(order, two_separate_cycles_are_both_told) {
        const uint32_t first[] = { 0, 1, 2, 3, 4 };
        const uint16_t targets[] = { 1, 0, 3, 2 };
        cr_expect_eq(count_cycles(&(OrderGraph){ .n = 4, .first = first, .targets = targets }), 2);
        cr_expect_str_eq(told, "0 1 0;2 3 2;");
}

Test(order, a_diamond_takes_its_heavier_side) {
        const uint32_t first[] = { 0, 2, 3, 4, 4 }; /* 0 -> 1, 2; both -> 3 */
        const uint16_t targets[] = { 1, 2, 3, 3 };
        const usec_t weights[] = { 1, 10, 100, 1000 };
        usec_t lengths[4];

        cr_assert_eq(order_lengths(&(OrderGraph){ .n = 4, .first = first, .targets = targets }, weights, lengths), 0);
        cr_expect_eq(lengths[0], 1101);
        cr_expect_eq(lengths[1], 1010);
        cr_expect_eq(lengths[3], 1000);
}

Test(order, lengths_stay_untouched_when_there_is_a_cycle) {
        const uint32_t first[] = { 0, 1, 2 };
        const uint16_t targets[] = { 1, 0 };
        usec_t lengths[2] = { 7, 7 };

        cr_expect_eq(order_lengths(&(OrderGraph){ .n = 2, .first = first, .targets = targets }, NULL, lengths), -ELOOP);
        cr_expect(lengths[0] == 7 && lengths[1] == 7);
}

static int end_at_once(void *userdata, const uint16_t *nodes, size_t n) {
        (void)nodes, (void)n;
        ++*(unsigned *)userdata;
        return 42;
}

Test(order, an_answer_ends_the_search) {
        const uint32_t first[] = { 0, 1, 2 };
        const uint16_t targets[] = { 0, 1 };
        unsigned count = 0;

        cr_expect_eq(order_cycles(&(OrderGraph){ .n = 2, .first = first, .targets = targets }, end_at_once, &count),
                     42);
        cr_expect_eq(count, 1);
}

Test(order, a_chain_of_60000_needs_no_deep_stack) {
        enum { N = 60000 };
        static uint32_t first[N + 1];
        static uint16_t targets[N];
        static usec_t lengths[N];

        for (uint32_t i = 0; i < N; i++) {
                first[i] = i;
                targets[i] = (uint16_t)(i + 1);
        }
        first[N] = first[N - 1]; /* the last one waits for nobody */
        cr_assert_eq(order_lengths(&(OrderGraph){ .n = N, .first = first, .targets = targets }, NULL, lengths), 0);
        cr_expect_eq(lengths[0], N);
}

/* ---- Every graph of four nodes: 65,536 of them ---- */

typedef struct Small {
        bool edge[4][4];
        uint32_t first[5];
        uint16_t targets[16];
} Small;

static Small make_small(unsigned bits) {
        Small small = { 0 };
        uint32_t n = 0;

        for (unsigned i = 0; i < 4; i++) {
                small.first[i] = n;
                for (unsigned j = 0; j < 4; j++) {
                        small.edge[i][j] = bits >> (4 * i + j) & 1;
                        if (small.edge[i][j])
                                small.targets[n++] = (uint16_t)j;
                }
        }
        small.first[4] = n;
        return small;
}

/* By the transitive closure: another way to know than by walking. */
static bool has_cycle(const Small *small) {
        bool reach[4][4];

        memcpy(reach, small->edge, sizeof reach);
        for (unsigned k = 0; k < 4; k++)
                for (unsigned i = 0; i < 4; i++)
                        for (unsigned j = 0; j < 4; j++)
                                reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
        return reach[0][0] || reach[1][1] || reach[2][2] || reach[3][3];
}

static int check_ring(void *userdata, const uint16_t *nodes, size_t n) {
        const Small *small = userdata;
        for (size_t i = 0; i < n; i++)
                cr_assert(small->edge[nodes[i]][nodes[(i + 1) % n]]);
        return 1;
}

Test(order, a_cycle_is_found_exactly_when_there_is_one_and_is_really_one) {
        for (unsigned bits = 0; bits < 1U << 16; bits++) {
                Small small = make_small(bits);
                OrderGraph graph = { .n = 4, .first = small.first, .targets = small.targets };
                int r = order_cycles(&graph, check_ring, &small);
                cr_assert_eq(r, has_cycle(&small) ? 1 : 0, "graph %#x", bits);
        }
}

Test(order, the_reverse_has_each_edge_turned_round_and_no_other) {
        for (unsigned bits = 0; bits < 1U << 16; bits++) {
                Small small = make_small(bits);
                OrderGraph graph = { .n = 4, .first = small.first, .targets = small.targets };
                uint32_t first[5], n_edges = small.first[4];
                uint16_t targets[16];
                order_reverse(&graph, first, targets);
                cr_assert(first[0] == 0 && first[4] == n_edges, "graph %#x", bits);
                for (unsigned i = 0; i < 4; i++)
                        for (uint32_t edge = first[i]; edge < first[i + 1]; edge++) {
                                cr_assert(small.edge[targets[edge]][i], "graph %#x", bits);
                                cr_assert(edge == first[i] || targets[edge - 1] < targets[edge], "graph %#x", bits);
                        }
        }
}

Test(order, each_node_is_longer_than_whatever_it_waits_for) {
        for (unsigned bits = 0; bits < 1U << 16; bits++) {
                Small small = make_small(bits);
                OrderGraph graph = { .n = 4, .first = small.first, .targets = small.targets };
                usec_t lengths[4];
                if (has_cycle(&small))
                        continue;
                cr_assert_eq(order_lengths(&graph, NULL, lengths), 0);
                for (unsigned i = 0; i < 4; i++) {
                        usec_t longest = 0;
                        for (unsigned j = 0; j < 4; j++)
                                if (small.edge[i][j])
                                        longest = usec_max(longest, lengths[j]);
                        cr_assert_eq(lengths[i], longest + 1, "graph %#x", bits);
                }
        }
}
