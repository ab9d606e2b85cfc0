/* sink.c - see sink.h. */
#include "worker/sink.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#define KEPT_LEAST (64 * 1024) /* as much room is kept between two lines */

struct Sink {
        sd_event_source *source;
        void (*eased)(void *userdata);
        void *userdata;
        int fd;
        char *bytes;
        size_t begin, end, size;
};

/* Bytes taken; 0: none now; -errno. */
static ssize_t write_some(int fd, const char *bytes, size_t length) {
        ssize_t n;
        do
                n = write(fd, bytes, length);
        while (n < 0 && errno == EINTR);
        return n >= 0 ? n : errno == EAGAIN ? 0 : -errno;
}

static void forget(Sink *sink) {
        sink->begin = sink->end = 0;
        if (sink->size > KEPT_LEAST) {
                freep(&sink->bytes);
                sink->bytes = NULL;
                sink->size = 0;
        }
        (void)sd_event_source_set_enabled(sink->source, SD_EVENT_OFF);
}

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Sink *sink = userdata;
        (void)source, (void)revents;

        ssize_t n = write_some(fd, sink->bytes + sink->begin, sink->end - sink->begin);
        if (n > 0)
                sink->begin += (size_t)n;
        if (n >= 0 && sink->begin < sink->end)
                return 0;
        forget(sink);
        if (n >= 0)
                sink->eased(sink->userdata);
        return 0;
}

static int keep(Sink *sink, const char *bytes, size_t length) {
        if (sink->begin > 0) {
                memmove(sink->bytes, sink->bytes + sink->begin, sink->end - sink->begin);
                sink->end -= sink->begin;
                sink->begin = 0;
        }
        if (sink->size - sink->end < length) {
                char *more = realloc(sink->bytes, sink->end + length);
                if (!more)
                        return -ENOMEM;
                sink->bytes = more;
                sink->size = sink->end + length;
        }
        memcpy(sink->bytes + sink->end, bytes, length);
        sink->end += length;
        return sd_event_source_set_enabled(sink->source, SD_EVENT_ON);
}

int sink_write(Sink *sink, const char *bytes, size_t length) {
        ssize_t n = sink_kept(sink) > 0 ? 0 : write_some(sink->fd, bytes, length);
        if (n < 0)
                return (int)n;
        return (size_t)n == length ? 0 : keep(sink, bytes + n, length - (size_t)n);
}

size_t sink_kept(const Sink *sink) {
        return sink->end - sink->begin;
}

size_t sink_unread(const Sink *sink) {
        int waiting = 0;
        if (ioctl(sink->fd, FIONREAD, &waiting) < 0)
                waiting = 0;
        return sink_kept(sink) + (size_t)waiting;
}

int sink_new(Sink **ret, sd_event *event, void (*eased)(void *userdata), void *userdata, int *ret_theirs) {
        int ends[2];

        Sink *sink = calloc(1, sizeof *sink);
        if (!sink)
                return -ENOMEM;
        if (pipe2(ends, O_CLOEXEC) < 0) {
                free(sink);
                return -errno;
        }
        *sink = (Sink){ .eased = eased, .userdata = userdata, .fd = ends[1] };
        int r = fcntl(sink->fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
        if (r >= 0)
                r = sd_event_add_io(event, &sink->source, sink->fd, EPOLLOUT, on_writable, sink);
        if (r >= 0)
                r = sd_event_source_set_enabled(sink->source, SD_EVENT_OFF);
        if (r < 0) {
                sink_free(sink);
                close_fd(ends[0]);
                return r;
        }
        *ret = sink;
        *ret_theirs = ends[0];
        return 0;
}

Sink *sink_free(Sink *sink) {
        if (!sink)
                return NULL;
        sink->source = sd_event_source_disable_unref(sink->source);
        close_fd(sink->fd);
        free(sink->bytes);
        free(sink);
        return NULL;
}
