/* test_status_text.c - the table of `endwell status`. */
#include "base/take.h"
#include "supervisor/status_text.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(status_text, .timeout = 30);

#define HEAD "\"version\":\"1\",\"pid\":1,\"mode\":\"production\",\"orphans\":0,"

static void expect(const char *status, StatusTextStyle style, const char *want) {
        _cleanup_(freep) char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        json_t *value = json_loads(status, 0, NULL);

        cr_assert(value, "%s", status);
        status_text_write(value, style, out);
        fclose(out);
        cr_expect_str_eq(text, want, "have\n%s\nwant\n%s", text, want);
        json_decref(value);
}

Test(status_text, a_container_that_is_up_is_one_table) {
        expect("{" HEAD
               "\"step\":\"serving\",\"ready\":true,\"ending\":false,\"since_us\":61234567,\"awaited\":0,\"hooks\":[],"
               "\"services\":[{\"service\":\"db\",\"instances\":[{\"instance\":1,\"state\":\"ready\",\"pid\":12,"
               "\"restarts\":0,\"since_us\":61000000}]},{\"service\":\"web\",\"instances\":["
               "{\"instance\":1,\"state\":\"ready\",\"pid\":13,\"restarts\":2,\"since_us\":1500000,\"status\":\"3 "
               "jobs\"},"
               "{\"instance\":2,\"state\":\"backoff\",\"restarts\":5,\"since_us\":2000,\"limit_us\":400000}]}]}",
               (StatusTextStyle){ 0 },
               "ready for 1 min 1 s - endwell 1, pid 1, mode production\n"
               "SERVICE  STATE    PID  SINCE      RESTARTS  STATUS\n"
               "db       ready    12   1 min 1 s  0\n"
               "web@1    ready    13   1.5 s      2         3 jobs\n"
               "web@2    backoff  -    2 ms       5         limit in 400 ms\n");
}

Test(status_text, whose_readiness_probe_fails_is_not_ready_and_says_why) {
        expect("{" HEAD
               "\"step\":\"serving\",\"ready\":false,\"ending\":false,\"since_us\":1000,\"awaited\":0,\"hooks\":[],"
               "\"services\":[{\"service\":\"web\",\"instances\":["
               "{\"instance\":1,\"state\":\"ready\",\"pid\":13,\"restarts\":0,\"since_us\":1500000,"
               "\"not_ready\":\"readiness probe: HTTP 503\",\"status\":\"3 jobs\"}]}]}",
               (StatusTextStyle){ 0 },
               "up, but not ready for 1 ms - endwell 1, pid 1, mode production\n"
               "SERVICE  STATE      PID  SINCE  RESTARTS  STATUS\n"
               "web      not ready  13   1.5 s  0         3 jobs; readiness probe: HTTP 503\n");
}

Test(status_text, who_may_start_for_ever_has_no_limit_of_another) {
        expect("{" HEAD "\"step\":\"starting\",\"phase\":\"db\",\"ready\":false,\"ending\":false,"
               "\"since_us\":2000000,\"awaited\":2,\"hooks\":[],"
               "\"services\":[{\"service\":\"db\",\"phase\":\"db\",\"instances\":[{\"instance\":1,\"state\":"
               "\"starting\","
               "\"pid\":3,\"restarts\":0,\"since_us\":1000,\"awaited\":true}]},"
               "{\"service\":\"log\",\"phase\":\"db\",\"instances\":[{\"instance\":1,\"state\":\"starting\","
               "\"pid\":4,\"restarts\":0,\"since_us\":1000,\"limit_us\":2000000,\"awaited\":true}]}]}",
               (StatusTextStyle){ 0 },
               "starting for 2 s - endwell 1, pid 1, mode production\n"
               "phase db: waiting for db, log (2 of 2)\n"
               "SERVICE  STATE      PID  SINCE  RESTARTS  STATUS\n"
               "db       starting*  3    1 ms   0\n"
               "log      starting*  4    1 ms   0         limit in 2 s\n");
}

