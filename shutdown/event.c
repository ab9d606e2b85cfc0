/* event.c - the table of events and the writer of their lines; see event.h. */
#include "shutdown/event.h"

#include "base/clock.h"
#include "base/enumeration.h"
#include "base/json.h"

/* Every field that a line can have: its word, its type, its place in Event. */
#define FIELDS(F)                                                                                                      \
        F(PID, "pid", SIGNED, pid)                                                                                     \
        F(VERSION, "version", TEXT, version)                                                                           \
        F(MODE, "mode", TEXT, mode)                                                                                    \
        F(CONFIG, "config", TEXT, config)                                                                              \
        F(CONFIG_DIGEST, "config_digest", TEXT, config_digest)                                                         \
        F(PID_NAMESPACE, "pid_namespace", BOOL, pid_namespace)                                                         \
        F(PHASES, "phases", LIST, phases)                                                                              \
        F(DEADLINE, "deadline_us", UINT64, deadline_usec)                                                              \
        F(EXIT_CODE_FROM, "exit_code_from", TEXT, exit_code_from)                                                      \
        F(SINGLE, "single", BOOL, single)                                                                              \
        F(REMAP, "remap", LIST, remap)                                                                                 \
        F(SERVICE, "service", TEXT, service)                                                                           \
        F(INSTANCE, "instance", UNSIGNED, instance)                                                                    \
        F(PHASE, "phase", TEXT, phase)                                                                                 \
        F(HOOK, "hook", TEXT, hook)                                                                                    \
        F(ON, "on", TEXT, on)                                                                                          \
        F(OWNER, "owner", TEXT, owner)                                                                                 \
        F(COMM, "comm", TEXT, comm)                                                                                    \
        F(ATTEMPT, "attempt", UNSIGNED, attempt)                                                                       \
        F(CODE_WORD, "code", TEXT, code_word)                                                                          \
        F(STATUS, "status", SIGNED, status)                                                                            \
        F(ERROR, "error", TEXT, error)                                                                                 \
        F(ASKED, "asked", BOOL, asked)                                                                                 \
        F(CLEAN, "clean", BOOL, clean)                                                                                 \
        F(ESCALATED, "escalated", BOOL, escalated)                                                                     \
        F(CERTAIN, "certain", BOOL, certain)                                                                           \
        F(ESSENTIAL, "essential", BOOL, essential)                                                                     \
        F(FAILURES, "failures", UNSIGNED, failures)                                                                    \
        F(CAUSE, "cause", TEXT, cause)                                                                                 \
        F(FAST, "fast", BOOL, fast)                                                                                    \
        F(SIGNAL, "signal", TEXT, signal)                                                                              \
        F(EFFECT, "effect", TEXT, effect)                                                                              \
        F(SENDER_PID, "sender_pid", SIGNED, sender_pid)                                                                \
        F(SENDER_UID, "sender_uid", UNSIGNED, sender_uid)                                                              \
        F(SENDER_COMM, "sender_comm", TEXT, sender_comm)                                                               \
        F(PROBE, "probe", TEXT, probe)                                                                                 \
        F(OK, "ok", BOOL, ok)                                                                                          \
        F(DETAIL, "detail", TEXT, detail)                                                                              \
        F(READY, "ready", BOOL, ready)                                                                                 \
        F(MEMBERS, "members", UNSIGNED, members)                                                                       \
        F(LIMIT, "limit_us", UINT64, limit_usec)                                                                       \
        F(GONE, "gone", UNSIGNED, gone)                                                                                \
        F(KILLED, "killed", UNSIGNED, killed)                                                                          \
        F(LEFT, "left", UNSIGNED, left)                                                                                \
        F(ACTIVE, "active", UNSIGNED, active)                                                                          \
        F(WAITING_FOR, "waiting_for", LIST, waiting_for)                                                               \
        F(TIMED_OUT, "timed_out", BOOL, timed_out)                                                                     \
        F(ABORT, "abort", BOOL, abort)                                                                                 \
        F(EDGE, "edge", TEXT, edge)                                                                                    \
        F(RC, "rc", SIGNED, rc)                                                                                        \
        F(TIMES, "times", UNSIGNED, times)                                                                             \
        F(FIRST, "first_us", UINT64, first_usec)                                                                       \
        F(AGAIN, "again_us", UINT64, again_usec)                                                                       \
        F(METHOD, "method", TEXT, method)                                                                              \
        F(PEER, "peer", TEXT, peer)                                                                                    \
        F(PEER_PID, "peer_pid", SIGNED, peer_pid)                                                                      \
        F(PEER_UID, "peer_uid", UNSIGNED, peer_uid)                                                                    \
        F(BY, "by", TEXT, by)                                                                                          \
        F(TEXT, "text", TEXT, text)                                                                                    \
        F(USEC, "usec", UINT64, usec)                                                                                  \
        F(DELAY, "delay_us", UINT64, delay_usec)                                                                       \
        F(TOOK, "took_us", UINT64, took_usec)                                                                          \
        F(MAX_RSS, "max_rss_kib", UINT64, max_rss_kib)                                                                 \
        F(CPU, "cpu_us", UINT64, cpu_usec)                                                                             \
        F(N, "n", UINT64, n)                                                                                           \
        F(RELEASED, "released", UINT64, released)                                                                      \
        F(BURIED, "buried", UINT64, buried)                                                                            \
        F(SESSIONS, "sessions", UINT64, sessions)                                                                      \
        F(CODE, "code", SIGNED, code)                                                                                  \
        F(REASON, "reason", TEXT, reason)                                                                              \
        F(HOOKS_FAILED, "hooks_failed", UNSIGNED, hooks_failed)                                                        \
        F(LEFT_OF_GRACE, "left_of_grace_us", INT64, left_of_grace_usec)

