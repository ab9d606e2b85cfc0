/* floor.c - the least that a supervisor as PID 1 can do: the limit beside which the other figures are read.
 *
 *   floor [-f] [-c] [-m MAKER] COUNT PROGRAM
 *
 * Starts COUNT services `PROGRAM INDEX` (number 0 is MAKER instead), starts each that dies again at once, collects
 * orphans, and on SIGTERM asks all of them, waits and exits 0. -f: spawn by fork instead of posix_spawn; -c: ask in a
 * chain, last first, each when the next one is gone. Raw system calls, no event library, nothing is logged.
 *
 * Collecting takes constant time beside any number of live services: a pidfd tells that a service ended; SIGCHLD names
 * one process, which is collected by P_PID; deaths whose signals the kernel merged are found by one sweep 20 ms later.
 */
#include "board.h"
#include <err.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SWEEP_AFTER_NSEC 20000000
#define SIGNALS_KEY      UINT32_MAX

static struct {
        bool by_fork, chain, stopping;
        int count, alive, epoll, signals;
        pid_t *pids; /* one array of its own: a linear search through 1000 of them costs less than a hash */
        int *pidfds;
        char *program, *maker;
        uint64_t sweep_nsec; /* 0: nothing is dying */
        sigset_t heard, none;
} our;

static pid_t spawn_by_fork(char **argv, int *ret_pidfd) {
        struct clone_args how = { .flags = CLONE_PIDFD, .pidfd = (uintptr_t)ret_pidfd, .exit_signal = SIGCHLD };
        pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
        if (pid != 0)
                return pid;
        setsid();
        sigprocmask(SIG_SETMASK, &our.none, NULL);
        execve(argv[0], argv, environ);
        _exit(127);
}

static pid_t spawn_by_posix(char **argv, int *ret_pidfd) {
        posix_spawnattr_t attributes;
        pid_t pid = -1;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
        posix_spawnattr_setsigmask(&attributes, &our.none);
        if (posix_spawn(&pid, argv[0], NULL, &attributes, argv, environ) != 0)
                pid = -1;
        posix_spawnattr_destroy(&attributes);
        if (pid > 0)
                *ret_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        return pid;
}

static void start(int i) {
        char index[12];
        char *argv[] = { i == 0 && our.maker ? our.maker : our.program, index, NULL };
        snprintf(index, sizeof index, "%d", i);
        our.pids[i] = (our.by_fork ? spawn_by_fork : spawn_by_posix)(argv, &our.pidfds[i]);
        if (our.pids[i] < 0 || our.pidfds[i] < 0)
                err(1, "starting service %d", i);
        struct epoll_event watch = { .events = EPOLLIN, .data.u32 = (uint32_t)i };
        epoll_ctl(our.epoll, EPOLL_CTL_ADD, our.pidfds[i], &watch);
        our.alive++;
}

/* In a chain: the last one that still lives; else: everybody. */
static void ask(void) {
        for (int i = our.count - 1; i >= 0; i--)
                if (our.pids[i] > 0) {
                        kill(our.pids[i], SIGTERM);
                        if (our.chain)
                                return;
                }
}

static void service_ended(int i) {
        close(our.pidfds[i]);
        our.pids[i] = 0;
        our.pidfds[i] = -1;
        our.alive--;
        if (!our.stopping)
                start(i);
        else if (our.alive == 0)
                _exit(0);
        else if (our.chain)
                ask();
}

static void collected(pid_t pid) {
        for (int i = 0; i < our.count; i++)
                if (our.pids[i] == pid) {
                        service_ended(i);
                        return;
                }
}

static bool collect(idtype_t type, id_t id) {
        siginfo_t info = { 0 };
        if (waitid(type, id, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0)
                return false;
        collected(info.si_pid);
        return true;
}

static void on_signals(void) {
        struct signalfd_siginfo got[8];
        ssize_t n = read(our.signals, got, sizeof got);
        for (ssize_t i = 0; i < n / (ssize_t)sizeof *got; i++) {
                if (got[i].ssi_signo == SIGCHLD) {
                        collect(P_PID, got[i].ssi_pid);
                        if (!our.sweep_nsec)
                                our.sweep_nsec = board_now_nsec() + SWEEP_AFTER_NSEC;
                } else if (!our.stopping) {
                        our.stopping = true;
                        ask();
                }
        }
}

static int wait_msec(void) {
        if (!our.sweep_nsec)
                return -1;
        uint64_t now = board_now_nsec();
        return our.sweep_nsec <= now ? 0 : (int)((our.sweep_nsec - now) / 1000000) + 1;
}

static void loop(void) {
        struct epoll_event events[64];
        for (;;) {
                int n = epoll_wait(our.epoll, events, 64, wait_msec());
                for (int i = 0; i < n; i++) {
                        uint32_t key = events[i].data.u32;
                        if (key == SIGNALS_KEY)
                                on_signals();
                        else if (our.pids[key] > 0)
                                collect(P_PID, (id_t)our.pids[key]);
                }
                if (our.sweep_nsec && board_now_nsec() >= our.sweep_nsec) {
                        our.sweep_nsec = 0;
                        while (collect(P_ALL, 0))
                                ;
                }
        }
}

static void setup(void) {
        our.pids = calloc((size_t)our.count, sizeof *our.pids);
        our.pidfds = calloc((size_t)our.count, sizeof *our.pidfds);
        our.epoll = epoll_create1(EPOLL_CLOEXEC);
        our.signals = signalfd(-1, &our.heard, SFD_CLOEXEC | SFD_NONBLOCK);
        struct epoll_event watch = { .events = EPOLLIN, .data.u32 = SIGNALS_KEY };
        if (!our.pids || !our.pidfds || epoll_ctl(our.epoll, EPOLL_CTL_ADD, our.signals, &watch) < 0)
                err(1, "setup");
}

int main(int argc, char **argv) {
        sigemptyset(&our.heard);
        sigaddset(&our.heard, SIGCHLD);
        sigaddset(&our.heard, SIGTERM);
        sigprocmask(SIG_BLOCK, &our.heard, NULL);
        for (int option; (option = getopt(argc, argv, "+fcm:")) != -1;)
                switch (option) {
                case 'f': our.by_fork = true; break;
                case 'c': our.chain = true; break;
                case 'm': our.maker = optarg; break;
                default: return 2;
                }
        if (argc - optind != 2)
                errx(2, "usage: floor [-f] [-c] [-m MAKER] COUNT PROGRAM");
        our.count = atoi(argv[optind]);
        our.program = argv[optind + 1];
        setup();
        for (int i = 0; i < our.count; i++)
                start(i);
        loop();
}
