/* test_steering.c - whom a start, a stop and a restart reach, over every graph of four services and every state. */
#include <criterion/criterion.h>
#include <string.h>

#include "supervisor/steering.h"

#define N 4

/* Of each pair (i, j < i): nothing, i is after j, i requires j. */
typedef struct Graph {
        ServiceConfig services[N];
        Relations relations[N];
        uint16_t items[N][3][N];
        bool requires[N][N], after[N][N];
} Graph;

static void relate(Graph *graph, uint16_t i, uint16_t j, unsigned how) {
        Relations *mine = &graph->relations[i], *its = &graph->relations[j];
        if (how == 0)
                return;
        graph->after[i][j] = true;
        mine->after.items[mine->after.n++] = j;
        its->before.items[its->before.n++] = i;
        if (how == 1)
                return;
        graph->requires[i][j] = true;
        mine->requires.items[mine->requires.n++] = j;
}

static void make(Graph *graph, unsigned code) {
        memset(graph, 0, sizeof *graph);
        for (unsigned i = 0; i < N; i++) {
                graph->relations[i] = (Relations){ .after.items = graph->items[i][0],
                                                   .requires.items = graph->items[i][1],
                                                   .before.items = graph->items[i][2] };
                graph->services[i].relations = &graph->relations[i];
        }
        for (uint16_t i = 0; i < N; i++)
                for (uint16_t j = 0; j < i; j++, code /= 3)
                        relate(graph, i, j, code % 3);
}

#define GRAPHS 729 /* 3^6 */

/* The closure, by brute force. */
static void reach_by_force(const Graph *graph, Steer steer, const SteeringService *given, bool goes[static N],
                           bool comes[static N]) {
        for (unsigned i = 0; i < N; i++)
                goes[i] = comes[i] = false;
        for (unsigned round = 0; round < N; round++)
                for (unsigned i = 0; i < N; i++)
                        for (unsigned j = 0; j < N && steer != STEER_START; j++)
                                if (graph->requires[i][j] && given[i].up > 0 && given[j].up > 0 &&
                                    (goes[j] || given[j].named_up == given[j].up))
                                        goes[i] = true;
        for (unsigned round = 0; round < N; round++)
                for (unsigned i = 0; i < N; i++)
                        for (unsigned j = 0; j < N && steer != STEER_STOP; j++)
                                if (graph->requires[i][j] && (given[i].named > 0 || goes[i] || comes[i]) &&
                                    (given[j].failed > 0 || given[j].up + given[j].done == 0))
                                        comes[j] = true;
}

typedef enum State { STATE_UP, STATE_STOPPED, STATE_FAILED, STATE_DONE, STATE_HALF, _STATE_MAX } State;

static SteeringService service_in(State state, bool named) {
        SteeringService service = { .up = state == STATE_UP || state == STATE_HALF,
                                    .done = state == STATE_DONE,
                                    .failed = state == STATE_FAILED || state == STATE_HALF };
        service.named = named ? (uint16_t)(1 + (state == STATE_HALF)) : 0;
        service.named_up = named ? service.up : 0;
        return service;
}

static void check_reach(const Graph *graph, unsigned code, Steer steer, unsigned states, unsigned named) {
        SteeringService services[N];
        bool goes[N], comes[N];
        for (unsigned i = 0, rest = states; i < N; i++, rest /= _STATE_MAX)
                services[i] = service_in(rest % _STATE_MAX, named >> i & 1);
        reach_by_force(graph, steer, services, goes, comes);
        cr_assert_eq(steering_reach(steer, graph->services, N, services), 0);
        for (unsigned i = 0; i < N; i++)
                cr_assert(services[i].goes == goes[i] && services[i].comes == comes[i],
                          "graph %u, %s, states %u, named %x: service %u goes %d and comes %d", code,
                          steer_to_string(steer), states, named, i, services[i].goes, services[i].comes);
}

Test(steering, reaches_who_requires_and_what_is_required_and_nobody_else, .timeout = 120) {
        for (unsigned code = 0; code < GRAPHS; code++) {
                Graph graph;
                make(&graph, code);
                for (unsigned states = 0; states < 625; states += 1 + code % 3) /* 5^4 */
                        for (Steer steer = 0; steer < _STEER_MAX; steer++)
                                check_reach(&graph, code, steer, states, 1 + (states + code) % 15);
        }
}

