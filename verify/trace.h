/* trace.h - what a run did: its effects in order, how it ended, what it left, and what the tracer could not see.
 *
 * A value that owns its parts. Goes from the keeper (the process inside a world) to the verifier as one JSON value. */
#pragma once
#include "base/json.h"
#include "base/usec.h"
#include "verify/effect.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum BlindSpot {
        BLIND_IO_URING,       /* io_uring_setup was refused with ENOSYS; a hook that needs it fails visibly */
        BLIND_SHARED_MAPPING, /* a writable MAP_SHARED mapping of a file: what is written there is no system call */
        BLIND_DAEMON,         /* talk with a process outside the world over a socket that the world does not record */
        BLIND_SETUID,         /* exec of a set-user-ID or file-capability program: without its rights here */
        BLIND_PTRACE,         /* the hook itself traces, or is under a filter that forbids ours */
        _BLIND_SPOT_MAX
} BlindSpot;

const char *blind_spot_to_string(BlindSpot spot);

/* How a command of a run ended. */
typedef struct Answer {
        bool ran;       /* it was started; else nothing below means anything */
        bool timed_out; /* it and its tree were killed at the limit */
        bool killed;    /* by the action of the run: no answer of its own */
        int code;       /* exit code; 128 + n when signal n killed it, as a shell says it */
        char *output;   /* standard output, at most ANSWER_OUTPUT_MAX bytes, NUL after it; never NULL once it ran */
        size_t n_output;
        bool output_cut; /* there was more */
        char *complaint; /* standard error, same bounds */
        size_t n_complaint;
} Answer;

#define ANSWER_OUTPUT_MAX ((size_t)64 * 1024)

typedef struct Trace {
        Effect *effects;
        size_t n_effects;
        bool effects_cut; /* more than TRACE_EFFECTS_MAX: counted in n_seen only */
        size_t n_seen;
        bool reached;         /* the effect that the action was for came */
        bool blocked;         /* HOLD: the second command did not end while the first was held, so both were let go */
        Answer first, second; /* second: only with HOLD */
        char **left;          /* processes that outlived the command: "4242 sleep 300"; killed when the run is over */
        size_t n_left;
        char **listeners; /* sockets still listening: "tcp 127.0.0.1:8080", "unix /run/x.sock" */
        size_t n_listeners;
        char *blind[_BLIND_SPOT_MAX]; /* NULL: not met; else what was seen, for people */
        usec_t took_usec;
} Trace;

#define TRACE_EFFECTS_MAX 20000

void trace_done(Trace *trace); /* gives back the parts and zeroes */

/* Bytes that are not UTF-8 go through as base64 in "output64"/"complaint64". 0 or -ENOMEM. */
int trace_to_json(const Trace *trace, json_t **ret);
int trace_from_json(const json_t *value, Trace *ret); /* -EBADMSG: not what trace_to_json() makes */
