/* test_lanes.c - however many processes there are, the lanes can be looked at, and nobody who was killed is lost. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/take.h"
#include "report/lanes.h"

typedef struct Made {
        Event *events;
        size_t n;
        Story story;
        Lanes lanes;
} Made;

static void made_done(Made *made) {
        lanes_done(&made->lanes);
        story_done(&made->story);
        free(made->events);
}

static void add(Made *made, Event event) {
        event.seq = made->n + 1;
        event.mono_usec = 1000 * event.seq;
        made->events[made->n++] = event;
}

/* `services` with `instances` each, of which the first `killed` are killed. */
static void make(Made *made, unsigned services, unsigned instances, unsigned killed) {
        static char names[1000][16];
        made->events = calloc(4 * (size_t)services * instances + 8, sizeof *made->events);
        add(made, (Event){ .kind = EVENT_SUPERVISOR_STARTED, .phases = "http" });
        add(made, (Event){ .kind = EVENT_ENDING_STARTED, .deadline_usec = USEC_PER_SEC });
        add(made, (Event){ .kind = EVENT_PHASE_STARTED, .phase = "http", .limit_usec = USEC_PER_SEC });
        for (unsigned i = 0; i < services * instances; i++) {
                Event event = { .kind = EVENT_SERVICE_ASKED, .instance = i % instances + 1, .signal = "SIGTERM" };
                snprintf(names[i / instances], sizeof names[0], "s%u", i / instances);
                event.service = names[i / instances];
                add(made, event);
                event.kind = EVENT_SERVICE_KILLED;
                event.reason = "stop_timeout";
                if (i < killed)
                        add(made, event);
        }
        cr_assert_eq(story_make(made->events, made->n, &made->story), 0);
        cr_assert_eq(lanes_make(&made->story, &made->lanes), 0);
}

static size_t count(const Made *made, LaneKind kind) {
        size_t n = 0;
        for (size_t i = 0; i < made->lanes.n; i++)
                n += made->lanes.items[i].kind == kind;
        return n;
}

Test(lanes, few_instances_have_a_lane_each) {
        _cleanup_(made_done) Made made = { 0 };
        make(&made, 3, 4, 0);
        cr_expect_eq(count(&made, LANE_MEMBER), 12);
        cr_expect_eq(count(&made, LANE_COUNT), 0);
        cr_expect_eq(count(&made, LANE_PHASE), 1);
        cr_expect_eq(made.lanes.items[0].kind, LANE_ENDWELL);
}

Test(lanes, four_hundred_of_a_few_services_are_counts) {
        _cleanup_(made_done) Made made = { 0 };
        make(&made, 4, 100, 0);
        cr_expect_eq(count(&made, LANE_COUNT), 4);
        cr_expect_eq(count(&made, LANE_MEMBER), 0);
}

Test(lanes, four_hundred_services_are_one_count) {
        _cleanup_(made_done) Made made = { 0 };
        make(&made, 400, 1, 0);
        cr_expect_eq(count(&made, LANE_COUNT), 1);
}

Test(lanes, who_was_killed_keeps_a_lane_or_is_counted) {
        _cleanup_(made_done) Made made = { 0 };
        make(&made, 1, 400, 50);
        cr_expect_eq(count(&made, LANE_MEMBER), LANES_APART_MOST);
        for (size_t i = 0; i < made.lanes.n; i++)
                if (made.lanes.items[i].kind == LANE_COUNT)
                        cr_expect_eq(made.lanes.items[i].n_hidden, 50 - LANES_APART_MOST);
}
