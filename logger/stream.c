/* stream.c - moves one service's output: read a piece, pass it on, match its lines, then the next piece. */
#include "logger/stream.h"
#include "base/take.h"
#include "base/usec.h"
#include "logger/lines.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#define PIECE_MAX    (64 * 1024)
#define RETRY_USEC   USEC_PER_SEC
#define PIPE_DEFAULT (64 * 1024)

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
        Outbox *outbox;
        void (*on_ended)(void *userdata, Stream *stream);
        void *userdata;
        sd_event_source *input, *output, *retry;

        char *piece; /* NULL when nothing is kept */
        size_t length, passed, matched;
        bool at_end;    /* the pipe has given its last byte */
        bool rest_said; /* and what stood without a newline was matched */
        bool stuck;     /* the target takes nothing now */
        int error;      /* of the target, as told to PID 1; 0: it works */
        int seen_error; /* of the target, not yet told */
};

/* ---- Out ---- */

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

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata);

static void retry_later(Stream *stream) {
        int r;

        if (stream->retry) {
                r = sd_event_source_set_time_relative(stream->retry, RETRY_USEC);
                if (r >= 0)
                        r = sd_event_source_set_enabled(stream->retry, SD_EVENT_ONESHOT);
        } else {
                r = sd_event_add_time_relative(stream->event, &stream->retry, CLOCK_MONOTONIC, RETRY_USEC, 0, on_retry,
                                               stream);
        }
        (void)r; /* without memory for a timer the next REOPEN is the next try */
}

/* A file that cannot be opened is no target: the bytes go nowhere until it can. */
static void open_path(Stream *stream) {
        target_done(&stream->target);
        int r = target_open(&stream->target, stream->path, stream->truncate);
        stream->seen_error = r < 0 ? -r : 0;
        if (r < 0) {
                retry_later(stream);
        } else {
                /* Said before a byte is in it: a logger after us must not empty it again. */
                stream->opened_unsaid = stream->truncate;
                stream->truncate = false;
        }
        tell_state(stream);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        Stream *stream = userdata;

        (void)source, (void)usec;
        if (stream->path && stream->target.way == TARGET_NULL)
                open_path(stream);
        stream_resume(stream);
        return 0;
}

static void pass_on(Stream *stream) {
        int r = target_flush(&stream->target);

        while (r >= 0 && stream->passed < stream->length) {
                ssize_t n =
                        target_write(&stream->target, stream->piece + stream->passed, stream->length - stream->passed);
                if (n > 0)
                        stream->passed += (size_t)n;
                r = n < 0 ? (int)n : 0;
        }
        if (r >= 0)
                r = target_flush(&stream->target); /* the last piece may have been taken and still be on its way */
        stream->stuck = r == -EAGAIN;
        if (r < 0 && r != -EAGAIN)
                stream->passed = stream->length; /* lost: the service goes on, as it would when its own write fails */
        if (!stream->stuck && stream->length > 0 && stream->target.way != TARGET_NULL)
                stream->seen_error = r < 0 ? -r : 0;
        tell_state(stream);
}

/* ---- Marks ---- */

static void say_marks(Stream *stream, const char *line, size_t length) {
        for (unsigned i = 0; i < stream->patterns.n; i++)
                if (pattern_matches(&stream->patterns.items[i], line, length))
                        outbox_say(stream->outbox, "STREAM=%" PRIu64 "\nMARK=%s\n", stream->id,
                                   stream->patterns.items[i].hook);
}

static bool has_room(const Stream *stream) {
        return outbox_room(stream->outbox) > stream->patterns.n; /* one is kept for tell_state() */
}

static void match(Stream *stream) {
        LinesSpan line;

        while (stream->matched < stream->length && has_room(stream)) {
                stream->matched += lines_take(&stream->lines, stream->piece + stream->matched,
                                              stream->length - stream->matched, &line);
                if (line.text)
                        say_marks(stream, line.text, line.length);
        }
        if (stream->at_end && !stream->rest_said && stream->matched == stream->length && has_room(stream)) {
                stream->rest_said = true;
                line = lines_rest(&stream->lines);
                if (line.text)
                        say_marks(stream, line.text, line.length);
        }
}

/* ---- In ---- */

static bool is_empty(const Stream *stream) {
        return stream->passed == stream->length && stream->matched == stream->length && !stream->stuck;
}

/* Bytes read, 0 when the pipe has ended, -EAGAIN, or -ENOMEM. Only when the last piece is done with. */
static ssize_t read_piece(Stream *stream) {
        ssize_t n;

        if (!stream->piece)
                stream->piece = malloc(PIECE_MAX + 1);
        if (!stream->piece)
                return -ENOMEM;
        /* The pipe's description is shared with PID 1, which made it non-blocking and never reads it. */
        do
                n = read(stream->pipe, stream->piece, PIECE_MAX);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == EAGAIN)
                return -EAGAIN;
        if (n < 0)
                n = 0;           /* nothing else is known of pipes; what cannot be read has ended */
        stream->piece[n] = '\0'; /* for sanitizers, which take what regexec(3) is given for a string */
        stream->length = (size_t)n;
        stream->passed = stream->matched = 0;
        stream->at_end = n == 0;
        return n;
}