#define STARTING(limit)                                                                                                \
        "\"services\":[{\"service\":\"log\",\"phase\":\"db\",\"instances\":[{\"instance\":1,\"state\":\"starting\","   \
        "\"pid\":4,\"restarts\":0,\"since_us\":1000,\"limit_us\":" limit ",\"awaited\":true}]}]}"

Test(status_text, who_is_not_ready_in_time_is_asked_first_and_not_killed) {
        expect("{" HEAD "\"step\":\"starting\",\"phase\":\"db\",\"ready\":false,\"ending\":false,"
               "\"since_us\":2000000,\"awaited\":1,\"hooks\":[]," STARTING("2000000"),
               (StatusTextStyle){ 0 },
               "starting for 2 s - endwell 1, pid 1, mode production\n"
               "phase db: waiting for log (1 of 1), asked to end in 2 s\n"
               "SERVICE  STATE      PID  SINCE  RESTARTS  STATUS\n"
               "log      starting*  4    1 ms   0         limit in 2 s\n");
}

Test(status_text, in_an_ending_the_limit_of_a_start_is_no_limit_of_it) {
        expect("{" HEAD "\"step\":\"stopping\",\"phase\":\"db\",\"cause\":\"signal\",\"ready\":false,\"ending\":true,"
               "\"since_us\":2000000,\"limit_us\":12400000,\"awaited\":1,\"hooks\":[]," STARTING("2000000"),
               (StatusTextStyle){ 0 },
               "ending for 2 s (signal) - endwell 1, pid 1, mode production\n"
               "phase db: waiting for log (1 of 1), killed in 12.4 s\n"
               "SERVICE  STATE      PID  SINCE  RESTARTS  STATUS\n"
               "log      starting*  4    1 ms   0         limit in 2 s\n");
}

Test(status_text, a_services_own_limit_comes_before_the_one_of_its_phase) {
        expect("{" HEAD "\"step\":\"stopping\",\"phase\":\"db\",\"cause\":\"signal\",\"ready\":false,\"ending\":true,"
               "\"fast\":true,"
               "\"since_us\":2000000,\"limit_us\":12400000,\"awaited\":1,\"hooks\":[],"
               "\"services\":[{\"service\":\"db\",\"phase\":\"db\",\"instances\":[{\"instance\":1,\"state\":"
               "\"stopping\","
               "\"pid\":3,\"restarts\":0,\"since_us\":1000,\"limit_us\":2000000,\"awaited\":true}]}]}",
               (StatusTextStyle){ 0 },
               "ending for 2 s (signal, fast) - endwell 1, pid 1, mode production\n"
               "phase db: waiting for db (1 of 1), killed in 2 s\n"
               "SERVICE  STATE      PID  SINCE  RESTARTS  STATUS\n"
               "db       stopping*  3    1 ms   0         limit in 2 s\n");
}

#define WORKER(n, state, more)                                                                                         \
        "{\"instance\":" #n ",\"state\":\"" state "\",\"pid\":9" #n ",\"restarts\":0,\"since_us\":1000" more "}"

Test(status_text, an_ending_says_whom_it_waits_for_and_when_they_are_killed) {
        expect("{" HEAD
               "\"step\":\"stopping\",\"phase\":\"workers\",\"cause\":\"signal\",\"ready\":false,\"ending\":true,"
               "\"since_us\":2000000,\"deadline_us\":25000000,\"limit_us\":12400000,\"awaited\":2,"
               "\"hooks\":[{\"hook\":\"drain\",\"on\":\"pre-stop\",\"service\":\"worker\",\"pid\":77,\"since_us\":5000}"
               "],"
               "\"services\":[{\"service\":\"worker\",\"phase\":\"workers\",\"instances\":[" WORKER(
                       1, "left",
                       "") "," WORKER(2, "stopping",
                                      ",\"awaited\":true") "," WORKER(3, "stopping",
                                                                      ",\"awaited\":true,\"orphans\":1") "]}]}",
               (StatusTextStyle){ 0 },
               "ending for 2 s (signal), over in 25 s at the latest - endwell 1, pid 1, mode production\n"
               "phase workers: waiting for worker@2, worker@3 (2 of 3), killed in 12.4 s\n"
               "hook drain (pre-stop of worker) runs for 5 ms, pid 77\n"
               "SERVICE   STATE      PID  SINCE  RESTARTS  STATUS\n"
               "worker@1  left       91   1 ms   0\n"
               "worker@2  stopping*  92   1 ms   0\n"
               "worker@3  stopping*  93   1 ms   0         1 descendant left\n");
}

