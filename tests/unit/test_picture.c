/* test_picture.c - a run as the journal tells it. */
#include "gateway/picture.h"
#include <criterion/criterion.h>
#include <string.h>

static Picture told(const char *const *lines, size_t n) {
        Picture picture = { 0 };
        for (size_t i = 0; i < n; i++) {
                Tidings tidings;
                cr_assert_eq(tidings_read(lines[i], strlen(lines[i]), &tidings), 0, "%s", lines[i]);
                picture_take(&picture, &tidings);
        }
        return picture;
}

#define START                                                                                                          \
        "{\"seq\":1,\"epoch\":1,\"event\":\"supervisor_started\",\"phases\":[\"http\",\"db\"]}",                       \
                "{\"seq\":2,\"epoch\":1,\"event\":\"startup_finished\"}",                                              \
                "{\"seq\":3,\"epoch\":1,\"event\":\"readiness_changed\",\"ready\":true,\"reason\":\"startup "          \
                "finished\"}"
#define ENDING                                                                                                         \
        "{\"seq\":4,\"epoch\":2,\"mono_us\":50,\"event\":\"ending_started\",\"cause\":\"signal\",\"deadline_us\":9}"

Test(picture, it_is_ready_when_that_was_told_and_no_more_once_the_ending_began) {
        static const char *const lines[] = { START, ENDING };
        Picture picture = told(lines, 3);
        cr_assert(picture.ready && picture.started && !picture.ending);
        cr_assert_eq(picture.n_phases, 2u);
        picture = told(lines, 4);
        cr_assert(!picture.ready && picture.started && picture.ending);
        cr_assert_str_eq(picture.reason, "ending");
        cr_assert_eq(picture.deadline_usec, 9u);
        cr_assert_eq(picture.ending_usec, 50u);
        cr_assert_eq(picture.epoch, 2u);
}

Test(picture, phases_begin_and_finish_and_an_unknown_one_is_added) {
        static const char *const lines[] = {
                START,
                ENDING,
                "{\"seq\":5,\"mono_us\":60,\"event\":\"phase_started\",\"phase\":\"http\",\"members\":3,\"limit_us\":"
                "7}",
                "{\"seq\":6,\"event\":\"phase_finished\",\"phase\":\"http\",\"gone\":3,\"killed\":1,\"took_us\":5}",
                "{\"seq\":7,\"event\":\"phase_started\",\"phase\":\"all\",\"members\":1}",
                "{\"seq\":8,\"event\":\"ending_finished\",\"code\":81}",
        };
        Picture picture = told(lines, sizeof lines / sizeof *lines);
        cr_assert(picture.phases[0].began && picture.phases[0].finished);
        cr_assert_eq(picture.phases[0].begun_usec, 60u);
        cr_assert_eq(picture.phases[0].limit_usec, 7u);
        cr_assert_eq(picture.phases[0].killed, 1u);
        cr_assert_not(picture.phases[1].began);
        cr_assert_eq(picture.n_phases, 3u);
        cr_assert_str_eq(picture.phases[2].name, "all");
        cr_assert(picture.finished);
        cr_assert_eq(picture.code, 81);
}

Test(picture, more_phases_than_there_may_be_change_nothing) {
        Picture picture = { 0 };
        for (int i = 0; i < 100; i++) {
                Tidings tidings = { .seq = (uint64_t)i + 1 };
                strcpy(tidings.event, i % 2 ? "phase_started" : "phase_finished");
                snprintf(tidings.phase, sizeof tidings.phase, "p%d", i);
                picture_take(&picture, &tidings);
        }
        cr_assert_eq(picture.n_phases, (unsigned)TIDINGS_PHASES_MAX);
}

Test(picture, a_new_run_is_a_new_picture) {
        static const char *const lines[] = { START, ENDING, "{\"seq\":1,\"event\":\"supervisor_started\"}" };
        Picture picture = told(lines, 5);
        cr_assert(!picture.ending && !picture.started && !picture.ready);
        cr_assert_eq(picture.n_phases, 0u);
}
