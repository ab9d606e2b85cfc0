/* stream.c - moves one service's output: read a piece, pass it on or describe it, match its lines, then the next piece.
 */
#include "base/clock.h"
#include "base/take.h"
#include "logger/stream_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#define PIECE_MAX    (64 * 1024)
#define PIPE_DEFAULT (64 * 1024)

/* ---- Marks ---- */

static void say_marks(Stream *stream, const char *line, size_t length) {
        for (unsigned i = 0; i < stream->patterns.n; i++)
                if (pattern_matches(&stream->patterns.items[i], line, length))
                        outbox_say(stream->outbox, "STREAM=%" PRIu64 "\nMARK=%s\n", stream->id,
                                   stream->patterns.items[i].hook);
}

static bool has_room(const Stream *stream) {
        return outbox_room(stream->outbox) > stream->patterns.n + 1; /* two are kept for what is told of the target */
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

/* ---- Lines ---- */

/* True when the scribe went on: there may be more to pass on, and then room for more. */
static bool describe(Stream *stream) {
        bool rest = false;
        size_t n = 0;

        if (stream->described < stream->length) {
                n = scribe_take(&stream->scribe, stream->piece + stream->described, stream->length - stream->described);
                stream->described += n;
        }
        if (stream->at_end && !stream->rest_described && stream->described == stream->length)
                rest = stream->rest_described = scribe_end(&stream->scribe);
        if ((n > 0 || rest) && stream->on_kept)
                stream->on_kept(stream->userdata);
        return n > 0;
}

/* ---- In ---- */

/* The next one can be read. */
static bool is_done_with_piece(const Stream *stream) {
        return stream->matched == stream->length && stream->described == stream->length &&
               (!stream_is_unchanged(stream) || (stream->passed == stream->length && !stream->stuck)) &&
               (!scribe_is_full(&stream->scribe) || stream->scribe.dropping);
}

static bool is_empty(const Stream *stream) {
        const char *bytes;
        return is_done_with_piece(stream) && !stream->stuck && stream_waiting(stream, &bytes) == 0 &&
               (!stream->at_end || stream->rest_described);
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
        stream->passed = stream->matched = stream->described = 0;
        stream->scribe.wall = clock_wall_usec();
        stream->at_end = n == 0;
        return n;
}

static void work(Stream *stream) {
        bool more;

        stream_pass_on(stream);
        match(stream);
        do {
                more = describe(stream);
                stream_pass_on(stream);
        } while (more && stream->described < stream->length);
        if (is_done_with_piece(stream)) {
                free(TAKE(stream->piece));
                stream->length = stream->passed = stream->matched = stream->described = 0;
        }
}

static bool has_ended(const Stream *stream) {
        return stream->at_end && stream->rest_said && is_empty(stream) && outbox_room(stream->outbox) > 1;
}

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata);

/* A regular file never says EAGAIN, so it never comes here. */
static void wait_for_target(Stream *stream) {
        if (!stream->stuck && !stream->output)
                return;
        if (!stream->output &&
            sd_event_add_io(stream->event, &stream->output, stream->target.fd, EPOLLOUT, on_writable, stream) < 0)
                stream_start_clock(stream); /* no memory: ask again by the clock */
        if (stream->output)
                sd_event_source_set_enabled(stream->output, stream->stuck ? SD_EVENT_ON : SD_EVENT_OFF);
}

/* Listens to what can go on now. */
static void arm(Stream *stream) {
        wait_for_target(stream);
        sd_event_source_set_enabled(stream->input,
                                    is_done_with_piece(stream) && !stream->at_end ? SD_EVENT_ON : SD_EVENT_OFF);
        if (stream->scribe.untold > 0 || (stream->stuck && scribe_is_full(&stream->scribe)))
                stream_start_clock(stream);
}

void stream_resume(Stream *stream) {
        work(stream);
        arm(stream);
        if (!has_ended(stream))
                return;
        stream_tell_dropped(stream);
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
                stream_start_clock(stream);
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
        while (is_done_with_piece(stream) && left > 0) {
                ssize_t n = stream->at_end ? 0 : read_piece(stream);
                if (n <= 0)
                        break;
                left -= (size_t)n < left ? (size_t)n : left;
                work(stream);
        }
        work(stream); /* the rest after the last newline, when the end was seen */
        stream_tell_dropped(stream);
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
        if (stream->target.log)
                log_file_close(stream->target.log);
        stream->output = sd_event_source_disable_unref(stream->output);
        stream_open_path(stream);
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
                            .log_files = plan->log_files,
                            .log = { .max_size = plan->max_size, .most = plan->most },
                            .on_kept = plan->on_kept,
                            .on_ended = plan->on_ended,
                            .userdata = plan->userdata,
                            .truncate = plan->truncate };
        scribe_init(&stream->scribe, plan->format, &plan->source, plan->room);
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
        stream->log.path = stream->path;
        stream->scribe.colour = plan->format == SCRIBE_PREFIX && stream_wants_colour(&stream->target);
        if (stream->path)
                stream_open_path(stream);
        *ret = stream;
        return 0;
}

Stream *stream_free(Stream *stream) {
        if (!stream)
                return NULL;
        sd_event_source_disable_unref(stream->input);
        sd_event_source_disable_unref(stream->output);
        sd_event_source_disable_unref(stream->clock);
        close_fd(stream->pipe);
        target_done(&stream->target);
        patterns_done(&stream->patterns);
        lines_done(&stream->lines);
        if (stream->scribe.room)
                scribe_done(&stream->scribe);
        free(stream->piece);
        free(stream->path);
        free(stream);
        return NULL;
}