Test(status_text, many_instances_that_are_alike_are_one_line_unless_all_are_asked_for) {
        static const char nine[] =
                "{" HEAD
                "\"step\":\"serving\",\"ready\":true,\"ending\":false,\"since_us\":1000,\"awaited\":0,\"hooks\":[],"
                "\"services\":[{\"service\":\"w\",\"instances\":["
                /* clang-format off */
                WORKER(1, "ready", "") "," WORKER(2, "ready", "") "," WORKER(3, "ready", "") ","
                WORKER(4, "ready", "") "," WORKER(5, "ready", "") "," WORKER(6, "ready", "") ","
                WORKER(7, "ready", "") "," WORKER(8, "ready", "") "," WORKER(9, "ready", "")
                /* clang-format on */
                "]}]}";
        _cleanup_(freep) char *text = NULL;
        size_t size, lines = 0;

        expect(nine, (StatusTextStyle){ 0 },
               "ready for 1 ms - endwell 1, pid 1, mode production\n"
               "SERVICE  STATE  PID  SINCE  RESTARTS  STATUS\n"
               "w@1..9   ready  -    1 ms   0         9 alike\n");
        FILE *out = open_memstream(&text, &size);
        json_t *value = json_loads(nine, 0, NULL);
        status_text_write(value, (StatusTextStyle){ .all = true, .colour = true }, out);
        fclose(out);
        json_decref(value);
        for (const char *at = text; (at = strchr(at, '\n')); at++)
                lines++;
        cr_assert_eq(lines, 11);
        cr_assert(strstr(text, "\033[32mready\033[0m"));
}

Test(status_text, an_answer_of_another_shape_does_no_harm) {
        static const char *const odd[] = {
                "{}", "[]", "{\"services\":7,\"hooks\":\"x\",\"awaited\":\"many\"}",
                "{\"services\":[{\"service\":5,\"instances\":[{\"state\":[]}]}],\"ending\":true}"
        };

        for (size_t i = 0; i < LENGTH_OF(odd); i++) {
                _cleanup_(freep) char *text = NULL;
                size_t size;
                FILE *out = open_memstream(&text, &size);
                json_t *value = json_loads(odd[i], 0, NULL);
                status_text_write(value, (StatusTextStyle){ 0 }, out);
                fclose(out);
                json_decref(value);
                cr_assert(strstr(text, "SERVICE"), "%s", odd[i]);
        }
}

Test(status_text, a_text_of_a_service_cannot_move_the_cursor) {
        expect("{" HEAD
               "\"step\":\"serving\",\"ready\":false,\"ending\":false,\"since_us\":1000,\"awaited\":0,\"hooks\":[],"
               "\"services\":[{\"service\":\"db\",\"instances\":[{\"instance\":1,\"state\":\"ready\",\"pid\":12,"
               "\"restarts\":0,\"since_us\":1000,\"status\":\"a\\u001b[2J\\nb\"}]}]}",
               (StatusTextStyle){ 0 },
               "up, but not ready for 1 ms - endwell 1, pid 1, mode production\n"
               "SERVICE  STATE  PID  SINCE  RESTARTS  STATUS\n"
               "db       ready  12   1 ms   0         a?[2J?b\n");
}