/* Whoever may go goes, until nobody is left: each after all who come after him. */
Test(steering, all_go_in_the_order_of_an_ending_and_nobody_waits_for_ever) {
        for (unsigned code = 0; code < GRAPHS; code++)
                for (unsigned members = 1; members < 16; members++) {
                        Graph graph;
                        uint16_t of_service[N] = { 0 };
                        SteeringGoing going = { .of_service = of_service };
                        unsigned left = members;
                        make(&graph, code);
                        for (unsigned i = 0; i < N; i++)
                                of_service[i] = members >> i & 1;
                        for (unsigned round = 0; round < N && left > 0; round++)
                                for (unsigned i = 0; i < N; i++) {
                                        if (!(left >> i & 1) || !steering_may_go(&graph.services[i], &going))
                                                continue;
                                        for (unsigned later = 0; later < N; later++)
                                                cr_assert(!graph.after[later][i] || !(left >> later & 1),
                                                          "graph %u: %u went before %u", code, i, later);
                                        left &= ~(1U << i);
                                        of_service[i] = 0;
                                }
                        cr_assert_eq(left, 0U, "graph %u: %x never went", code, left);
                }
}

Test(steering, earlier_phases_go_first_and_later_ones_come_first) {
        uint16_t of_service[1] = { 0 };
        SteeringGoing going = { .of_service = of_service, .of_phase = { 0, 2, 0 } };
        cr_assert(steering_may_go(&(ServiceConfig){ .phase = 0 }, &going));
        cr_assert(steering_may_go(&(ServiceConfig){ .phase = 1 }, &going));
        cr_assert(!steering_may_go(&(ServiceConfig){ .phase = 2 }, &going));
        cr_assert_eq(steering_first_phase((uint32_t[]){ 0, 0, 0 }, 3), 0U);
        cr_assert_eq(steering_first_phase((uint32_t[]){ 5, 1, 0 }, 3), 1U);
        cr_assert_eq(steering_first_phase((uint32_t[]){ 5, 0, 1 }, 3), 2U);
}

Test(steering, one_instance_of_several_goes_without_anybodys_noticing) {
        Graph graph;
        make(&graph, 2); /* 1 requires 0 */
        SteeringService services[N] = { { .up = 2, .named = 1, .named_up = 1 }, { .up = 1 } };
        cr_assert_eq(steering_reach(STEER_STOP, graph.services, N, services), 0);
        cr_assert(!services[1].goes);
        services[0].named = services[0].named_up = 2;
        cr_assert_eq(steering_reach(STEER_STOP, graph.services, N, services), 0);
        cr_assert(services[1].goes);
}

Test(steering, a_restart_of_the_last_instance_that_serves_is_noticed) {
        Graph graph;
        make(&graph, 2); /* 1 requires 0 */
        SteeringService first[N] = { { .up = 2, .named = 1, .named_up = 1 }, { .up = 1 } };
        cr_assert_eq(steering_reach(STEER_RESTART, graph.services, N, first), 0);
        cr_expect(!first[1].goes, "the other one serves");
        const SteeringService away = { .up = 2, .named = 1, .named_up = 1, .returning = 1 };
        SteeringService second[N] = { away, { .up = 1 } };
        cr_assert_eq(steering_reach(STEER_RESTART, graph.services, N, second), 0);
        cr_expect(second[1].goes, "nobody serves");
        SteeringService stopped[N] = { away, { .up = 1 } };
        cr_assert_eq(steering_reach(STEER_STOP, graph.services, N, stopped), 0);
        cr_expect(!stopped[1].goes, "the other one returns");
        SteeringService elsewhere[N] = { { .up = 1, .returning = 1 }, { .up = 1, .named = 1, .named_up = 1 } };
        cr_assert_eq(steering_reach(STEER_RESTART, graph.services, N, elsewhere), 0);
        cr_expect(!elsewhere[1].goes, "nobody of the first was named");
}

Test(steering, every_word_reads_back_as_itself) {
        for (Steer i = 0; i < _STEER_MAX; i++)
                cr_assert_eq(steer_from_string(steer_to_string(i)), (int)i);
}