typedef enum FieldId {
#define F(id, word, type, member) FIELD_##id,
        FIELDS(F)
#undef F
                _FIELD_MAX,
} FieldId;

static const EventField fields[_FIELD_MAX] = {
#define F(id, word, type, member) [FIELD_##id] = { word, EVENT_FIELD_##type, offsetof(Event, member) },
        FIELDS(F)
#undef F
};

typedef struct EventSpec {
        char word[26];      /* as in EventField */
        uint8_t fields[14]; /* FieldId + 1, in the order of the line; 0 ends */
} EventSpec;

#define A(id)    FIELD_##id + 1
#define INSTANCE A(SERVICE), A(INSTANCE)
#define HOOKED   A(HOOK), A(ON), INSTANCE, A(PHASE)

static const EventSpec specs[_EVENT_MAX] = {
        /* The path last: it alone has no bound of ours, and what does not fit costs itself and what follows it. */
        [EVENT_SUPERVISOR_STARTED] = { "supervisor_started",
                                       { A(PID), A(VERSION), A(MODE), A(CONFIG_DIGEST), A(PID_NAMESPACE), A(PHASES),
                                         A(DEADLINE), A(EXIT_CODE_FROM), A(SINGLE), A(REMAP), A(CONFIG) } },
        [EVENT_STARTUP_PROGRESS] = { "startup_progress", { A(PHASE), A(LEFT), A(WAITING_FOR), A(DETAIL) } },
        [EVENT_STARTUP_FINISHED] = { "startup_finished", { A(TOOK) } },
        [EVENT_LOG_DROPPED] = { "log_dropped", { INSTANCE, A(N) } },
        [EVENT_CLIENT_DROPPED] = { "client_dropped", { A(PEER), A(REASON) } },
        [EVENT_SERVICE_STARTING] = { "service_starting", { INSTANCE, A(ATTEMPT) } },
        [EVENT_SERVICE_STARTED] = { "service_started", { INSTANCE, A(PID), A(OWNER), A(ATTEMPT), A(TOOK) } },
        [EVENT_SERVICE_READY] = { "service_ready", { INSTANCE, A(PID), A(OWNER), A(ATTEMPT), A(TOOK) } },
        [EVENT_SERVICE_EXITED] = { "service_exited",
                                   { INSTANCE, A(PID), A(OWNER), A(CODE_WORD), A(STATUS), A(CLEAN), A(ASKED),
                                     A(ESCALATED), A(ERROR), A(TOOK), A(MAX_RSS), A(CPU) } },
        [EVENT_SERVICE_GONE] = { "service_gone", { INSTANCE, A(OWNER), A(CAUSE), A(CERTAIN), A(KILLED), A(TOOK) } },
        [EVENT_SERVICE_RESTART_SCHEDULED] = { "service_restart_scheduled", { INSTANCE, A(DELAY), A(FAILURES) } },
        [EVENT_SERVICE_GAVE_UP] = { "service_gave_up", { INSTANCE, A(ESSENTIAL), A(FAILURES), A(REASON) } },
        [EVENT_SERVICE_STOPPED] = { "service_stopped", { INSTANCE } },
        [EVENT_SERVICE_STATUS] = { "service_status", { INSTANCE, A(TEXT) } },
        [EVENT_SERVICE_EXTENDED] = { "service_extended", { INSTANCE, A(USEC) } },
        [EVENT_SERVICE_SIGNALLED] = { "service_signalled", { INSTANCE, A(PID), A(COMM), A(SIGNAL), A(REASON) } },
        [EVENT_PROBE_CHANGED] = { "probe_changed", { INSTANCE, A(PID), A(PROBE), A(OK), A(DETAIL) } },
        [EVENT_WATCHDOG_EXPIRED] = { "watchdog_expired", { INSTANCE, A(PID), A(TEXT), A(USEC) } },
        [EVENT_SERVICE_ASKED] = { "service_asked", { INSTANCE, A(PID), A(COMM), A(SIGNAL), A(REASON) } },
        [EVENT_SERVICE_KILLED] = { "service_killed", { INSTANCE, A(PID), A(COMM), A(SIGNAL), A(REASON) } },
        [EVENT_SERVICE_LEFT] = { "service_left", { INSTANCE, A(PID), A(COMM), A(PROBE), A(REASON) } },
        [EVENT_DESCENDANTS_LEFT] = { "descendants_left", { INSTANCE, A(LEFT), A(OWNER) } },
        [EVENT_READINESS_CHANGED] = { "readiness_changed", { A(READY), A(REASON) } },
        [EVENT_READINESS_ACKNOWLEDGED] = { "readiness_acknowledged", { A(BY), A(TOOK) } },
        [EVENT_SIGNAL_RECEIVED] = { "signal_received",
                                    { A(SIGNAL), A(SENDER_PID), A(SENDER_UID), A(SENDER_COMM), A(EFFECT) } },
        [EVENT_ENDING_STARTED] = { "ending_started", { A(CAUSE), A(SERVICE), A(FAST), A(DEADLINE) } },
        [EVENT_PHASE_STARTED] = { "phase_started", { A(PHASE), A(MEMBERS), A(LIMIT) } },
        [EVENT_PHASE_FINISHED] = { "phase_finished", { A(PHASE), A(GONE), A(KILLED), A(LEFT), A(TOOK) } },
        [EVENT_DRAIN_PROGRESS] = { "drain_progress", { A(PHASE), A(LEFT), A(ACTIVE), A(WAITING_FOR) } },
        [EVENT_ORPHAN_ADOPTED] = { "orphan_adopted", { A(PID), A(COMM), INSTANCE } },
        [EVENT_ORPHAN_GONE] = { "orphan_gone", { A(PID), A(COMM), INSTANCE, A(CODE_WORD), A(STATUS) } },
        [EVENT_HOOK_STARTED] = { "hook_started", { HOOKED, A(ATTEMPT), A(PID) } },
        [EVENT_HOOK_FINISHED] = { "hook_finished",
                                  { HOOKED, A(ATTEMPT), A(PID), A(CODE_WORD), A(STATUS), A(ERROR), A(TIMED_OUT),
                                    A(ABORT), A(TOOK) } },
        [EVENT_HOOK_REFUSED] = { "hook_refused", { HOOKED, A(REASON), A(STATUS) } },
        [EVENT_HOOK_MARKED] = { "hook_marked", { A(HOOK), INSTANCE, A(EDGE), A(PID), A(RC) } },
        [EVENT_HOOK_REPEATED] = { "hook_repeated", { A(HOOK), INSTANCE, A(TIMES), A(FIRST), A(AGAIN) } },
        [EVENT_NOTIFY_REFUSED] = { "notify_refused", { INSTANCE, A(PID), A(REASON) } },
        [EVENT_REQUEST_RECEIVED] = { "request_received", { A(METHOD), A(PEER_PID), A(PEER_UID), A(DETAIL) } },
        [EVENT_RELOAD_FINISHED] = { "reload_finished", { A(N) } },
        [EVENT_REAPER_SETTLED] = { "reaper_settled", { A(OWNER), A(RELEASED), A(BURIED) } },
        [EVENT_DATABASE_QUIET] = { "database_quiet", { A(SESSIONS) } },
        [EVENT_SUPERVISOR_FAILED] = { "supervisor_failed", { A(TEXT), A(ERROR) } },
        [EVENT_ENDING_FINISHED] = { "ending_finished",
                                    { A(CODE), A(REASON), A(TOOK), A(KILLED), A(LEFT), A(HOOKS_FAILED), A(RELEASED),
                                      A(BURIED), A(SESSIONS), A(LEFT_OF_GRACE) } },
};

