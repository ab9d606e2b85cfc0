/* test_trace.c - what a trace owns, and its blind spots as words. */
#include "verify/trace.h"
#include "verify/tracer.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(trace, every_blind_spot_engine_and_action_has_a_word) {
        for (int spot = 0; spot < _BLIND_SPOT_MAX; spot++)
                cr_expect_not_null(blind_spot_to_string((BlindSpot)spot));
        for (int engine = 0; engine < _TRACER_ENGINE_MAX; engine++)
                cr_expect_not_null(tracer_engine_to_string((TracerEngine)engine));
        for (int action = 0; action < _TRACER_ACTION_MAX; action++)
                cr_expect_not_null(tracer_action_to_string((TracerAction)action));
        cr_expect_null(blind_spot_to_string(_BLIND_SPOT_MAX));
}

Test(trace, it_gives_back_its_parts_and_is_empty_then) {
        Trace trace = {
                .effects = calloc(1, sizeof(Effect)), .n_effects = 1, .left = calloc(1, sizeof(char *)), .n_left = 1
        };

        trace.effects[0].text = strdup("unlink /x");
        trace.first.output = strdup("said");
        trace.left[0] = strdup("1 sleep");
        trace.blind[BLIND_DAEMON] = strdup("a socket");
        trace_done(&trace);
        cr_expect_eq(trace.n_effects, 0);
        cr_expect_null(trace.blind[BLIND_DAEMON]);
        cr_expect_null(trace.first.output);
}
