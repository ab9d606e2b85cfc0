/* stream.h - the output of one run of a service: from its pipe to its target, in order, unchanged or as a scribe writes
 * it, looked at on the way.
 *
 * Unchanged output is read only when everything read before was passed on and matched, so a target that takes nothing,
 * or a PID 1 that does not hear marks, holds up this service (as it would have been held up without us) and no other.
 * What a scribe writes may wait in its backlog; when that is full and the target takes nothing for STREAM_HOLD_USEC,
 * lines are dropped and counted. A target that fails (a full disk, a reader that is gone) costs the bytes, told once
 * until it works again; it never stops the service. */
#pragma once
#include "logger/outbox.h"
#include "logger/patterns.h"
#include "logger/scribe.h"
#include "logger/target.h"
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define STREAM_HOLD_USEC USEC_PER_SEC /* the longest that a target which takes nothing holds up a service */

typedef struct Stream Stream;

typedef struct StreamPlan {
        uint64_t id;
        int pipe;         /* taken over on success */
        Target target;    /* taken over on success */
        const char *path; /* the target is this file; else NULL. Copied */
        bool truncate;
        ScribeFormat format; /* SCRIBE_LINES: the path is that of a rotated file */
        EntrySource source;
        ScribeRoom *room;
        LogFiles *log_files;
        uint64_t max_size; /* of the rotated file */
        unsigned most;     /* such files */
        Patterns patterns; /* taken over on success */
        Outbox *outbox;
        void (*on_kept)(void *userdata);                  /* lines were kept */
        void (*on_ended)(void *userdata, Stream *stream); /* all bytes are passed on; called once, may free it */
        void *userdata;
} StreamPlan;

int stream_new(Stream **ret, sd_event *event, const StreamPlan *plan);
Stream *stream_free(Stream *stream); /* what was not passed on is lost */
uint64_t stream_id(const Stream *stream);

/* The outbox has room again. */
void stream_resume(Stream *stream);
/* Takes what is in the pipe now (at most as much as fits into one). True when nothing of it is left unsaid, or when the
 * target does not take it; false: it waits for room in the outbox. Never calls on_ended. */
bool stream_settle(Stream *stream);
/* Nothing waits to be passed on or to be read. */
bool stream_is_idle(const Stream *stream);
/* The file's name may stand for another file now. */
void stream_reopen(Stream *stream);
