/* ready_pipes.c - see ready_pipes.h. */
#include "supervisor/ready_pipes.h"
#include "base/take.h"
#include "supervisor/priority.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define TEXT_MAX   65536 /* without a newline: one who writes for ever would have us read for ever */

typedef struct ReadyPipe {
        int fd; /* -1: nobody is heard */
        uint32_t passed_over;
} ReadyPipe;

struct ReadyPipes {
        ReadyPipeHandler handler;
        void *userdata;
        sd_event_source *source;
        int epoll_fd;
        uint32_t n_pipes;
        ReadyPipe pipes[];
};

/* 1: the newline is there. 0: not yet. -1: it will never come. */
static int read_some(ReadyPipe *pipe) {
        char text[4096];
        ssize_t n = read(pipe->fd, text, sizeof text);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n > 0 && memchr(text, '\n', (size_t)n))
                return 1;
        pipe->passed_over += n > 0 ? (uint32_t)n : 0;
        return n > 0 && pipe->passed_over < TEXT_MAX ? 0 : -1;
}

/* False: nothing more will come of it now. */
static bool hear(ReadyPipes *pipes, uint32_t member) {
        ReadyPipe *pipe = &pipes->pipes[member];
        uint32_t before = pipe->passed_over;
        int r = pipe->fd < 0 ? -1 : read_some(pipe);
        if (r == 0)
                return pipe->passed_over > before;
        ready_pipes_close(pipes, member);
        if (r > 0)
                pipes->handler(pipes->userdata, member);
        return false;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        struct epoll_event events[EVENTS_MAX];
        (void)source, (void)revents;
        int n = epoll_wait(fd, events, EVENTS_MAX, 0);
        for (int i = 0; i < n; i++)
                (void)hear(userdata, events[i].data.u32);
        return 0;
}

/* The order of the priorities: a start is told (launches.c) before what it says. */
int ready_pipes_new(ReadyPipes **ret, sd_event *event, uint32_t n_members, ReadyPipeHandler handler, void *userdata) {
        ReadyPipes *pipes = calloc(1, sizeof *pipes + n_members * sizeof(ReadyPipe));
        if (!pipes)
                return -ENOMEM;
        pipes->handler = handler;
        pipes->userdata = userdata;
        pipes->n_pipes = n_members;
        for (uint32_t member = 0; member < n_members; member++)
                pipes->pipes[member].fd = -1;
        pipes->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        int r = pipes->epoll_fd < 0 ? -errno : 0;
        if (r >= 0)
                r = sd_event_add_io(event, &pipes->source, pipes->epoll_fd, EPOLLIN, on_readable, pipes);
        if (r >= 0)
                r = sd_event_source_set_priority(pipes->source, PRIORITY_ORDINARY);
        if (r < 0) {
                ready_pipes_free(pipes);
                return r;
        }
        *ret = pipes;
        return 0;
}

ReadyPipes *ready_pipes_free(ReadyPipes *pipes) {
        if (!pipes)
                return NULL;
        for (uint32_t member = 0; member < pipes->n_pipes; member++)
                ready_pipes_close(pipes, member);
        sd_event_source_unref(pipes->source);
        close_fd(pipes->epoll_fd);
        free(pipes);
        return NULL;
}

/* The service's end blocks, as a program that was started with a pipe expects it. */
int ready_pipes_open(ReadyPipes *pipes, uint32_t member) {
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = member };
        int ends[2];
        ready_pipes_close(pipes, member);
        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        _cleanup_(closep) int reading = ends[0], writing = ends[1];
        if (fcntl(reading, F_SETFL, O_NONBLOCK) < 0 || epoll_ctl(pipes->epoll_fd, EPOLL_CTL_ADD, reading, &event) < 0)
                return -errno;
        pipes->pipes[member] = (ReadyPipe){ .fd = TAKE_FD(reading) };
        return TAKE_FD(writing);
}

void ready_pipes_look(ReadyPipes *pipes, uint32_t member) {
        while (hear(pipes, member))
                ;
}

/* Out of the epoll by name: a child between fork and exec has a copy, and that would keep it in. */
void ready_pipes_close(ReadyPipes *pipes, uint32_t member) {
        ReadyPipe *pipe = &pipes->pipes[member];
        if (pipe->fd >= 0)
                (void)epoll_ctl(pipes->epoll_fd, EPOLL_CTL_DEL, pipe->fd, NULL);
        pipe->fd = close_fd(pipe->fd);
}
