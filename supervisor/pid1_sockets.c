/* pid1_sockets.c - what is held for services over their restarts: sockets, stored descriptors; and their ready pipes.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/take.h"
#include "supervisor/pid1.h"
#include "supervisor/plan.h"

#define FIRST_PASSED 3 /* SD_LISTEN_FDS_START */

/* ---- Birth and end ---- */

static bool somebody(const Config *config, bool (*needs)(const ServiceConfig *service)) {
        for (size_t s = 0; s < config->n_services; s++)
                if (needs(&config->services[s]))
                        return true;
        return false;
}

static bool needs_sockets(const ServiceConfig *service) {
        return service->n_listens > 0;
}

static bool needs_store(const ServiceConfig *service) {
        return service->descriptor_store_max > 0;
}

static bool needs_pipe(const ServiceConfig *service) {
        return service->type == SERVICE_NOTIFY_FD;
}

/* What PID 1 needs for itself and the processes it makes is not given away to what services store. */
static int store_end(const Config *config) {
        struct rlimit limit;
        unsigned long own = plan_descriptors(config) - plan_stored_descriptors(config);
        if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > INT_MAX)
                return INT_MAX;
        return limit.rlim_cur > own ? (int)(limit.rlim_cur - own) : 0;
}

static void on_ready_line(void *userdata, uint32_t member) {
        Pid1 *pid1 = userdata;
        launches_look(pid1->launches, member); /* who speaks has been started: that is told before */
        crew_on_ready_line(pid1->crew, member);
        pid1_rearm(pid1);
}

/* What was passed to us, if anything, is closed in every child. */
static void forget_own_sockets(void) {
        (void)unsetenv("LISTEN_FDS");
        (void)unsetenv("LISTEN_PID");
        (void)unsetenv("LISTEN_FDNAMES");
}

int pid1_make_holders(Pid1 *pid1) {
        const Config *config = pid1->config;
        int r = 0;
        forget_own_sockets();
        if (somebody(config, needs_sockets))
                r = sockets_new(&pid1->sockets, config);
        if (r >= 0 && somebody(config, needs_store))
                r = descriptor_store_new(&pid1->store, pid1->event, config, store_end(config));
        if (r >= 0 && somebody(config, needs_pipe))
                r = ready_pipes_new(&pid1->ready_pipes, pid1->event, (uint32_t)config->n_members, on_ready_line, pid1);
        return r;
}

void pid1_free_holders(Pid1 *pid1) {
        sockets_free(pid1->sockets);
        descriptor_store_free(pid1->store);
        ready_pipes_free(pid1->ready_pipes);
}

/* ---- What a run is given ---- */

/* Whether another instance of its service has a process, which uses the sockets or is about to. */
static bool another_runs(Pid1 *pid1, uint32_t member) {
        MemberView own = crew_view(pid1->crew, member);
        uint32_t first = crew_first_member(pid1->crew, own.service_index);
        for (uint32_t other = first; other < first + own.service->instances; other++)
                if (other != member && crew_view(pid1->crew, other).pid > 0)
                        return true;
        return false;
}

static void add_descriptor(Handover *handover, int fd) {
        handover->descriptors[handover->n] = (ChildDescriptor){ .fd = fd, .target = FIRST_PASSED + (int)handover->n };
        handover->n++;
}

static int take_sockets(Pid1 *pid1, uint32_t member, const MemberView *view, Handover *handover) {
        const Listening *listening;
        bool done;
        if (view->service->n_listens == 0)
                return 0;
        int r = sockets_open(pid1->sockets, view->service_index, &listening, &done);
        if (r < 0)
                return r;
        if (!another_runs(pid1, member))
                sockets_reset(pid1->sockets, view->service_index);
        handover->listening = done ? NULL : listening;
        for (size_t i = 0; i < listening->n; i++)
                add_descriptor(handover, listening->sockets[i].fd);
        return 0;
}

static void take_stored(Pid1 *pid1, uint32_t member, Handover *handover, size_t n) {
        for (size_t i = 0; i < n; i++)
                add_descriptor(handover, descriptor_store_get(pid1->store, member, i).fd);
}

static const char *name_of(Pid1 *pid1, uint32_t member, const ServiceConfig *service, size_t i) {
        return i < service->n_listens ? service->listens[i].name
                                      : descriptor_store_get(pid1->store, member, i - service->n_listens).name;
}

