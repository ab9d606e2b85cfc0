/* test_journal_reader.c - what is written reads back as itself, and what is torn, newer or nonsense is told. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/take.h"
#include "shutdown/journal_reader.h"
#include "tests/support/any_event.h"

#define SEEDS 400

Test(journal_reader, every_kind_reads_back_as_it_was_written) {
        static AnyEvent any;
        for (int kind = 0; kind < _EVENT_MAX; kind++)
                for (uint64_t seed = 0; seed < SEEDS; seed++) {
                        char line[EVENT_LINE_MAX];
                        _cleanup_(event_line_done) EventLine read = { 0 };
                        any_event_fill(&any, (EventKind)kind, seed);
                        size_t length = event_write(&any.event, line, sizeof line);
                        cr_assert_eq(event_line_read(line, length, &read), 0, "seed %lu: %.*s", (unsigned long)seed,
                                     (int)length, line);
                        const char *different = any_event_difference(&any.event, &read.event);
                        cr_assert_null(different, "seed %lu, %s: %.*s", (unsigned long)seed, different, (int)length,
                                       line);
                }
}

/* jansson refuses a line with a larger number; a service can say one in EXTEND_TIMEOUT_USEC. */
Test(journal_reader, a_number_that_is_too_large_stays_the_largest_there_is) {
        char line[EVENT_LINE_MAX];
        _cleanup_(event_line_done) EventLine read = { 0 };
        size_t length = event_write(&(Event){ .kind = EVENT_SERVICE_EXTENDED, .service = "web", .usec = UINT64_MAX },
                                    line, sizeof line);
        cr_assert_eq(event_line_read(line, length, &read), 0);
        cr_assert_eq(read.event.usec, INT64_MAX);
}

/* A crash or a full disk leaves the front of a line, of any length. */
Test(journal_reader, a_torn_line_is_told_from_a_whole_one_wherever_it_is_torn) {
        static AnyEvent any;
        for (int kind = 0; kind < _EVENT_MAX; kind++) {
                char line[EVENT_LINE_MAX];
                any_event_fill(&any, (EventKind)kind, 5);
                size_t length = event_write(&any.event, line, sizeof line);
                for (size_t torn = 0; torn < length - 1; torn++) { /* a line without its newline is whole */
                        EventLine read = { 0 };
                        cr_assert_eq(event_line_read(line, torn, &read), -EBADMSG, "%.*s", (int)torn, line);
                        cr_assert_null(read.root);
                }
        }
}

Test(journal_reader, nonsense_is_told_and_leaves_nothing_behind) {
        static const struct {
                const char *line;
                int answer;
        } cases[] = {
                { "", -EBADMSG },
                { "\n", -EBADMSG },
                { "null", -EBADMSG },
                { "[]", -EBADMSG },
                { "7", -EBADMSG },
                { "{}", -EBADMSG },
                { "{\"seq\":1}", -EBADMSG },
                { "{\"event\":7}", -EBADMSG },
                { "{\"event\":null}", -EBADMSG },
                { "{\"event\":\"service_ready\"} x", -EBADMSG },
                { "{\"event\":\"service_ready\",\"event\":\"service_gone\"}", -EBADMSG },
                { "{\"event\":\"service_ready\",\"usec\":99999999999999999999}", -EBADMSG },
                { "{\"event\":\"service_teleported\"}", -EOPNOTSUPP },
                { "{\"event\":\"\"}", -EOPNOTSUPP },
        };
        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                EventLine read = { 0 };
                cr_assert_eq(event_line_read(cases[i].line, strlen(cases[i].line), &read), cases[i].answer, "%s",
                             cases[i].line);
                cr_assert_null(read.root);
                cr_assert_null(read.lists);
        }
}

Test(journal_reader, what_a_newer_version_added_is_passed_over) {
        static const char line[] =
                "{\"seq\":3,\"mono_us\":4,\"time\":\"soon\",\"epoch\":2,\"weather\":{\"rain\":[1,2]},"
                "\"event\":\"service_gone\",\"service\":\"web\",\"instance\":2,\"mood\":\"calm\"}\n";
        _cleanup_(event_line_done) EventLine read = { 0 };
        cr_assert_eq(event_line_read(line, strlen(line), &read), 0);
        cr_assert_eq(read.event.kind, EVENT_SERVICE_GONE);
        cr_assert_eq(read.event.seq, 3);
        cr_assert_eq(read.event.epoch, 2);
        cr_assert_eq(read.event.wall_usec, 0);
        cr_assert_str_eq(read.event.service, "web");
        cr_assert_eq(read.event.instance, 2);
        cr_assert_null(read.event.owner);
        cr_assert_not(read.event.certain);
}

/* A journal can be edited by anybody who may write the directory. */
Test(journal_reader, a_field_of_another_type_is_as_good_as_absent) {
        static const char *const values[] = { "null", "true", "1", "-1", "1.5", "\"x\"", "[]", "[1,null,\"x\"]", "{}" };
        for (int kind = 0; kind < _EVENT_MAX; kind++)
                for (size_t i = 0; i < LENGTH_OF(values); i++) {
                        static char line[2 * EVENT_LINE_MAX];
                        _cleanup_(event_line_done) EventLine read = { 0 };
                        int n = snprintf(line, sizeof line,
                                         "{\"event\":\"%s\",\"seq\":%s,\"time\":%s,\"service\":%s,\"instance\":%s,"
                                         "\"phases\":%s,\"waiting_for\":%s,\"asked\":%s,\"status\":%s,\"code\":%s}",
                                         event_kind_to_string((EventKind)kind), values[i], values[i], values[i],
                                         values[i], values[i], values[i], values[i], values[i], values[i]);
                        cr_assert_eq(event_line_read(line, (size_t)n, &read), 0, "%s", line);
                        cr_assert_eq(read.event.kind, (EventKind)kind);
                }
}

Test(journal_reader, a_service_of_one_instance_is_named_without_a_number_where_that_is_known) {
        static const char line[] =
                "{\"seq\":1,\"event\":\"service_started\",\"service\":\"web\",\"instance\":1,\"pid\":2}";
        static const struct {
                const char *instances, *sentence;
        } rows[] = {
                { "{\"web\":1}", "web started (pid 2)" },
                { "{\"web\":2}", "web@1 started (pid 2)" },
                { "{\"other\":1}", "web@1 started (pid 2)" },
                { NULL, "web@1 started (pid 2)" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char text[SENTENCE_MAX];
                json_t *instances = rows[i].instances ? json_loads(rows[i].instances, 0, NULL) : NULL;
                event_line_sentence(line, sizeof line - 1, instances, text, NULL);
                cr_expect_str_eq(text, rows[i].sentence);
                json_decref(instances);
        }
}