#undef HOOKED
#undef INSTANCE
#undef A

const char *event_kind_to_string(EventKind kind) {
        return (int)kind < 0 || kind >= _EVENT_MAX ? NULL : specs[kind].word;
}

int event_kind_from_string(const char *text) {
        for (int i = 0; i < _EVENT_MAX; i++)
                if (strcmp(specs[i].word, text) == 0)
                        return i;
        return -EINVAL;
}

void event_fields(EventKind kind, void (*each)(void *userdata, const EventField *field), void *userdata) {
        const EventSpec *spec = &specs[kind];
        for (size_t i = 0; i < sizeof spec->fields && spec->fields[i]; i++)
                each(userdata, &fields[spec->fields[i] - 1]);
}

static void write_list(Json *json, const char *key, const char *words) {
        json_open_array(json, key);
        while (words && *words) {
                size_t length = strcspn(words, " ");
                json_put_stringn(json, NULL, words, length);
                words += length + (words[length] == ' ');
        }
        json_close(json);
}

/* Readers hold JSON's whole numbers in 64 bits with a sign (jansson refuses the line otherwise), and some of ours come
 * from outside: EXTEND_TIMEOUT_USEC is whatever a service says. */
static uint64_t readable(uint64_t number) {
        return number > INT64_MAX ? INT64_MAX : number;
}

