/* spout.c - see spout.h. */
#include "worker/spout.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>

#define PIECE (64 * 1024) /* what a pipe holds */

struct Spout {
        sd_event_source *source;
        SpoutTake take;
        void *userdata;
        int fd;
        bool paused, ended;
};

/* False: nothing more now, or ever. */
static bool read_piece(Spout *spout) {
        static char piece[PIECE]; /* one thread, and nobody keeps it */
        ssize_t n;

        do
                n = read(spout->fd, piece, sizeof piece);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == EAGAIN)
                return false;
        if (n <= 0) {
                spout->ended = true;
                spout->source = sd_event_source_disable_unref(spout->source);
        }
        spout->take(spout->userdata, piece, n > 0 ? (size_t)n : 0);
        return n > 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        (void)source, (void)fd, (void)revents;
        read_piece(userdata);
        return 0;
}

void spout_pause(Spout *spout, bool paused) {
        spout->paused = paused;
        if (spout->source)
                (void)sd_event_source_set_enabled(spout->source, paused ? SD_EVENT_OFF : SD_EVENT_ON);
}

void spout_drain(Spout *spout) {
        while (!spout->ended && !spout->paused && read_piece(spout))
                ;
}

int spout_new(Spout **ret, sd_event *event, SpoutTake take, void *userdata, int *ret_theirs) {
        int ends[2];

        Spout *spout = calloc(1, sizeof *spout);
        if (!spout)
                return -ENOMEM;
        if (pipe2(ends, O_CLOEXEC) < 0) {
                free(spout);
                return -errno;
        }
        *spout = (Spout){ .take = take, .userdata = userdata, .fd = ends[0] };
        int r = fcntl(spout->fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
        if (r >= 0)
                r = sd_event_add_io(event, &spout->source, spout->fd, EPOLLIN, on_readable, spout);
        if (r < 0) {
                spout_free(spout);
                close_fd(ends[1]);
                return r;
        }
        *ret = spout;
        *ret_theirs = ends[1];
        return 0;
}

Spout *spout_free(Spout *spout) {
        if (!spout)
                return NULL;
        spout->source = sd_event_source_disable_unref(spout->source);
        close_fd(spout->fd);
        free(spout);
        return NULL;
}
