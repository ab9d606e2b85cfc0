/* helper.c - see helper.h. */
#include "supervisor/helper.h"
#include "base/clock.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/child.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define STEADY_USEC  (10 * USEC_PER_SEC) /* who lived that long did not fail in a row */
#define SOCKET_BYTES (256 * 1024)
#define MESSAGE_MAX  256
#define SENTENCE_MAX 512
#define LAST_TURNS   64

int helper_init(Helper *helper, sd_event *event, const HelperPlan *plan) {
        *helper = (Helper){ .plan = *plan, .event = sd_event_ref(event), .socket = -1, .failure_fd = -1 };
        helper->program = strdup(plan->program);
        return helper->program ? 0 : -ENOMEM;
}

void helper_done(Helper *helper) {
        helper_disconnect(helper);
        sd_event_unref(helper->event);
        free(helper->program);
}

void helper_say(const Helper *helper, LogLevel level, const char *format, ...) {
        char sentence[SENTENCE_MAX];
        va_list ap;

        va_start(ap, format);
        vsnprintf(sentence, sizeof sentence, format, ap);
        va_end(ap);
        helper->plan.say(helper->plan.userdata, level, sentence);
}

void helper_disconnect(Helper *helper) {
        helper->talk = sd_event_source_disable_unref(helper->talk);
        helper->birth = sd_event_source_disable_unref(helper->birth);
        helper->socket = close_fd(helper->socket);
        helper->failure_fd = close_fd(helper->failure_fd);
}

void helper_count_failure(Helper *helper) {
        if (usec_sub(clock_now_usec(), helper->started_usec) >= STEADY_USEC)
                helper->failures = 0;
        helper->failures++;
}

/* ---- Its birth ---- */

static int on_birth(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Helper *helper = userdata;
        ChildFailure failure;

        (void)source, (void)revents;
        int r = child_read_failure(fd, &failure);
        if (r == -EAGAIN)
                return 0;
        if (r > 0)
                helper_say(helper, LOG_LEVEL_ERR, "the %s %s could not be started (%s): %s", helper->plan.name,
                           helper->program, child_step_to_string(failure.step), strerror(failure.error));
        helper->birth = sd_event_source_disable_unref(helper->birth);
        helper->failure_fd = close_fd(helper->failure_fd);
        return 0;
}

static int spawn(Helper *helper, char *const *argv) {
        static const int bytes = SOCKET_BYTES;
        _cleanup_(closep) int its_socket = -1;
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
                return -errno;
        helper->socket = ends[0];
        its_socket = ends[1];
        /* An expression of 64 KiB must fit; where the kernel gives less, it says so when one does not. */
        (void)setsockopt(helper->socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        ChildPlan plan = { .argv = argv,
                           .envp = helper->plan.environment,
                           .rights = helper->plan.rights,
                           .input_fd = its_socket,
                           .output = { .fd = -1, .null = true },
                           .error = CHILD_OUTPUT_INHERIT };
        return child_spawn(&plan, &helper->pid, &helper->failure_fd);
}

/* ---- What it says ---- */

/* At most `messages_at_once`. False when it has closed its side: its exit is told by the roster. */
static bool hear(Helper *helper) {
        char text[MESSAGE_MAX];
        Packet packet;

        packet_init(&packet, text, sizeof text);
        for (unsigned i = 0; i < helper->plan.messages_at_once && helper->socket >= 0; i++) {
                int r = packet_receive(helper->socket, &packet);
                if (r != PACKET_RECEIVED)
                        return r == -EAGAIN;
                helper->plan.heard(helper->plan.link, &packet);
                packet_done(&packet);
        }
        return true;
}

static int on_talk(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Helper *helper = userdata;

        (void)fd;
        if (revents & EPOLLOUT)
                helper->plan.writable(helper->plan.link);
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR) && !hear(helper))
                (void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

void helper_want_to_write(const Helper *helper, bool wanted) {
        (void)sd_event_source_set_io_events(helper->talk, wanted ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static int listen_to(Helper *helper) {
        int r = sd_event_add_io(helper->event, &helper->talk, helper->socket, EPOLLIN, on_talk, helper);
        if (r >= 0 && helper->plan.wake_ups > 0)
                r = sd_event_source_set_ratelimit(helper->talk, helper->plan.wake_ups_usec, helper->plan.wake_ups);
        return r;
}

void helper_fail_to_start(Helper *helper, int error) {
        helper->started_usec = clock_now_usec();
        helper_say(helper, LOG_LEVEL_ERR, "the %s could not be started: %s", helper->plan.name, strerror(error));
        helper_count_failure(helper);
}

int helper_start(Helper *helper, char *const *argv) {
        helper->started_usec = clock_now_usec();
        int r = spawn(helper, argv);
        if (r < 0) {
                helper_fail_to_start(helper, -r);
                return r;
        }
        helper->plan.spawned(helper->plan.userdata, helper->pid);
        r = listen_to(helper);
        if (r >= 0)
                r = sd_event_add_io(helper->event, &helper->birth, helper->failure_fd, EPOLLIN, on_birth, helper);
        if (r < 0) /* its exit counts as a failure */
                helper_disconnect(helper);
        return 0;
}

void helper_bury(Helper *helper) {
        /* More than a socket holds; each call is bounded all the same, should somebody else keep its other end open. */
        for (unsigned i = 0; i < LAST_TURNS && helper->socket >= 0 && hear(helper); i++)
                continue;
        helper->pid = 0;
        if (helper->birth)
                on_birth(helper->birth, helper->failure_fd, 0, helper);
}

const char *helper_describe_end(Ended how, char ret_text[static HELPER_DESCRIPTION_SIZE]) {
        char name[SIGNAL_TEXT_MAX];

        if (how.code == CLD_EXITED)
                snprintf(ret_text, HELPER_DESCRIPTION_SIZE, "ended with exit code %d", how.status);
        else
                snprintf(ret_text, HELPER_DESCRIPTION_SIZE, "was killed by %s", signal_to_string(how.status, name));
        return ret_text;
}
