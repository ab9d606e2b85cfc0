/* test_tidings.c - lines of the control socket as the gateway reads them, and what is made of bad ones. */
#include "gateway/tidings.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static Tidings must_read(const char *line) {
        Tidings tidings = { .kind = _TIDINGS_MAX };
        cr_assert_eq(tidings_read(line, strlen(line), &tidings), 0, "%s", line);
        return tidings;
}

Test(tidings, an_event_is_its_name_and_its_fields) {
        Tidings tidings =
                must_read("{\"seq\":7,\"mono_us\":12,\"epoch\":2,\"event\":\"phase_finished\",\"phase\":\"http\","
                          "\"gone\":3,\"killed\":1,\"left\":0,\"took_us\":99}");
        cr_assert_eq(tidings.kind, TIDINGS_EVENT);
        cr_assert_eq(tidings.seq, 7u);
        cr_assert_eq(tidings.epoch, 2u);
        cr_assert_str_eq(tidings.event, "phase_finished");
        cr_assert_str_eq(tidings.phase, "http");
        cr_assert_eq(tidings.gone, 3u);
        cr_assert_eq(tidings.killed, 1u);
        cr_assert_eq(tidings.took_usec, 99u);
        cr_assert_str_empty(tidings.service);
}

Test(tidings, the_phases_of_a_run_come_in_their_order) {
        Tidings tidings = must_read("{\"seq\":1,\"event\":\"supervisor_started\",\"phases\":[\"http\",\"db\",7]}");
        cr_assert_eq(tidings.n_phases, 3u);
        cr_assert_str_eq(tidings.phases[1], "db");
        cr_assert_str_empty(tidings.phases[2]);
}

Test(tidings, a_hook_has_failed_by_its_code_its_signal_its_error_or_its_limit) {
        static const struct {
                const char *fields;
                bool failed;
        } rows[] = {
                { "\"code\":\"exited\",\"status\":0,\"timed_out\":false", false },
                { "\"code\":\"exited\",\"status\":1,\"timed_out\":false", true },
                { "\"code\":\"killed\",\"status\":9,\"timed_out\":false", true },
                { "\"code\":\"exited\",\"status\":0,\"timed_out\":true", true },
                { "\"code\":\"exited\",\"status\":0,\"error\":\"HTTP 500\"", true },
                { "\"code\":\"exited\",\"status\":0,\"error\":null", false },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char line[256];
                snprintf(line, sizeof line, "{\"seq\":1,\"event\":\"hook_finished\",%s}", rows[i].fields);
                cr_expect_eq(must_read(line).failed, rows[i].failed, "%s", line);
        }
}

Test(tidings, answers_are_told_apart) {
        cr_expect_eq(must_read("{\"result\":{\"subscribed\":true,\"newest\":42}}").kind, TIDINGS_SUBSCRIBED);
        cr_expect_eq(must_read("{\"result\":{\"subscribed\":true,\"newest\":42}}").newest, 42u);
        cr_expect_eq(must_read("{\"result\":{\"taken\":true}}").kind, TIDINGS_ANSWER);
        cr_expect_eq(must_read("{\"error\":{\"code\":\"x\",\"message\":\"no\"}}").kind, TIDINGS_REFUSED);
        Tidings tidings = must_read("{\"result\":{\"version\":\"1\",\"services\":[]}}");
        cr_expect_eq(tidings.kind, TIDINGS_STATUS);
        cr_expect_not_null(tidings.status);
        snapshot_free(tidings.status);
}

Test(tidings, what_is_no_line_is_refused_and_nothing_is_written) {
        static const char *const lines[] = { "", "{", "[]", "7", "{}", "{\"result\":7}", "{\"seq\":\"1\"}", "\xff" };
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
                Tidings tidings = { .seq = 99 };
                cr_expect_eq(tidings_read(lines[i], strlen(lines[i]), &tidings), -EBADMSG, "%s", lines[i]);
                cr_expect_eq(tidings.seq, 99u);
        }
}

Test(tidings, words_that_are_too_long_are_cut) {
        char line[1024] = "{\"seq\":1,\"event\":\"service_started\",\"service\":\"";
        memset(line + strlen(line), 'a', 600);
        strcat(line, "\"}");
        cr_assert_eq(strlen(must_read(line).service), NAME_LENGTH_MAX);
}

Test(tidings, each_kind_has_a_word) {
        for (int i = 0; i < _TIDINGS_MAX; i++)
                cr_assert_eq(tidings_kind_from_string(tidings_kind_to_string((TidingsKind)i)), i);
}
