/* test_tally.c - what is counted of which event. */
#include "gateway/tally.h"
#include <criterion/criterion.h>
#include <string.h>

static void take(Tally *tally, const char *line) {
        Tidings tidings;
        cr_assert_eq(tidings_read(line, strlen(line), &tidings), 0, "%s", line);
        tally_take(tally, &tidings);
}

Test(tally, starts_restarts_and_exits_are_counted_by_service_and_cause) {
        Tally tally = { 0 };
        take(&tally, "{\"seq\":1,\"event\":\"service_started\",\"service\":\"web\",\"attempt\":1}");
        take(&tally, "{\"seq\":2,\"event\":\"service_started\",\"service\":\"web\",\"attempt\":2}");
        take(&tally, "{\"seq\":3,\"event\":\"service_gone\",\"service\":\"web\",\"cause\":\"oom\"}");
        take(&tally, "{\"seq\":4,\"event\":\"service_gone\",\"service\":\"web\",\"cause\":\"of a later version\"}");
        take(&tally, "{\"seq\":5,\"event\":\"service_killed\",\"service\":\"web\"}");
        take(&tally, "{\"seq\":6,\"event\":\"service_killed\",\"service\":null}");
        take(&tally, "{\"seq\":7,\"event\":\"probe_changed\",\"service\":\"web\",\"ok\":true}");
        take(&tally, "{\"seq\":8,\"event\":\"probe_changed\",\"service\":\"web\",\"ok\":false}");
        cr_assert_eq(tally.services.n, 1u);
        const TallyRow *web = tally.services.rows;
        cr_expect_eq(web->starts, 2u);
        cr_expect_eq(web->restarts, 1u);
        cr_expect_eq(web->exits[TALLY_OOM], 1u);
        cr_expect_eq(web->exits[TALLY_CLEAN], 0u);
        cr_expect_eq(web->killed, 1u);
        cr_expect_eq(tally.killed, 2u);
        cr_expect_eq(web->unready, 1u);
        tally_done(&tally);
}

Test(tally, hooks_signals_phases_and_jobs_are_counted) {
        Tally tally = { 0 };
        take(&tally,
             "{\"seq\":1,\"event\":\"hook_finished\",\"hook\":\"a\",\"code\":\"exited\",\"status\":0,\"took_us\":5}");
        take(&tally,
             "{\"seq\":2,\"event\":\"hook_finished\",\"hook\":\"a\",\"code\":\"exited\",\"status\":1,\"took_us\":7}");
        take(&tally, "{\"seq\":3,\"event\":\"hook_finished\",\"hook\":\"a\",\"code\":\"killed\",\"timed_out\":true}");
        take(&tally, "{\"seq\":4,\"event\":\"signal_received\",\"effect\":\"recorded\"}");
        take(&tally, "{\"seq\":5,\"event\":\"signal_received\",\"effect\":\"of a later version\"}");
        take(&tally, "{\"seq\":6,\"event\":\"phase_finished\",\"phase\":\"x\",\"gone\":5,\"killed\":2,\"left\":1}");
        take(&tally, "{\"seq\":7,\"event\":\"reaper_settled\",\"released\":3,\"buried\":4}");
        take(&tally, "{\"seq\":8,\"event\":\"log_dropped\",\"n\":6}");
        take(&tally, "{\"seq\":9,\"event\":\"orphan_adopted\"}");
        const TallyRow *hook = tally.hooks.rows;
        cr_expect(hook->good == 1 && hook->failed == 1 && hook->timed_out == 1 && hook->took_usec == 12);
        cr_expect(tally.effects[TALLY_RECORDED] == 1 && tally.effects[TALLY_OTHER] == 1);
        cr_expect(tally.drained == 3 && tally.left == 1);
        cr_expect(tally.released == 3 && tally.buried == 4 && tally.lines_lost == 6 && tally.adopted == 1);
        tally_done(&tally);
}

Test(tally, rows_are_bounded_and_the_rest_has_one_together) {
        Tally tally = { 0 };
        for (int i = 0; i < 5000; i++) {
                Tidings tidings = { .seq = 1, .attempt = 1 };
                strcpy(tidings.event, "service_started");
                snprintf(tidings.service, sizeof tidings.service, "s%d", i);
                tally_take(&tally, &tidings);
        }
        cr_assert_eq(tally.services.n, (size_t)TALLY_ROWS_MAX + 1);
        cr_assert_str_eq(tally.services.rows[TALLY_ROWS_MAX].name, "_other");
        cr_assert_eq(tally.services.rows[TALLY_ROWS_MAX].starts, 5000u - TALLY_ROWS_MAX);
        tally_done(&tally);
}

Test(tally, a_new_run_counts_from_nothing) {
        Tally tally = { 0 };
        take(&tally, "{\"seq\":1,\"event\":\"service_started\",\"service\":\"web\",\"attempt\":1}");
        take(&tally, "{\"seq\":1,\"event\":\"supervisor_started\"}");
        cr_assert_eq(tally.services.n, 0u);
        tally_done(&tally);
}

Test(tally, each_cause_and_effect_has_a_word) {
        for (int i = 0; i < _TALLY_CAUSE_MAX; i++)
                cr_expect_eq(tally_cause_from_string(tally_cause_to_string((TallyCause)i)), i);
        for (int i = 0; i < _TALLY_EFFECT_MAX; i++)
                cr_expect_eq(tally_effect_from_string(tally_effect_to_string((TallyEffect)i)), i);
}
