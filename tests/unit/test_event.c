/* test_event.c - the lines of the journal: whole, bounded, and with every field of their kind. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/take.h"
#include "shutdown/event.h"
#include "tests/support/any_event.h"

static const char *write_line(const Event *event, char line[static EVENT_LINE_MAX + 1]) {
        size_t length = event_write(event, line, EVENT_LINE_MAX);
        cr_assert_leq(length, EVENT_LINE_MAX);
        line[length] = '\0';
        return line;
}

Test(event, each_word_goes_there_and_back) {
        for (int kind = 0; kind < _EVENT_MAX; kind++) {
                cr_assert_not_null(event_kind_to_string((EventKind)kind), "%d", kind);
                cr_assert_eq(event_kind_from_string(event_kind_to_string((EventKind)kind)), kind);
        }
        cr_assert_eq(event_kind_from_string("service_teleported"), -EINVAL);
        cr_assert_eq(event_kind_from_string(""), -EINVAL);
        cr_assert_null(event_kind_to_string(_EVENT_MAX));
}

Test(event, a_line_begins_with_what_every_line_has) {
        char line[EVENT_LINE_MAX + 1];
        Event event = { .kind = EVENT_STARTUP_FINISHED,
                        .seq = 7,
                        .mono_usec = 1500000,
                        .wall_usec = UINT64_C(1795551240123456),
                        .epoch = 1,
                        .took_usec = 42 };
        cr_assert_str_eq(write_line(&event, line),
                         "{\"seq\":7,\"mono_us\":1500000,\"time\":\"2026-11-24T20:14:00.123456Z\",\"epoch\":1,"
                         "\"event\":\"startup_finished\",\"took_us\":42}\n");
}

Test(event, a_list_is_an_array_and_nobody_is_null) {
        char line[EVENT_LINE_MAX + 1];
        write_line(&(Event){ .kind = EVENT_DRAIN_PROGRESS, .phase = "http", .left = 2, .waiting_for = "web@1 web@2" },
                   line);
        cr_assert_not_null(strstr(line, "\"waiting_for\":[\"web@1\",\"web@2\"]"), "%s", line);
        write_line(&(Event){ .kind = EVENT_DRAIN_PROGRESS, .phase = NULL, .waiting_for = NULL }, line);
        cr_assert_not_null(strstr(line, "\"waiting_for\":[]"), "%s", line);
        cr_assert_not_null(strstr(line, "\"phase\":null"), "%s", line);
}

typedef struct Seen {
        const char *line;
        EventKind kind;
        unsigned n;
} Seen;

static void must_stand(void *userdata, const EventField *field) {
        Seen *seen = userdata;
        char key[64];
        snprintf(key, sizeof key, "\"%s\":", field->name);
        cr_assert_not_null(strstr(seen->line, key), "%s has no %s: %s", event_kind_to_string(seen->kind), key,
                           seen->line);
        seen->n++;
}

Test(event, every_kind_writes_every_field_it_has) {
        static AnyEvent any;
        for (int kind = 0; kind < _EVENT_MAX; kind++) {
                char line[EVENT_LINE_MAX + 1];
                any_event_fill(&any, (EventKind)kind, (uint64_t)kind);
                Seen seen = { .line = write_line(&any.event, line), .kind = (EventKind)kind };
                event_fields((EventKind)kind, must_stand, &seen);
                cr_assert_gt(seen.n, 0, "%s says nothing", event_kind_to_string((EventKind)kind));
        }
}

/* What others were promised: names never change. A field that a kind loses is missed here. */
static const struct {
        const char *kind, *fields;
} promised[] = {
        { "supervisor_started", "pid version mode config config_digest pid_namespace phases deadline_us" },
        { "startup_finished", "took_us" },
        { "log_dropped", "service instance n" },
        { "client_dropped", "peer reason" },
        { "service_starting", "service instance attempt" },
        { "service_started", "service instance pid owner attempt took_us" },
        { "service_ready", "service instance pid owner attempt took_us" },
        { "service_exited", "service instance pid owner code status asked escalated took_us max_rss_kib cpu_us" },
        { "service_gone", "service instance owner cause certain killed took_us" },
        { "service_restart_scheduled", "service instance delay_us failures" },
        { "service_gave_up", "service instance failures" },
        { "service_stopped", "service instance" },
        { "service_status", "service instance text" },
        { "service_extended", "service instance usec" },
        { "service_signalled", "service instance pid signal reason" },
        { "probe_changed", "service instance probe ok detail" },
        { "watchdog_expired", "service instance text usec" },
        { "service_asked", "service instance pid signal reason" },
        { "service_killed", "service instance pid signal reason" },
        { "service_left", "service instance pid reason" },
        { "descendants_left", "service instance left" },
        { "readiness_changed", "ready reason" },
        { "readiness_acknowledged", "by took_us" },
        { "signal_received", "signal sender_pid sender_uid sender_comm effect" },
        { "ending_started", "cause fast deadline_us" },
        { "phase_started", "phase members limit_us" },
        { "phase_finished", "phase gone killed left took_us" },
        { "drain_progress", "phase left active waiting_for" },
        { "startup_progress", "phase left waiting_for detail" },
        { "orphan_adopted", "pid comm service" },
        { "orphan_gone", "pid comm service" },
        { "hook_started", "hook on service phase pid" },
        { "hook_finished", "hook on service phase pid code status timed_out took_us" },
        { "hook_refused", "hook reason" },
        { "hook_marked", "hook edge pid rc" },
        { "hook_repeated", "hook times first_us again_us" },
        { "notify_refused", "service pid reason" },
        { "request_received", "method peer_pid peer_uid detail" },
        { "reload_finished", "n" },
        { "reaper_settled", "owner released buried" },
        { "database_quiet", "sessions" },
        { "supervisor_failed", "text error" },
        { "ending_finished", "code reason took_us killed left hooks_failed left_of_grace_us" },
};

