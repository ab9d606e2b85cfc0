/* launches.c - see launches.h. */
#include "supervisor/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/take.h"
#include "supervisor/priority.h"

#define EVENTS_MAX 64

struct Launches {
        int epoll_fd;
        sd_event_source *source;
        LaunchHandler handler;
        void *userdata;
        uint32_t n_slots;
        int *fds; /* -1: nothing between fork and exec */
};

/* Out of the epoll by name: another child between fork and exec has a copy, and that would keep it in, and us awake. */
static void close_slot(Launches *launches, uint32_t slot) {
        if (launches->fds[slot] >= 0)
                (void)epoll_ctl(launches->epoll_fd, EPOLL_CTL_DEL, launches->fds[slot], NULL);
        launches->fds[slot] = close_fd(launches->fds[slot]);
}

static void read_slot(Launches *launches, uint32_t slot, bool child_is_dead) {
        ChildFailure failure;
        if (launches->fds[slot] < 0)
                return;
        int r = child_read_failure(launches->fds[slot], &failure);
        if (r == CHILD_GOES_ON) {
                launches->handler(launches->userdata, slot, &failure);
                r = child_read_failure(launches->fds[slot], &failure);
        }
        if (r == -EAGAIN && !child_is_dead)
                return;
        close_slot(launches, slot);
        /* An unreadable pipe says nothing of the child: it is taken to run until its end is told. */
        launches->handler(launches->userdata, slot, r == 1 ? &failure : NULL);
}

static int on_pipes(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Launches *launches = userdata;
        struct epoll_event events[EVENTS_MAX];
        (void)source, (void)revents;
        int n = epoll_wait(fd, events, EVENTS_MAX, 0); /* EINTR cannot happen: every signal is blocked */
        for (int i = 0; i < n; i++)
                read_slot(launches, events[i].data.u32, false);
        return 0;
}

int launches_new(Launches **ret, sd_event *event, uint32_t n_slots, LaunchHandler handler, void *userdata) {
        Launches *launches = calloc(1, sizeof *launches);
        if (!launches)
                return -ENOMEM;
        *launches = (Launches){ .handler = handler, .userdata = userdata, .n_slots = n_slots };
        launches->fds = malloc((n_slots + 1UL) * sizeof *launches->fds);
        launches->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        int r = launches->epoll_fd < 0 ? -errno : !launches->fds ? -ENOMEM : 0;
        for (uint32_t i = 0; r == 0 && i < n_slots; i++)
                launches->fds[i] = -1;
        if (r == 0)
                r = sd_event_add_io(event, &launches->source, launches->epoll_fd, EPOLLIN, on_pipes, launches);
        if (r >= 0)
                r = sd_event_source_set_priority(launches->source, PRIORITY_ORDINARY - 1);
        if (r < 0) {
                launches->n_slots = r == -ENOMEM && !launches->fds ? 0 : n_slots;
                launches_free(launches);
                return r;
        }
        *ret = launches;
        return 0;
}

Launches *launches_free(Launches *launches) {
        if (!launches)
                return NULL;
        sd_event_source_unref(launches->source);
        for (uint32_t i = 0; launches->fds && i < launches->n_slots; i++)
                close_fd(launches->fds[i]);
        close_fd(launches->epoll_fd);
        free(launches->fds);
        free(launches);
        return NULL;
}

void launches_watch(Launches *launches, uint32_t slot, int fd) {
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = slot };
        close_slot(launches, slot);
        launches->fds[slot] = fd;
        (void)epoll_ctl(launches->epoll_fd, EPOLL_CTL_ADD, fd, &event); /* ENOMEM, ENOSPC: see the header */
}

void launches_look(Launches *launches, uint32_t slot) {
        read_slot(launches, slot, false);
}

void launches_settle(Launches *launches, uint32_t slot) {
        read_slot(launches, slot, true);
}
