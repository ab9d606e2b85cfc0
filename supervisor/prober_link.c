/* prober_link.c - the life of the prober process, and what the rest of PID 1 asks of it. */
#include "supervisor/prober_link.h"
#include "base/clock.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/child.h"
#include "supervisor/prober_link_internal.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define RESTART_USEC USEC_PER_SEC
#define STEADY_USEC  (10 * USEC_PER_SEC) /* who lived that long did not fail in a row */
#define SOCKET_BYTES (256 * 1024)

/* ---- Its life ---- */

static void disconnect(ProberLink *link) {
        link->talk = sd_event_source_disable_unref(link->talk);
        link->birth = sd_event_source_disable_unref(link->birth);
        link->patience = sd_event_source_disable_unref(link->patience);
        link->socket = close_fd(link->socket);
        link->failure_fd = close_fd(link->failure_fd);
}

static int on_birth(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        ProberLink *link = userdata;
        ChildFailure failure;

        (void)source, (void)revents;
        int r = child_read_failure(fd, &failure);
        if (r == -EAGAIN)
                return 0;
        if (r > 0)
                prober_say(link, LOG_LEVEL_ERR, "the prober %s could not be started (%s): %s", link->program,
                           child_step_to_string(failure.step), strerror(failure.error));
        link->birth = sd_event_source_disable_unref(link->birth);
        link->failure_fd = close_fd(link->failure_fd);
        return 0;
}

