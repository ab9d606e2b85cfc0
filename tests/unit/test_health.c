/* test_health.c - yes or no, and why, for every state that a run can be seen in. */
#include "gateway/health.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static SnapshotMember up = { .number = 1, .state = "ready", .ready = true };
static SnapshotMember coming = { .number = 1, .state = "starting", .note = "warming up" };
static SnapshotService services[] = {
        { .name = "web", .phase = "http", .members = &up, .n_members = 1, .n_ready = 1 },
        { .name = "queue", .phase = "http", .members = &coming, .n_members = 1, .n_ready = 0 },
};
static const Snapshot snapshot = { .services = services, .n_services = 2 };

static bool ask(const HealthView *view, HealthQuestion question, bool verbose, char ret_text[static 1024]) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        bool good = health_answer(view, question, verbose, out);
        fclose(out);
        snprintf(ret_text, 1024, "%s", text);
        free(text);
        return good;
}

Test(health, what_is_answered_in_which_state) {
        static const Picture starting = { 0 }, serving = { .ready = true, .started = true },
                             unready = { .started = true, .reason = "web is not ready" },
                             ending = { .started = true, .ending = true, .ready = true }, cut = { .ending = true };
        static const struct {
                const char *says;
                const Picture *picture;
                const char *ready_when;
                bool connected;
                usec_t silence_usec;
                bool live, ready, started;
        } rows[] = {
                { "starting", &starting, NULL, true, 0, true, false, false },
                { "serving", &serving, NULL, true, 0, true, true, true },
                { "unready", &unready, NULL, true, 0, true, false, true },
                { "ending, whatever else was told", &ending, NULL, true, 0, true, false, true },
                { "ended before it had started", &cut, NULL, true, 0, true, false, false },
                { "not connected", &serving, NULL, false, 0, true, false, false },
                { "silent", &serving, NULL, true, HEALTH_SILENCE_USEC, false, false, false },
                { "silent and not connected", &serving, NULL, false, HEALTH_SILENCE_USEC, false, false, false },
                { "the named one is ready", &unready, "web", true, 0, true, true, true },
                { "one of the named is not", &serving, "web,queue", true, 0, true, false, true },
                { "a named one is unknown", &serving, "webs", true, 0, true, false, true },
                { "the named one, ending", &ending, "web", true, 0, true, false, true },
        };
        char text[1024];

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                for (int verbose = 0; verbose < 2; verbose++) {
                        HealthView view = { .picture = rows[i].picture,
                                            .status = &snapshot,
                                            .ready_when = rows[i].ready_when,
                                            .connected = rows[i].connected,
                                            .silence_usec = rows[i].silence_usec };
                        cr_expect_eq(ask(&view, HEALTH_LIVE, verbose, text), rows[i].live, "%s: %s", rows[i].says,
                                     text);
                        cr_expect_eq(ask(&view, HEALTH_READY, verbose, text), rows[i].ready, "%s: %s", rows[i].says,
                                     text);
                        cr_expect_eq(ask(&view, HEALTH_STARTED, verbose, text), rows[i].started, "%s: %s", rows[i].says,
                                     text);
                }
}

Test(health, the_reasons_are_told_one_a_line) {
        static const Picture unready = { .started = true, .reason = "queue is not ready" };
        HealthView view = { .picture = &unready, .status = &snapshot, .connected = true };
        char text[1024];

        cr_expect_not(ask(&view, HEALTH_READY, true, text));
        cr_expect_str_eq(text, "[+]endwell ok\n[+]ending ok\n[-]services failed: queue is not ready\n"
                               "[-]service/queue failed: 0 of 1 instances ready; starting, warming up\n"
                               "readyz check failed\n");
        cr_expect_not(ask(&view, HEALTH_READY, false, text));
        cr_expect_str_eq(text, "services: queue is not ready\n");
        cr_expect(ask(&view, HEALTH_LIVE, false, text));
        cr_expect_str_eq(text, "ok\n");
}

Test(health, without_a_status_the_named_are_not_known_and_so_not_ready) {
        static const Picture serving = { .ready = true, .started = true };
        HealthView view = { .picture = &serving, .ready_when = "web", .connected = true };
        char text[1024];
        cr_expect_not(ask(&view, HEALTH_READY, false, text));
}

Test(health, each_question_has_its_path) {
        cr_expect_str_eq(health_question_to_string(HEALTH_LIVE), "livez");
        cr_expect_str_eq(health_question_to_string(HEALTH_READY), "readyz");
        cr_expect_str_eq(health_question_to_string(HEALTH_STARTED), "startupz");
        cr_expect_null(health_question_to_string(_HEALTH_MAX));
}
