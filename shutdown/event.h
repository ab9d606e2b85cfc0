/* event.h - the events of the journal as values, and their one table of names and fields.
 *
 * Pure. event_write() and event_read() (journal_reader.c) use the same table, so that what is written reads back as
 * itself. Text fields point to memory of the caller that must live only during the call. A list is its words with
 * single blanks between them. Source: contracts/events.md. */
#pragma once
#include "base/enumeration.h"
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum EventKind {
        EVENT_SUPERVISOR_STARTED,
        EVENT_STARTUP_PROGRESS,
        EVENT_STARTUP_FINISHED,
        EVENT_LOG_DROPPED,
        EVENT_CLIENT_DROPPED,
        EVENT_SERVICE_STARTING,
        EVENT_SERVICE_STARTED,
        EVENT_SERVICE_READY,
        EVENT_SERVICE_EXITED,
        EVENT_SERVICE_GONE,
        EVENT_SERVICE_RESTART_SCHEDULED,
        EVENT_SERVICE_GAVE_UP,
        EVENT_SERVICE_STOPPED, /* by a person, until a person starts it */
        EVENT_SERVICE_STATUS,
        EVENT_SERVICE_EXTENDED,
        EVENT_SERVICE_SIGNALLED, /* with a signal that does not ask it to end */
        EVENT_PROBE_CHANGED,
        EVENT_WATCHDOG_EXPIRED,
        EVENT_SERVICE_ASKED,
        EVENT_SERVICE_KILLED,
        EVENT_SERVICE_LEFT,     /* outlived SIGKILL or the deadline: given up */
        EVENT_DESCENDANTS_LEFT, /* KillMode=process: lives on, as configured */
        EVENT_READINESS_CHANGED,
        EVENT_READINESS_ACKNOWLEDGED,
        EVENT_SIGNAL_RECEIVED,
        EVENT_ENDING_STARTED,
        EVENT_PHASE_STARTED,
        EVENT_PHASE_FINISHED,
        EVENT_DRAIN_PROGRESS,
        EVENT_ORPHAN_ADOPTED,
        EVENT_ORPHAN_GONE,
        EVENT_HOOK_STARTED,
        EVENT_HOOK_FINISHED,
        EVENT_HOOK_REFUSED,
        EVENT_HOOK_MARKED,
        EVENT_HOOK_REPEATED,
        EVENT_NOTIFY_REFUSED,
        EVENT_REQUEST_RECEIVED,
        EVENT_RELOAD_FINISHED,
        EVENT_REAPER_SETTLED,
        EVENT_DATABASE_QUIET,
        EVENT_SUPERVISOR_FAILED, /* endwell's own fault */
        EVENT_ENDING_FINISHED,
        _EVENT_MAX,
} EventKind;

typedef struct Event {
        EventKind kind;
        unsigned epoch;
        uint64_t seq;
        usec_t mono_usec, wall_usec;

        const char *service, *phase, *hook, *owner, *comm;
        unsigned instance;
        unsigned instances; /* of the service; not in the line, only for a sentence: 0 is unknown */
        pid_t pid;
        const char *version, *mode, *config, *config_digest, *phases, *exit_code_from, *remap;
        bool pid_namespace, single;
        usec_t deadline_usec;
        const char *code_word; /* exited, killed, dumped */
        int status;            /* exit status or signal number */
        const char *error;     /* the step that failed before exec, and why */
        bool asked, clean, escalated, certain, essential;
        uint64_t max_rss_kib;
        usec_t cpu_usec, took_usec, delay_usec, usec, limit_usec, first_usec, again_usec;
        const char *probe, *detail; /* startup, liveness, readiness; HTTP 503 */
        const char *cause, *reason, *text, *signal, *edge, *on, *by, *effect, *method, *peer, *waiting_for,
                *sender_comm;
        unsigned attempt, failures, members, gone, killed, left, active, times, hooks_failed;
        pid_t sender_pid, peer_pid;
        uid_t sender_uid, peer_uid;
        bool ready, ok, fast, timed_out, abort;
        int rc, code;
        uint64_t n, released, buried, sessions;
        int64_t left_of_grace_usec;
} Event;

const char *event_kind_to_string(EventKind kind);
int event_kind_from_string(const char *text); /* -EINVAL: not ours, or newer than we are */

#define EVENT_LINE_MAX 4096

/* One line with its newline into `buffer` (EVENT_LINE_MAX is always enough: text that does not fit is left out whole).
 * Returns the length. */
size_t event_write(const Event *event, char *buffer, size_t size);

/* The fields of a kind, for the reader, the tests and the manual. */
typedef enum _one_byte_ EventFieldType {
        EVENT_FIELD_TEXT,
        EVENT_FIELD_LIST,
        EVENT_FIELD_SIGNED,
        EVENT_FIELD_UNSIGNED,
        EVENT_FIELD_INT64,
        EVENT_FIELD_UINT64,
        EVENT_FIELD_BOOL,
} EventFieldType;

/* The letters and not a pointer to them: the dynamic linker would write each pointer, and PID 1 keep the pages. */
typedef struct EventField {
        char name[21];
        EventFieldType type;
        uint16_t offset; /* in Event */
} EventField;

/* Calls `each` for every field of `kind` in the order of the line. */
void event_fields(EventKind kind, void (*each)(void *userdata, const EventField *field), void *userdata);