/* "LISTEN_FDNAMES=web:stored": longer than what fits into an Environment. */
static int write_names(Pid1 *pid1, uint32_t member, const ServiceConfig *service, Handover *handover) {
        static const char word[] = "LISTEN_FDNAMES=";
        size_t size = sizeof word;
        for (size_t i = 0; i < handover->n; i++)
                size += strlen(name_of(pid1, member, service, i)) + 1;
        char *at = handover->names = malloc(size);
        if (!at)
                return -ENOMEM;
        at = stpcpy(at, word);
        for (size_t i = 0; i < handover->n; i++) {
                if (i > 0)
                        *at++ = ':';
                at = stpcpy(at, name_of(pid1, member, service, i));
        }
        return 0;
}

static int tell_passed(Pid1 *pid1, uint32_t member, const ServiceConfig *service, Environment *environment,
                       Handover *handover) {
        if (handover->n == 0)
                return 0;
        int r = write_names(pid1, member, service, handover);
        if (r < 0)
                return r;
        environment_add(environment, "LISTEN_FDS", "%zu", handover->n);
        environment_put(environment, handover->names);
        handover->listen_pid = environment_add_pid(environment, "LISTEN_PID");
        return 0;
}

static int take_pipe(Pid1 *pid1, uint32_t member, const ServiceConfig *service, Handover *handover) {
        if (service->type != SERVICE_NOTIFY_FD)
                return 0;
        handover->ready_fd = ready_pipes_open(pid1->ready_pipes, member);
        if (handover->ready_fd < 0)
                return handover->ready_fd;
        handover->descriptors[handover->n++] =
                (ChildDescriptor){ .fd = handover->ready_fd, .target = service->notify_fd };
        return 0;
}

int pid1_hand_over(Pid1 *pid1, uint32_t member, const MemberView *view, Environment *environment, Handover *ret) {
        const ServiceConfig *service = view->service;
        size_t n_stored = pid1->store ? descriptor_store_count(pid1->store, member) : 0;
        ret->step = "memory";
        ret->descriptors = calloc(service->n_listens + n_stored + 1, sizeof *ret->descriptors);
        if (!ret->descriptors)
                return -ENOMEM;
        ret->step = "socket";
        int r = take_sockets(pid1, member, view, ret);
        if (r < 0)
                return r;
        ret->step = "memory";
        take_stored(pid1, member, ret, n_stored);
        r = tell_passed(pid1, member, service, environment, ret);
        if (r < 0)
                return r;
        ret->step = "pipe";
        return take_pipe(pid1, member, service, ret);
}

void handover_done(Handover *handover) {
        close_fd(handover->ready_fd);
        free(handover->descriptors);
        free(handover->names);
}

/* ---- What becomes of it ---- */

/* Of a service that could not begin to listen nothing is held, unless another instance may be about to use it. */
const char *pid1_on_listen_failed(Pid1 *pid1, uint32_t member, size_t which) {
        uint32_t service = crew_view(pid1->crew, member).service_index;
        if (!another_runs(pid1, member))
                sockets_close(pid1->sockets, service);
        return sockets_step(pid1->sockets, service, which);
}

void pid1_look_for_ready(Pid1 *pid1, uint32_t member) {
        if (pid1->ready_pipes)
                ready_pipes_look(pid1->ready_pipes, member);
}

static void take_into_store(Pid1 *pid1, uint32_t member, const MailboxMessage *message) {
        const NotifyWords *words = message->words;
        bool full = descriptor_store_add(pid1->store, member, words->fd_name, !words->fd_unwatched, message->fds,
                                         message->n_fds);
        for (size_t i = 0; i < message->n_fds; i++)
                message->fds[i] = -1; /* the store has taken all */
        if (!full)
                return;
        char name[64];
        crew_name(pid1->crew, member, name, sizeof name);
        log_warning("%s stores more descriptors than FileDescriptorStoreMax or the limits allow; the others are closed",
                    name);
}

/* What a process sends that has outlived its service's rest would be kept for ever. */
void pid1_store(Pid1 *pid1, uint32_t member, const MailboxMessage *message) {
        const NotifyWords *words = message->words;
        if (!pid1->store || (!words->fdstore && !words->fdstore_remove))
                return;
        MemberView view = crew_view(pid1->crew, member);
        if (view.service->descriptor_store_max == 0 || view.rests)
                return;
        if (words->fdstore)
                take_into_store(pid1, member, message);
        if (words->fdstore_remove && words->fd_name[0])
                descriptor_store_remove(pid1->store, member, words->fd_name);
}

void pid1_close_sockets(void *self, uint32_t service) {
        Pid1 *pid1 = self;
        if (pid1->sockets)
                sockets_close(pid1->sockets, service);
}

void pid1_drop_store(void *self, uint32_t member) {
        Pid1 *pid1 = self;
        if (pid1->store)
                descriptor_store_drop(pid1->store, member);
}
