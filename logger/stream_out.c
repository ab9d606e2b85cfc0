/* stream_out.c - a stream's target: opened, written to, waited for, and what is told of it. */
#include "base/take.h"
#include "logger/stream_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* What does not fit is said after the next piece. */
static void tell_state(Stream *stream) {
        if (stream->opened_unsaid && outbox_room(stream->outbox) > 0) {
                stream->opened_unsaid = false;
                outbox_say(stream->outbox, "STREAM=%" PRIu64 "\nOPENED=1\n", stream->id);
        }
        if (stream->seen_error != stream->error && outbox_room(stream->outbox) > 0) {
                stream->error = stream->seen_error;
                outbox_say(stream->outbox, "STREAM=%" PRIu64 "\nERROR=%d\n", stream->id, stream->error);
        }
}

void stream_tell_dropped(Stream *stream) {
        if (stream->scribe.untold == 0 || outbox_room(stream->outbox) == 0)
                return;
        outbox_say(stream->outbox, "STREAM=%" PRIu64 "\nDROPPED=%" PRIu64 "\n", stream->id, stream->scribe.untold);
        stream->scribe.untold = 0;
}

static int on_clock(sd_event_source *source, uint64_t usec, void *userdata);

void stream_start_clock(Stream *stream) {
        int on = SD_EVENT_OFF, r;

        if (stream->clock) {
                (void)sd_event_source_get_enabled(stream->clock, &on);
                if (on != SD_EVENT_OFF)
                        return;
                r = sd_event_source_set_time_relative(stream->clock, STREAM_HOLD_USEC);
                if (r >= 0)
                        r = sd_event_source_set_enabled(stream->clock, SD_EVENT_ONESHOT);
        } else {
                r = sd_event_add_time_relative(stream->event, &stream->clock, CLOCK_MONOTONIC, STREAM_HOLD_USEC, 0,
                                               on_clock, stream);
        }
        (void)r; /* without memory for a timer the next REOPEN is the next try */
}

static int open_target(Stream *stream) {
        LogFile *log = NULL;

        if (stream->scribe.format != SCRIBE_LINES)
                return target_open(&stream->target, stream->path, stream->truncate);
        int r = log_files_take(stream->log_files, &stream->log, &log);
        if (r == 0)
                r = log_file_open(log);
        if (r == 0)
                target_from_log(&stream->target, log);
        else
                log_file_release(log);
        return r;
}

/* A file that cannot be opened is no target: the bytes go nowhere until it can. */
void stream_open_path(Stream *stream) {
        target_done(&stream->target);
        int r = open_target(stream);
        stream->seen_error = r < 0 ? -r : 0;
        if (r < 0) {
                stream_start_clock(stream);
        } else {
                /* Said before a byte is in it: a logger after us must not empty it again. */
                stream->opened_unsaid = stream->truncate;
                stream->truncate = false;
        }
        tell_state(stream);
}

/* A target that takes nothing has had its time: from now on the service is not held up for its sake. */
static int on_clock(sd_event_source *source, uint64_t usec, void *userdata) {
        Stream *stream = userdata;

        (void)source, (void)usec;
        if (stream->path && stream->target.way == TARGET_NULL)
                stream_open_path(stream);
        if (stream->stuck && !stream->moved && scribe_is_full(&stream->scribe))
                scribe_begin_dropping(&stream->scribe);
        stream->moved = false;
        stream_tell_dropped(stream);
        stream_resume(stream);
        return 0;
}

bool stream_is_unchanged(const Stream *stream) {
        return stream->scribe.format == SCRIBE_UNCHANGED;
}

/* What waits to be passed on. */
size_t stream_waiting(const Stream *stream, const char **ret) {
        if (!stream_is_unchanged(stream))
                return scribe_waiting(&stream->scribe, ret);
        *ret = stream->piece + stream->passed;
        return stream->length - stream->passed;
}

static void took(Stream *stream, size_t n) {
        stream->moved = true;
        if (stream_is_unchanged(stream))
                stream->passed += n;
        else
                scribe_written(&stream->scribe, n);
}

/* The service goes on, as it would when its own write fails. */
static void lose(Stream *stream) {
        if (stream_is_unchanged(stream))
                stream->passed = stream->length;
        else
                scribe_lose(&stream->scribe);
}

static bool is_lost(const Stream *stream) {
        return stream->path && stream->target.way == TARGET_NULL;
}

void stream_pass_on(Stream *stream) {
        int r = target_flush(&stream->target);
        const char *bytes;
        bool any = false;

        for (size_t length; r >= 0 && (length = stream_waiting(stream, &bytes)) > 0 && !is_lost(stream);) {
                ssize_t n = target_write(&stream->target, bytes, length);
                if (n > 0)
                        took(stream, (size_t)n);
                r = n < 0 ? (int)n : 0;
                any = true;
        }
        if (r >= 0)
                r = target_flush(&stream->target); /* the last piece may have been taken and still be on its way */
        stream->stuck = r == -EAGAIN;
        if (is_lost(stream) || (r < 0 && r != -EAGAIN))
                lose(stream);
        if (!stream->stuck && any && stream->target.way != TARGET_NULL)
                stream->seen_error = r < 0 ? -r : 0;
        tell_state(stream);
}

/* no-color.org */
bool stream_wants_colour(const Target *target) {
        const char *no = getenv("NO_COLOR");
        return target_is_terminal(target) && (!no || !no[0]);
}
