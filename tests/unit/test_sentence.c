/* test_sentence.c - each event is a sentence for people: whole, bounded, never "(null)", and as loud as it deserves. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/take.h"
#include "shutdown/sentence.h"
#include "tests/support/any_event.h"

static void must_be_a_sentence(const Event *event) {
        char text[SENTENCE_MAX + 1];
        memset(text, '#', sizeof text);
        cr_assert_eq(sentence_write(event, text), text);
        const char *kind = event_kind_to_string(event->kind);
        cr_assert_eq(text[SENTENCE_MAX], '#', "%s writes beyond its end", kind);
        cr_assert_lt(strnlen(text, SENTENCE_MAX), SENTENCE_MAX, "%s has no end", kind);
        cr_assert_gt(strlen(text), 5, "%s says nothing", kind);
        cr_assert_null(strstr(text, "(null)"), "%s: %s", kind, text);
        cr_assert_null(strstr(text, "  "), "%s: %s", kind, text);
}

Test(sentence, every_kind_says_something_even_when_nothing_is_known) {
        for (int kind = 0; kind < _EVENT_MAX; kind++) {
                Event event = { .kind = (EventKind)kind };
                must_be_a_sentence(&event);
                event.service = "web";
                must_be_a_sentence(&event);
        }
}

static void each_flag(Event *event) {
        bool *const flags[] = { &event->asked, &event->clean,     &event->certain, &event->essential,
                                &event->ready, &event->timed_out, &event->fast };
        for (unsigned set = 0; set < 1U << LENGTH_OF(flags); set++) {
                for (size_t i = 0; i < LENGTH_OF(flags); i++)
                        *flags[i] = set >> i & 1;
                must_be_a_sentence(event);
        }
}

Test(sentence, every_kind_is_a_sentence_whatever_its_flags_are) {
        for (int kind = 0; kind < _EVENT_MAX; kind++) {
                Event event = { .kind = (EventKind)kind,
                                .service = "web",
                                .instance = 2,
                                .phase = "http",
                                .hook = "flush",
                                .on = "pre-stop",
                                .comm = "node",
                                .code_word = "killed",
                                .status = 9,
                                .pid = 12,
                                .left = 1,
                                .killed = 1,
                                .active = 3 };
                each_flag(&event);
        }
}

Test(sentence, a_hook_by_http_has_no_process_to_name) {
        char text[SENTENCE_MAX];
        Event event = {
                .kind = EVENT_HOOK_STARTED, .hook = "drain", .on = "pre-stop", .service = "web", .instances = 1
        };
        cr_assert_str_eq(sentence_write(&event, text), "hook drain (pre-stop of web) began");
        Event failed = { .kind = EVENT_HOOK_FINISHED,
                         .hook = "drain",
                         .on = "pre-stop",
                         .service = "web",
                         .instances = 1,
                         .code_word = "exited",
                         .status = 1,
                         .error = "HTTP 500" };
        cr_assert_str_eq(sentence_write(&failed, text), "hook drain (pre-stop of web) failed: HTTP 500");
        failed.pid = 12;
        failed.error = "exec x: No such file or directory";
        cr_assert_not_null(strstr(sentence_write(&failed, text), " could not be started: exec x"));
        event.pid = 12;
        cr_assert_str_eq(sentence_write(&event, text), "hook drain (pre-stop of web) began (pid 12)");
}

Test(sentence, text_without_end_is_cut_within_the_bound) {
        static AnyEvent any;
        static char endless[4 * SENTENCE_MAX];
        memset(endless, 'x', sizeof endless - 1);
        for (int kind = 0; kind < _EVENT_MAX; kind++) {
                any_event_fill(&any, (EventKind)kind, 3);
                any_event_set_texts(&any, (EventKind)kind, endless);
                must_be_a_sentence(&any.event);
        }
}

static const struct {
        Event event;
        const char *text;
        LogLevel level;
} rows[] = {
        { { .kind = EVENT_SUPERVISOR_STARTED,
            .version = "0.1.0",
            .pid = 1,
            .pid_namespace = true,
            .mode = "production",
            .config = "/etc/endwell.ini" },
          "endwell 0.1.0 started as PID 1, production, /etc/endwell.ini",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_SUPERVISOR_STARTED, .version = "0.1.0", .pid = 77, .mode = "production" },
          "endwell 0.1.0 started as a subreaper, pid 77, production, a single command",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_SERVICE_STARTED, .service = "web", .instance = 2, .pid = 9 },
          "web@2 started (pid 9)",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_SERVICE_STARTED, .service = "web", .instance = 1, .instances = 1, .pid = 9 },
          "web started (pid 9)",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_SERVICE_READY, .service = "web", .instance = 2, .took_usec = 211000 },
          "web@2 is ready after 211 ms",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_SERVICE_EXITED, .service = "web", .code_word = "exited", .status = 1, .took_usec = 1500000 },
          "web exited with 1 after 1.5 s",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_SERVICE_EXITED,
            .service = "web",
            .code_word = "exited",
            .status = 0,
            .clean = true,
            .asked = true,
            .took_usec = 1500000 },
          "web exited with 0, as asked; it had run for 1.5 s",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_SERVICE_EXITED,
            .service = "web",
            .code_word = "killed",
            .status = 15,
            .clean = true,
            .asked = true,
            .took_usec = 1500000 },
          "web was ended by SIGTERM, as asked; it had run for 1.5 s",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_SERVICE_EXITED,
            .service = "web",
            .code_word = "killed",
            .status = 9,
            .asked = true,
            .escalated = true,
            .took_usec = 1500000 },
          "web was killed by SIGKILL, at its limit; it had run for 1.5 s",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_SERVICE_EXITED, .service = "web", .code_word = "dumped", .status = 11, .took_usec = 1500000 },
          "web was killed by SIGSEGV (core dumped) after 1.5 s",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_SERVICE_EXITED,
            .service = "web",
            .error = "exec: No such file or directory",
            .took_usec = 0 },
          "web could not be started: exec: No such file or directory",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_SERVICE_GAVE_UP, .service = "db", .failures = 5, .reason = "start-limit", .essential = true },
          "db failed for good: start-limit, 5 failed in a row; it is essential",
          LOG_LEVEL_ERR },
        { { .kind = EVENT_SERVICE_KILLED,
            .service = "web",
            .instance = 2,
            .pid = 9,
            .comm = "node",
            .reason = "limit" },
          "web@2 (node, pid 9) was killed: limit",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_SERVICE_KILLED, .service = "web", .pid = 9, .comm = "node", .reason = "drained" },
          "web (node, pid 9) was ended: it had drained",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_SERVICE_EXITED, .service = "web", .code_word = "exited", .took_usec = 3000 },
          "web exited with 0 before it was ready, after 3 ms",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_SERVICE_EXITED, .service = "web", .code_word = "exited", .clean = true, .took_usec = 3000 },
          "web exited with 0 after 3 ms",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_DESCENDANTS_LEFT, .service = "web", .left = 1 },
          "web left 1 descendant (KillMode=process)",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_SERVICE_KILLED, .pid = 9, .comm = "node", .reason = "phase_limit" },
          "an orphan of nobody we know (node, pid 9) was killed: at the limit of its phase",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_SERVICE_ASKED, .service = "web", .pid = 9, .signal = "SIGABRT", .reason = "watchdog" },
          "web (pid 9) was asked to end by SIGABRT (its watchdog expired)",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_SERVICE_SIGNALLED, .service = "web", .pid = 9, .signal = "SIGHUP", .reason = "reload" },
          "web (pid 9) was sent SIGHUP (reload)",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_PROBE_CHANGED, .service = "web", .probe = "readiness", .detail = "HTTP 503" },
          "web: the readiness probe fails: HTTP 503",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_PROBE_CHANGED, .service = "web", .probe = "startup", .ok = true },
          "web: the start-up probe succeeds",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_WATCHDOG_EXPIRED, .service = "web", .usec = 30 * USEC_PER_SEC },
          "web gave no sign of life for 30 s",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_WATCHDOG_EXPIRED, .service = "web", .text = "WATCHDOG=trigger" },
          "web asked for its watchdog's action: WATCHDOG=trigger",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_SERVICE_LEFT, .service = "web", .probe = "liveness", .reason = "outlived SIGKILL" },
          "web: a check of its liveness probe was given up: outlived SIGKILL",
          LOG_LEVEL_ERR },
        { { .kind = EVENT_RELOAD_FINISHED, .n = 3 }, "reload finished: 3 told by their signal", LOG_LEVEL_INFO },
        { { .kind = EVENT_ORPHAN_ADOPTED, .pid = 9, .comm = "node" },
          "an orphan of nobody we know (node, pid 9) was adopted",
          LOG_LEVEL_DEBUG },
        { { .kind = EVENT_ORPHAN_GONE, .service = "web", .pid = 9, .comm = "node" },
          "web: its orphan (node, pid 9) is gone",
          LOG_LEVEL_DEBUG },
        { { .kind = EVENT_READINESS_CHANGED, .ready = false, .reason = "ending" },
          "not ready: ending",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_SIGNAL_RECEIVED, .signal = "SIGTERM", .effect = "ending_begins" },
          "SIGTERM received from outside: the ending begins",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_SIGNAL_RECEIVED,
            .signal = "SIGTERM",
            .sender_pid = 8,
            .sender_uid = 1000,
            .sender_comm = "bash",
            .effect = "recorded" },
          "SIGTERM received from pid 8 (bash, uid 1000): recorded, and changes nothing",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_PHASE_STARTED, .phase = "workers", .members = 56, .limit_usec = 20 * USEC_PER_SEC },
          "phase workers is ending: 56 to stop, in at most 20 s",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_PHASE_FINISHED, .phase = "workers", .gone = 56, .took_usec = 211000 },
          "phase workers ended: 56/56 drained in 211 ms, nobody killed",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_PHASE_FINISHED,
            .phase = "workers",
            .gone = 55,
            .killed = 3,
            .left = 1,
            .took_usec = 20 * USEC_PER_SEC },
          "phase workers ended: 52/56 drained in 20 s, 3 had to be killed, 1 left",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_STARTUP_PROGRESS,
            .phase = "http",
            .left = 2,
            .waiting_for = "web db",
            .detail = "web (readiness probe: HTTP 503), db" },
          "still waiting for web (readiness probe: HTTP 503), db",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_DRAIN_PROGRESS, .phase = "http", .left = 2, .waiting_for = "web@1 web@2", .active = 7 },
          "phase http waits for 2: web@1 web@2 (7 active)",
          LOG_LEVEL_INFO },
        { { .kind = EVENT_HOOK_FINISHED,
            .hook = "flush",
            .on = "pre-stop",
            .service = "web",
            .instance = 2,
            .code_word = "exited",
            .status = 1,
            .took_usec = 3000 },
          "hook flush (pre-stop of web@2) exited with 1 after 3 ms",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_HOOK_FINISHED,
            .hook = "flush",
            .on = "end",
            .phase = "db",
            .timed_out = true,
            .took_usec = 5 * USEC_PER_SEC },
          "hook flush (end of phase db) was cut at its limit after 5 s",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_ENDING_FINISHED, .code = 0, .reason = "a clean ending", .took_usec = 2 * USEC_PER_SEC },
          "ended in 2 s: exit 0, a clean ending",
          LOG_LEVEL_NOTICE },
        { { .kind = EVENT_ENDING_FINISHED,
            .code = 81,
            .reason = "web had to be killed",
            .took_usec = 2 * USEC_PER_SEC },
          "ended in 2 s: exit 81, web had to be killed",
          LOG_LEVEL_WARNING },
        { { .kind = EVENT_ENDING_FINISHED,
            .reason = "a clean ending",
            .took_usec = 2 * USEC_PER_SEC,
            .released = 3,
            .buried = 1,
            .sessions = 1 },
          "ended in 2 s: exit 0, a clean ending; the reaper gave back 3 jobs and buried 1; 1 session of ours still in "
          "the database",
          LOG_LEVEL_NOTICE },
};

Test(sentence, events_read_as_people_write) {
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char text[SENTENCE_MAX];
                cr_expect_str_eq(sentence_write(&rows[i].event, text), rows[i].text);
                cr_expect_eq(sentence_level(&rows[i].event), rows[i].level, "%s: %s", rows[i].text,
                             log_level_to_string(sentence_level(&rows[i].event)));
        }
}

/* Whoever runs with LogLevel=warning must still hear that something went wrong. */
Test(sentence, what_went_wrong_is_never_quieter_than_a_warning) {
        static const EventKind wrong[] = {
                EVENT_LOG_DROPPED,      EVENT_CLIENT_DROPPED, EVENT_SERVICE_RESTART_SCHEDULED, EVENT_SERVICE_GAVE_UP,
                EVENT_SERVICE_KILLED,   EVENT_SERVICE_LEFT,   EVENT_DESCENDANTS_LEFT,          EVENT_HOOK_REFUSED,
                EVENT_HOOK_REPEATED,    EVENT_NOTIFY_REFUSED, EVENT_SUPERVISOR_FAILED,         EVENT_PROBE_CHANGED,
                EVENT_WATCHDOG_EXPIRED,
        };
        for (size_t i = 0; i < LENGTH_OF(wrong); i++)
                cr_assert_leq(sentence_level(&(Event){ .kind = wrong[i] }), LOG_LEVEL_WARNING, "%s",
                              event_kind_to_string(wrong[i]));
}
