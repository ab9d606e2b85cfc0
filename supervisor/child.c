/* child.c - makes processes, hears whether they reached exec, and signals them. */
#include "supervisor/child.h"
#include "base/kin.h"
#include "base/take.h"
#include "supervisor/descriptors.h"
#include "supervisor/launch.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIRTH_MSEC 100 /* once, and far more than a child needs to say one word */

static const char *const step_words[_CHILD_STEP_MAX] = {
        [CHILD_STEP_NONE] = "none",
        [CHILD_STEP_SIGNALS] = "signals",
        [CHILD_STEP_SESSION] = "session",
        [CHILD_STEP_LISTEN] = "listen",
        [CHILD_STEP_INPUT] = "input",
        [CHILD_STEP_OUTPUT] = "output",
        [CHILD_STEP_ERROR] = "error output",
        [CHILD_STEP_DESCRIPTORS] = "descriptors",
        [CHILD_STEP_LIMITS] = "limits",
        [CHILD_STEP_CONTROL_GROUP] = "control group",
        [CHILD_STEP_OOM_SCORE] = "OOM score",
        [CHILD_STEP_NICE] = "nice",
        [CHILD_STEP_UMASK] = "umask",
        [CHILD_STEP_GROUPS] = "groups",
        [CHILD_STEP_USER] = "user",
        [CHILD_STEP_CAPABILITIES] = "capabilities",
        [CHILD_STEP_NO_NEW_PRIVILEGES] = "no new privileges",
        [CHILD_STEP_DIRECTORY] = "working directory",
        [CHILD_STEP_EXEC] = "exec",
};

const char *child_step_to_string(ChildStep step) {
        return (unsigned)step < _CHILD_STEP_MAX ? step_words[step] : NULL;
}

static const char *const limit_words[] = {
        [RLIMIT_CPU] = "LimitCPU",           [RLIMIT_FSIZE] = "LimitFSIZE", [RLIMIT_DATA] = "LimitDATA",
        [RLIMIT_STACK] = "LimitSTACK",       [RLIMIT_CORE] = "LimitCORE",   [RLIMIT_RSS] = "LimitRSS",
        [RLIMIT_NOFILE] = "LimitNOFILE",     [RLIMIT_AS] = "LimitAS",       [RLIMIT_NPROC] = "LimitNPROC",
        [RLIMIT_MEMLOCK] = "LimitMEMLOCK",   [RLIMIT_LOCKS] = "LimitLOCKS", [RLIMIT_SIGPENDING] = "LimitSIGPENDING",
        [RLIMIT_MSGQUEUE] = "LimitMSGQUEUE", [RLIMIT_NICE] = "LimitNICE",   [RLIMIT_RTPRIO] = "LimitRTPRIO",
        [RLIMIT_RTTIME] = "LimitRTTIME",
};

const char *child_failure_to_string(const ChildFailure *failure) {
        if (failure->step == CHILD_STEP_LIMITS && failure->which > 0 && failure->which <= LENGTH_OF(limit_words))
                return limit_words[failure->which - 1];
        return child_step_to_string(failure->step);
}

static struct rlimit given_limit;
static bool limit_is_known;

void child_setup_limits(void) {
        /* Where it cannot be read or raised, all goes on with the limit there is, for us and for the children. */
        if (getrlimit(RLIMIT_NOFILE, &given_limit) < 0)
                return;
        limit_is_known = true;
        struct rlimit raised = { .rlim_cur = given_limit.rlim_max, .rlim_max = given_limit.rlim_max };
        (void)setrlimit(RLIMIT_NOFILE, &raised);
}

static int make_pipe(int *ret_reading, int *ret_writing) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;
        _cleanup_(closep) int reading = descriptors_lift(ends[0]), writing = descriptors_lift(ends[1]);
        if (reading < 0)
                return reading;
        if (writing < 0)
                return writing;
        *ret_reading = TAKE_FD(reading);
        *ret_writing = TAKE_FD(writing);
        return 0;
}

/* The kernel takes the handlers away at the birth: by hand that is a call for each signal there is. */
static pid_t fork_cleared(struct clone_args *how) {
        how->flags |= CLONE_CLEAR_SIGHAND;
        how->exit_signal = SIGCHLD;
        pid_t pid = (pid_t)syscall(SYS_clone3, how, sizeof *how);
        return pid < 0 ? -errno : pid;
}

/* Made by clone3(2) in its control group, a child was never outside it. A move afterwards makes it wait for all
 * processors, many milliseconds under load, and keeps every fork and every other move waiting with it. */
