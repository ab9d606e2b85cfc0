/* test_event_text.c - every event has its sentence, and texts of strangers stay harmless. */
#include "base/take.h"
#include "shutdown/event.h"
#include "supervisor/event_text.h"
#include <criterion/criterion.h>
#include <string.h>

TestSuite(event_text, .timeout = 30);

static void expect(const char *line, const char *want) {
        char text[EVENT_TEXT_MAX];
        json_t *event = json_loads(line, 0, NULL);

        cr_assert(event, "%s", line);
        event_text(event, text, NULL);
        cr_expect_str_eq(text, want, "have `%s`\nwant `%s`", text, want);
        json_decref(event);
}

static void fill(void *userdata, const EventField *field) {
        char *at = (char *)userdata + field->offset;

        switch (field->type) {
        case EVENT_FIELD_TEXT:
        case EVENT_FIELD_LIST: *(const char **)at = "word"; break;
        case EVENT_FIELD_SIGNED:
        case EVENT_FIELD_UNSIGNED: *(int *)at = 1; break;
        case EVENT_FIELD_INT64:
        case EVENT_FIELD_UINT64: *(uint64_t *)at = 1; break;
        case EVENT_FIELD_BOOL: *(bool *)at = true; break;
        }
}

Test(event_text, every_event_has_a_sentence_with_and_without_its_fields) {
        char line[EVENT_LINE_MAX], text[EVENT_TEXT_MAX];

        for (EventKind kind = 0; kind < _EVENT_MAX; kind++)
                for (int full = 0; full < 2; full++) {
                        Event event = { .kind = kind };
                        if (full)
                                event_fields(kind, fill, &event);
                        size_t n = event_write(&event, line, sizeof line);
                        json_t *value = json_loadb(line, n, 0, NULL);
                        cr_assert(value);
                        event_text(value, text, NULL);
                        cr_expect(strlen(text) > 4, "%s: `%s`", event_kind_to_string(kind), text);
                        cr_expect_null(strpbrk(text, "{}[]"), "%s: `%s`", event_kind_to_string(kind), text);
                        cr_expect(strncmp(text, event_kind_to_string(kind), strlen(event_kind_to_string(kind))) != 0,
                                  "%s has no template", event_kind_to_string(kind));
                        json_decref(value);
                }
}

Test(event_text, sentences_read_as_such) {
        expect("{\"event\":\"service_exited\",\"service\":\"web\",\"instance\":2,\"pid\":7,\"code\":\"killed\","
               "\"status\":9,"
               "\"asked\":true,\"escalated\":true,\"took_us\":1500000}",
               "web@2, pid 7, was killed by SIGKILL, as asked, by our SIGKILL after 1.5 s");
        expect("{\"event\":\"service_exited\",\"service\":\"web\",\"instance\":2,\"code\":\"exited\",\"status\":0}",
               "web@2 exited with 0");
        expect("{\"event\":\"phase_finished\",\"phase\":\"workers\",\"gone\":56,\"killed\":0,\"left\":0,\"took_us\":"
               "211000}",
               "phase workers ended after 211 ms: 56 gone");
        expect("{\"event\":\"drain_progress\",\"phase\":\"workers\",\"left\":2,\"active\":0,\"waiting_for\":[\"w@3\","
               "\"w@7\"]}",
               "phase workers: 2 left, waiting for w@3, w@7");
        expect("{\"event\":\"readiness_changed\",\"ready\":false,\"reason\":\"ending\"}",
               "no longer ready to serve: ending");
        expect("{\"event\":\"ending_finished\",\"code\":0,\"reason\":\"\",\"took_us\":2000000,\"killed\":0}",
               "the ending is over: exit 0, after 2 s");
}

Test(event_text, an_event_of_a_later_version_is_shown_by_its_fields) {
        expect("{\"seq\":1,\"mono_us\":2,\"time\":\"x\",\"epoch\":0,\"event\":\"new_thing\",\"service\":\"web\",\"n\":"
               "3,"
               "\"ok\":true,\"list\":[\"a\",\"b\"]}",
               "new_thing service=web n=3 ok=yes list=a, b");
        expect("{}", "");
        expect("[]", "");
}

Test(event_text, a_text_of_a_service_cannot_move_the_cursor_or_begin_a_line) {
        expect("{\"event\":\"service_status\",\"service\":\"web\",\"text\":\"a\\u001b[2Jb\\nc {name} [x]\"}",
               "web says: a?[2Jb?c {name} [x]");
}

Test(event_text, a_text_that_is_too_long_is_cut_at_a_whole_character) {
        static char line[3 * EVENT_TEXT_MAX];
        char text[EVENT_TEXT_MAX];
        size_t n = (size_t)snprintf(line, sizeof line, "{\"event\":\"service_status\",\"service\":\"web\",\"text\":\"");

        for (size_t i = 0; i < EVENT_TEXT_MAX; i++, n += 2)
                memcpy(line + n, "ä", 2);
        strcpy(line + n, "\"}");
        json_t *event = json_loads(line, 0, NULL);
        event_text(event, text, NULL);
        cr_assert_leq(strlen(text), EVENT_TEXT_MAX - 1);
        cr_assert_geq(strlen(text), EVENT_TEXT_MAX - 2);
        cr_assert_str_eq(text + strlen(text) - 2, "ä");
        json_decref(event);
}