static void write_field(Json *json, const Event *event, const EventField *field) {
        const void *at = (const char *)event + field->offset;
        switch (field->type) {
        case EVENT_FIELD_TEXT: json_put_string(json, field->name, *(const char *const *)at); break;
        case EVENT_FIELD_LIST: write_list(json, field->name, *(const char *const *)at); break;
        case EVENT_FIELD_SIGNED: json_put_signed(json, field->name, *(const int *)at); break;
        case EVENT_FIELD_UNSIGNED: json_put_unsigned(json, field->name, *(const unsigned *)at); break;
        case EVENT_FIELD_INT64: json_put_signed(json, field->name, *(const int64_t *)at); break;
        case EVENT_FIELD_UINT64: json_put_unsigned(json, field->name, readable(*(const uint64_t *)at)); break;
        case EVENT_FIELD_BOOL: json_put_bool(json, field->name, *(const bool *)at); break;
        }
}

size_t event_write(const Event *event, char *buffer, size_t size) {
        char time[CLOCK_TEXT_MAX];
        clock_format_wall(event->wall_usec, time);

        Json json;
        json_init(&json, buffer, size - 1); /* the newline */
        json_open_object(&json, NULL);
        json_put_unsigned(&json, "seq", event->seq);
        json_put_unsigned(&json, "mono_us", event->mono_usec);
        json_put_string(&json, "time", time);
        json_put_unsigned(&json, "epoch", event->epoch);
        const EventSpec *spec = &specs[event->kind];
        json_put_string(&json, "event", spec->word);
        for (size_t i = 0; i < sizeof spec->fields && spec->fields[i]; i++)
                write_field(&json, event, &fields[spec->fields[i] - 1]);
        size_t length = json_finish(&json);
        buffer[length++] = '\n';
        return length;
}
