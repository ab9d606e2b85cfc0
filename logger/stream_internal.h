/* stream_internal.h - what stream.c (from the pipe to the scribe) and stream_out.c (to the target) share; for nobody
 * else.
 */
#pragma once
#include "logger/lines.h"
#include "logger/stream.h"

struct Stream {
        uint64_t id;
        sd_event *event;
        int pipe;
        Target target;
        char *path;
        bool truncate; /* when it is opened */
        bool opened_unsaid;
        Patterns patterns;
        Lines lines;
        Scribe scribe;
        LogFilePlan log;
        LogFiles *log_files;
        Outbox *outbox;
        void (*on_kept)(void *userdata);
        void (*on_ended)(void *userdata, Stream *stream);
        void *userdata;
        sd_event_source *input, *output, *clock;

        char *piece; /* NULL when nothing is kept */
        size_t length, passed, matched, described;
        bool at_end;    /* the pipe has given its last byte */
        bool rest_said; /* and what stood without a newline was matched */
        bool rest_described;
        bool moved;     /* the target took something since the clock was last asked */
        bool stuck;     /* the target takes nothing now */
        int error;      /* of the target, as told to PID 1; 0: it works */
        int seen_error; /* of the target, not yet told */
};

bool stream_is_unchanged(const Stream *stream);
size_t stream_waiting(const Stream *stream, const char **ret); /* to be passed on */
void stream_pass_on(Stream *stream);
void stream_open_path(Stream *stream);
bool stream_wants_colour(const Target *target);
void stream_tell_dropped(Stream *stream);
/* Rings after STREAM_HOLD_USEC; when it runs already it is left to run. */
void stream_start_clock(Stream *stream);