static pid_t fork_into(const char *control_group) {
        _cleanup_(closep) int fd = open(control_group, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return fork_cleared(&(struct clone_args){ .flags = CLONE_INTO_CGROUP, .cgroup = (uint64_t)fd });
}

typedef enum Birth { BIRTH_UNTRIED, BIRTH_WORKS, BIRTH_KILLS } Birth;

/* Kernels of 2025 (6.14, and older ones that were given the same change) compare how often a child's group was killed
 * (cgroup.kill) with how often its parent's was, and kill the child when that differs. So only a new group is used, and
 * what the first child does tells whether ours was killed before we came. */
static Birth birth_in_group;

/* Waits until the first child says that it lives, or its end of the pipe is closed without a word: it never ran. Who is
 * so slow that the time is up lives for all we know; its word is passed over later. */
static Birth await_birth(int reading) {
        struct pollfd readable = { .fd = reading, .events = POLLIN };
        ChildFailure greeting;
        if (poll(&readable, 1, BIRTH_MSEC) <= 0)
                return BIRTH_UNTRIED;
        return read(reading, &greeting, sizeof greeting) == 0 ? BIRTH_KILLS : BIRTH_WORKS;
}

/* Both ends of the pipe, and the order that the child carries out. */
typedef struct Delivery {
        int reading, writing;
        Launch order;
} Delivery;

static void delivery_done(Delivery *delivery) {
        close_fd(delivery->reading);
        close_fd(delivery->writing);
}

static int begin(Delivery *ret, const ChildPlan *plan) {
        *ret = (Delivery){ .reading = -1, .writing = -1 };
        int r = make_pipe(&ret->reading, &ret->writing);
        ret->order = (Launch){
                .plan = plan,
                .failure_fd = ret->writing,
                .parent = getpid(),
                .limit = limit_is_known ? &given_limit : NULL,
        };
        return r;
}

/* The pid; -errno: there is no such child, or it never ran and its corpse is collected like any other. */
static pid_t deliver_into_group(Delivery *delivery) {
        const ChildPlan *plan = delivery->order.plan;
        if (!plan->control_group || !plan->group_is_new || birth_in_group == BIRTH_KILLS)
                return -ENOTSUP;
        delivery->order.greets = birth_in_group == BIRTH_UNTRIED;
        delivery->order.cleared = true;
        pid_t pid = fork_into(plan->control_group);
        if (pid == 0)
                launch(&delivery->order);
        if (pid < 0 || !delivery->order.greets)
                return pid;
        delivery->writing = close_fd(delivery->writing);
        birth_in_group = await_birth(delivery->reading);
        return birth_in_group == BIRTH_KILLS ? -ENOTSUP : pid;
}

static pid_t deliver(Delivery *delivery) {
        delivery->order.joins = delivery->order.plan->control_group != NULL;
        delivery->order.greets = false;
        delivery->order.cleared = true;
        /* Not fork(): no handler of a library may run in the child. Not vfork(): see the header. */
        pid_t pid = fork_cleared(&(struct clone_args){ 0 });
        if (pid == -ENOSYS || pid == -EINVAL || pid == -EPERM) { /* kernels before 5.5, sandboxes */
                delivery->order.cleared = false;
                pid = _Fork();
                pid = pid < 0 ? -errno : pid;
        }
        if (pid == 0)
                launch(&delivery->order);
        return pid;
}

int child_spawn(const ChildPlan *plan, pid_t *ret_pid, int *ret_failure_fd) {
        _cleanup_(delivery_done) Delivery delivery;
        int r = begin(&delivery, plan);
        if (r < 0)
                return r;
        pid_t pid = deliver_into_group(&delivery);
        if (pid < 0 && delivery.writing < 0) { /* the corpse has used up the pipe */
                delivery_done(&delivery);
                r = begin(&delivery, plan);
                if (r < 0)
                        return r;
        }
        if (pid < 0)
                pid = deliver(&delivery);
        if (pid < 0)
                return pid;
        *ret_pid = pid;
        *ret_failure_fd = TAKE_FD(delivery.reading);
        return 0;
}

int child_read_failure(int fd, ChildFailure *ret) {
        ChildFailure failure;
        ssize_t n;
        do
                n = read(fd, &failure, sizeof failure);
        while ((n < 0 && errno == EINTR) || (n == sizeof failure && failure.step == CHILD_STEP_NONE));

        if (n < 0)
                return -errno;
        if (n == 0) /* also when the child was killed before exec: then its exit says so */
                return 0;
        if (n != sizeof failure || !child_step_to_string(failure.step))
                return -EBADMSG;
        *ret = failure;
        return failure.step == CHILD_STEP_CONTROL_GROUP ? CHILD_GOES_ON : 1;
}

/* Never to -1 or 1: these name everybody, and init; to 0, our own group, only where that is meant. */
static int send(pid_t target, int signal_number) {
        return kill(target, signal_number) < 0 ? -errno : 0;
}

int child_signal(pid_t pid, int signal_number) {
        return pid <= 1 ? -EINVAL : send(pid, signal_number);
}

int child_signal_group(pid_t group, int signal_number) {
        if (group <= 1)
                return -EINVAL;
        int r = send(-group, signal_number);
        if (r != -ESRCH)
                return r;
        /* A child that was forked a moment ago has no group of its own yet. It is still in ours, where nobody else of
         * that pid can be: descendants live in other sessions. If it has left ours meanwhile, its own is there now. */
        return send(getpgid(group) == getpgrp() ? group : -group, signal_number);
}

int child_signal_own_group(int signal_number) {
        return send(0, signal_number);
}

int child_signal_stranger(pid_t pid, unsigned long long start_ticks, int signal_number) {
        if (pid <= 1)
                return -EINVAL;
        _cleanup_(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0 && errno == ESRCH)
                return -ESRCH;
        KinProcess process;
        int r = kin_read(pid, &process);
        if (r < 0)
                return r;
        if (process.start_ticks != start_ticks)
                return -ESRCH;
        /* No pidfd (kernels before 5.3, sandboxes, no descriptor left): better a pid that was right a microsecond ago
         * than a process that is never asked to end. */
        if (fd < 0)
                return send(pid, signal_number);
        return syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0) < 0 ? -errno : 0;
}
