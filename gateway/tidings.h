/* tidings.h - a line from PID 1's control socket as what it means to the gateway.
 *
 * An event is its name and the fields of which the gateway makes something; what an event does not have is empty or 0.
 * Words that are too long are cut. Reads with jansson; keeps nothing. */
#pragma once
#include "base/names.h"
#include "base/usec.h"
#include "gateway/snapshot.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIDINGS_PHASES_MAX 16
#define TIDINGS_EVENT_MAX  32
#define TIDINGS_REASON_MAX 160

typedef enum TidingsKind {
        TIDINGS_EVENT,
        TIDINGS_SUBSCRIBED, /* `newest`: the last event there is so far */
        TIDINGS_STATUS,     /* `status`, which is the caller's to free */
        TIDINGS_ANSWER,     /* to a report */
        TIDINGS_REFUSED,    /* `reason` */
        _TIDINGS_MAX,
} TidingsKind;

typedef struct Tidings {
        TidingsKind kind;
        uint64_t seq, newest, epoch;
        usec_t mono_usec, took_usec, limit_usec, deadline_usec;
        uint64_t n, released, buried;
        unsigned attempt, members, gone, killed, left;
        bool ready, ok, timed_out;
        bool failed; /* of a hook: by its own end */
        int code;
        char event[TIDINGS_EVENT_MAX];
        char service[NAME_LENGTH_MAX + 1], phase[NAME_LENGTH_MAX + 1], hook[NAME_LENGTH_MAX + 1];
        char cause[NAME_LENGTH_MAX + 1], effect[NAME_LENGTH_MAX + 1];
        char reason[TIDINGS_REASON_MAX];
        char phases[TIDINGS_PHASES_MAX][NAME_LENGTH_MAX + 1];
        unsigned n_phases;
        Snapshot *status;
} Tidings;

const char *tidings_kind_to_string(TidingsKind kind);
int tidings_kind_from_string(const char *text);

/* 0; -EBADMSG: no JSON, or neither an event nor an answer; -ENOMEM. `line` without its newline. */
int tidings_read(const char *line, size_t length, Tidings *ret);