static int spawn(ProberLink *link) {
        static const int bytes = SOCKET_BYTES;
        char *argv[] = { link->program,
                         (char *)"--log-format",
                         (char *)log_format_to_string(link->plan.log_format),
                         (char *)"--log-level",
                         (char *)log_level_to_string(link->plan.log_level),
                         NULL };
        _cleanup_(closep) int its_socket = -1;
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
                return -errno;
        link->socket = ends[0];
        its_socket = ends[1];
        (void)setsockopt(link->socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        ChildPlan plan = { .argv = argv,
                           .envp = link->plan.environment,
                           .input_fd = its_socket,
                           .output = { .fd = -1, .null = true },
                           .error = CHILD_OUTPUT_INHERIT };
        return child_spawn(&plan, &link->pid, &link->failure_fd);
}

static void count_failure(ProberLink *link) {
        if (usec_sub(clock_now_usec(), link->started_usec) >= STEADY_USEC)
                link->failures = 0;
        link->failures++;
}

static void give_up(ProberLink *link) {
        link->given_up = true;
        prober_say(link, LOG_LEVEL_ERR,
                   "the prober was given up after %u failures in a row: no service is probed by http, tcp or unix, and "
                   "hooks "
                   "by Http fail; SIGUSR2 tries again",
                   link->failures);
        prober_answer_all(link, QUEUE_WAITING, "the prober was given up");
}

static int on_start(sd_event_source *source, uint64_t usec, void *userdata);

/* For those who wait, and at most once a second. */
static void start_soon(ProberLink *link) {
        if (link->pid != 0 || link->starter || link->finishing || link->given_up ||
            prober_queue_first(&link->queue, QUEUE_WAITING) == QUEUE_NONE)
                return;
        usec_t due = clock_now_usec();
        if (link->started_usec > 0)
                due = usec_max(due, usec_add(link->started_usec, RESTART_USEC));
        if (sd_event_add_time(link->event, &link->starter, CLOCK_MONOTONIC, due, USEC_PER_MSEC, on_start, link) < 0)
                prober_say(link, LOG_LEVEL_ERR,
                           "the prober could not be started: %s; tried again with the next request", strerror(ENOMEM));
}

/* After a failure that was said and counted. What was in its hands is unknown, what waited goes on waiting. */
static void go_on_without(ProberLink *link) {
        disconnect(link);
        if (link->finishing)
                return;
        if (link->failures >= PROBER_FAILURES_MAX)
                give_up(link);
        prober_answer_all(link, QUEUE_SENT, "the prober died");
        start_soon(link);
}

static int on_start(sd_event_source *source, uint64_t usec, void *userdata) {
        ProberLink *link = userdata;

        (void)usec;
        sd_event_source_disable_unref(source);
        link->starter = NULL;
        link->started_usec = clock_now_usec();
        int r = spawn(link);
        if (r < 0) {
                prober_say(link, LOG_LEVEL_ERR, "the prober could not be started: %s", strerror(-r));
                count_failure(link);
                go_on_without(link);
                return 0;
        }
        link->plan.spawned(link->plan.userdata, link->pid);
        r = prober_listen(link);
        if (r >= 0)
                r = sd_event_add_io(link->event, &link->birth, link->failure_fd, EPOLLIN, on_birth, link);
        if (r < 0) /* it will see its socket closed and exit, which counts as a failure */
                disconnect(link);
        else
                prober_send_waiting(link);
        return 0;
}

static void say_exit(const ProberLink *link, Ended how) {
        char name[SIGNAL_TEXT_MAX], what[64];

        if (how.code == CLD_EXITED)
                snprintf(what, sizeof what, "ended with exit code %d", how.status);
        else
                snprintf(what, sizeof what, "was killed by %s", signal_to_string(how.status, name));
        prober_say(link, LOG_LEVEL_WARNING, "the prober %s (failure %u of at most %d in a row)", what, link->failures,
                   PROBER_FAILURES_MAX);
}

void prober_link_on_exited(ProberLink *link, Ended how) {
        prober_hear_last_words(link);
        link->pid = 0;
        if (link->birth)
                on_birth(link->birth, link->failure_fd, 0, link);
        if (!link->finishing) {
                count_failure(link);
                say_exit(link, how);
        }
        go_on_without(link);
}

pid_t prober_link_pid(const ProberLink *link) {
        return link->pid;
}

/* ---- What the rest of PID 1 asks ---- */

int prober_link_ask(ProberLink *link, uint32_t request, const ProberRequest *what) {
        if (!prober_can_do(what))
                return -EINVAL;
        if (link->finishing)
                return -ESHUTDOWN;
        if (link->given_up)
                return -ENOTCONN;
        int r = prober_queue_add(&link->queue, request, what, clock_now_usec());
        if (r < 0)
                return r;
        if (link->talk)
                prober_send_waiting(link);
        else
                start_soon(link);
        return 0;
}

static int on_tell(sd_event_source *source, void *userdata) {
        (void)source;
        prober_answer_all(userdata, QUEUE_CALLED_OFF, "called off");
        return 0;
}

void prober_link_call_off(ProberLink *link, uint32_t request) {
        QueuePlace place = request < link->queue.n_items ? link->queue.items[request].place : QUEUE_FREE;

        if (place != QUEUE_WAITING && place != QUEUE_SENT)
                return;
        if (place == QUEUE_SENT && link->socket >= 0)
                prober_send_cancel(link, link->queue.items[request].id);
        prober_be_patient(link);
        prober_queue_move(&link->queue, request, QUEUE_CALLED_OFF);
        (void)sd_event_source_set_enabled(link->teller, SD_EVENT_ONESHOT);
}

void prober_link_retry(ProberLink *link) {
        link->given_up = false;
        link->failures = 0;
}

bool prober_link_finish(ProberLink *link) {
        link->finishing = true;
        link->starter = sd_event_source_disable_unref(link->starter);
        (void)sd_event_source_set_enabled(link->teller, SD_EVENT_OFF);
        disconnect(link);
        return link->pid != 0 && child_signal(link->pid, SIGKILL) >= 0;
}

int prober_link_new(ProberLink **ret, sd_event *event, const ProberPlan *plan) {
        ProberLink *link = calloc(1, sizeof *link);
        if (!link)
                return -ENOMEM;
        link->event = sd_event_ref(event);
        link->plan = *plan;
        link->socket = link->failure_fd = -1;
        link->program = strdup(plan->program);
        int r = link->program ? prober_queue_init(&link->queue, plan->n_requests) : -ENOMEM;
        if (r >= 0)
                r = sd_event_add_defer(event, &link->teller, on_tell, link);
        if (r >= 0)
                r = sd_event_source_set_enabled(link->teller, SD_EVENT_OFF);
        if (r < 0) {
                prober_link_free(link);
                return r;
        }
        *ret = link;
        return 0;
}

ProberLink *prober_link_free(ProberLink *link) {
        if (!link)
                return NULL;
        sd_event_source_disable_unref(link->starter);
        sd_event_source_disable_unref(link->teller);
        disconnect(link);
        prober_queue_done(&link->queue);
        sd_event_unref(link->event);
        free(link->program);
        free(link);
        return NULL;
}