typedef struct Wanted {
        const char *name;
        size_t length;
        bool found;
} Wanted;

static void find(void *userdata, const EventField *field) {
        Wanted *wanted = userdata;
        wanted->found |=
                strlen(field->name) == wanted->length && memcmp(field->name, wanted->name, wanted->length) == 0;
}

Test(event, each_kind_has_the_fields_that_were_promised) {
        cr_assert_eq(LENGTH_OF(promised), _EVENT_MAX, "a new kind: promise its fields here, too");
        for (size_t i = 0; i < LENGTH_OF(promised); i++) {
                int kind = event_kind_from_string(promised[i].kind);
                cr_assert_geq(kind, 0, "%s", promised[i].kind);
                for (const char *at = promised[i].fields; *at; at += strspn(at, " ")) {
                        Wanted wanted = { .name = at, .length = strcspn(at, " ") };
                        event_fields((EventKind)kind, find, &wanted);
                        cr_assert(wanted.found, "%s has no %.*s", promised[i].kind, (int)wanted.length, at);
                        at += wanted.length;
                }
        }
}

/* A reader splits at newlines: a text must not be able to forge a line. */
Test(event, one_event_is_one_line_whatever_it_says) {
        static AnyEvent any;
        for (int kind = 0; kind < _EVENT_MAX; kind++)
                for (uint64_t seed = 0; seed < 50; seed++) {
                        char line[EVENT_LINE_MAX + 1];
                        any_event_fill(&any, (EventKind)kind, seed);
                        any_event_set_texts(&any, (EventKind)kind, "a\n{\"seq\":1}\n");
                        write_line(&any.event, line);
                        cr_assert_eq(strchr(line, '\n'), line + strlen(line) - 1, "%s", line);
                }
}

Test(event, text_without_end_never_breaks_a_line) {
        static AnyEvent any;
        static char endless[2 * EVENT_LINE_MAX];
        static const char letters[] = { 'x', '\x01', '"', '\xff', '\xc3' };
        for (size_t i = 0; i < LENGTH_OF(letters); i++)
                for (int kind = 0; kind < _EVENT_MAX; kind++) {
                        char line[EVENT_LINE_MAX + 1];
                        memset(endless, letters[i], sizeof endless - 1);
                        any_event_fill(&any, (EventKind)kind, i);
                        any_event_set_texts(&any, (EventKind)kind, endless);
                        write_line(&any.event, line);
                        cr_assert_str_eq(line + strlen(line) - 2, "}\n");
                }
}

/* The verdict reads them: a configuration somewhere deep must not change the exit code that a journal proves. */
Test(event, a_path_without_end_costs_nothing_but_itself) {
        static char path[4096];
        char line[EVENT_LINE_MAX + 1], remap[1024] = "", phases[16 * 41] = "";
        memset(path, '\x01', sizeof path - 1);
        for (unsigned code = 0; code < 256; code++)
                snprintf(remap + strlen(remap), sizeof remap - strlen(remap), "%s%u", code ? " " : "", code);
        for (unsigned i = 0; i < 16; i++)
                snprintf(phases + strlen(phases), sizeof phases - strlen(phases), "%s%040u", i ? " " : "", i);
        write_line(&(Event){ .kind = EVENT_SUPERVISOR_STARTED,
                             .seq = UINT64_MAX,
                             .mono_usec = UINT64_MAX / 2,
                             .wall_usec = UINT64_MAX,
                             .epoch = UINT32_MAX,
                             .pid = INT32_MAX,
                             .version = "100.100.100",
                             .mode = "development",
                             .config = path,
                             .config_digest = "0123456789abcdef",
                             .phases = phases,
                             .deadline_usec = UINT64_MAX,
                             .exit_code_from = "0123456789012345678901234567890123456789",
                             .single = true,
                             .remap = remap },
                   line);
        cr_assert_not_null(strstr(line, "\"254\",\"255\"]"), "%s", line);
        cr_assert_not_null(strstr(line, "\"exit_code_from\":\"0123456789012345678901234567890123456789\""));
        cr_assert_not_null(strstr(line, "\"single\":true"));
        cr_assert_null(strstr(line, "\"config\":"));
}