static void work(Stream *stream) {
        pass_on(stream);
        match(stream);
        if (is_empty(stream)) {
                free(TAKE(stream->piece));
                stream->length = stream->passed = stream->matched = 0;
        }
}

static bool has_ended(const Stream *stream) {
        return stream->at_end && stream->rest_said && is_empty(stream) && outbox_room(stream->outbox) > 0;
}

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata);

/* A regular file never says EAGAIN, so it never comes here. */
static void wait_for_target(Stream *stream) {
        if (!stream->stuck && !stream->output)
                return;
        if (!stream->output &&
            sd_event_add_io(stream->event, &stream->output, stream->target.fd, EPOLLOUT, on_writable, stream) < 0)
                retry_later(stream); /* no memory: ask again by the clock */
        if (stream->output)
                sd_event_source_set_enabled(stream->output, stream->stuck ? SD_EVENT_ON : SD_EVENT_OFF);
}

/* Listens to what can go on now. */
static void arm(Stream *stream) {
        wait_for_target(stream);
        sd_event_source_set_enabled(stream->input, is_empty(stream) && !stream->at_end ? SD_EVENT_ON : SD_EVENT_OFF);
}

void stream_resume(Stream *stream) {
        work(stream);
        arm(stream);
        if (has_ended(stream))
                stream->on_ended(stream->userdata, stream);
}

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        (void)source, (void)fd, (void)revents;
        stream_resume(userdata);
        return 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Stream *stream = userdata;

        (void)source, (void)fd, (void)revents;
        ssize_t n = read_piece(stream);
        if (n >= 0)
                stream_resume(stream);
        if (n == -ENOMEM) {
                sd_event_source_set_enabled(stream->input, SD_EVENT_OFF); /* else this would be called again at once */
                retry_later(stream);
        }
        return 0;
}

static bool is_readable(const Stream *stream) {
        struct pollfd ready = { .fd = stream->pipe, .events = POLLIN };
        return !stream->at_end && poll(&ready, 1, 0) > 0 && ready.revents & POLLIN;
}

bool stream_settle(Stream *stream) {
        int capacity = fcntl(stream->pipe, F_GETPIPE_SZ);
        size_t left = capacity > 0 ? (size_t)capacity : PIPE_DEFAULT;

        work(stream);
        while (is_empty(stream) && left > 0) {
                ssize_t n = stream->at_end ? 0 : read_piece(stream);
                if (n <= 0)
                        break;
                left -= (size_t)n < left ? (size_t)n : left;
                work(stream);
        }
        work(stream); /* the rest after the last newline, when the end was seen */
        arm(stream);
        return stream->matched == stream->length && (!stream->at_end || stream->rest_said);
}

bool stream_is_idle(const Stream *stream) {
        return is_empty(stream) && !is_readable(stream);
}

/* ---- Life ---- */

void stream_reopen(Stream *stream) {
        if (!stream->path)
                return;
        stream->output = sd_event_source_disable_unref(stream->output);
        open_path(stream);
        stream_resume(stream);
}

uint64_t stream_id(const Stream *stream) {
        return stream->id;
}

int stream_new(Stream **ret, sd_event *event, const StreamPlan *plan) {
        Stream *stream = calloc(1, sizeof *stream);
        if (!stream)
                return -ENOMEM;
        *stream = (Stream){ .id = plan->id,
                            .event = event,
                            .pipe = -1,
                            .target = TARGET_NOWHERE,
                            .outbox = plan->outbox,
                            .on_ended = plan->on_ended,
                            .userdata = plan->userdata,
                            .truncate = plan->truncate };
        int r = sd_event_add_io(event, &stream->input, plan->pipe, EPOLLIN, on_readable, stream);
        if (r >= 0 && plan->path && !(stream->path = strdup(plan->path)))
                r = -ENOMEM;
        if (r < 0) {
                stream_free(stream);
                return r;
        }
        stream->pipe = plan->pipe;
        stream->target = plan->target;
        stream->patterns = plan->patterns;
        if (stream->path)
                open_path(stream);
        *ret = stream;
        return 0;
}

Stream *stream_free(Stream *stream) {
        if (!stream)
                return NULL;
        sd_event_source_disable_unref(stream->input);
        sd_event_source_disable_unref(stream->output);
        sd_event_source_disable_unref(stream->retry);
        close_fd(stream->pipe);
        target_done(&stream->target);
        patterns_done(&stream->patterns);
        lines_done(&stream->lines);
        free(stream->piece);
        free(stream->path);
        free(stream);
        return NULL;
}
