/* floor_checks.c - the least that a supervisor as PID 1 can do to check its services: all of it by itself.
 *
 *   floor_checks PERIOD_MSEC http PORT COUNT PROGRAM
 *   floor_checks PERIOD_MSEC exec COMMAND COUNT PROGRAM
 *
 * Starts COUNT services `PROGRAM INDEX`, then makes COUNT checks a period, evenly: a GET / to PORT of 127.0.0.1 over a
 * connection of its own, or a COMMAND, whose exit it collects. Nothing is decided and nothing is logged. Ends on
 * SIGTERM, without a word to the services. */
#include "board.h"
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

static struct {
        uint64_t period_nsec, next_nsec;
        bool by_http;
        struct sockaddr_in target;
        char *command;
        int count, queue, signals, timer;
} our;

static void spawn(char **argv) {
        posix_spawnattr_t attributes;
        sigset_t none;
        pid_t pid;
        sigemptyset(&none);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
        posix_spawnattr_setsigmask(&attributes, &none);
        if (posix_spawn(&pid, argv[0], NULL, &attributes, argv, environ) != 0)
                errx(1, "%s could not be started", argv[0]);
        posix_spawnattr_destroy(&attributes);
}

static void watch(int fd, uint32_t events, int operation) {
        struct epoll_event event = { .events = events, .data.fd = fd };
        if (epoll_ctl(our.queue, operation, fd, &event) < 0)
                err(1, "epoll_ctl");
}

static void begin_check(void) {
        if (!our.by_http) {
                spawn((char *[]){ our.command, NULL });
                return;
        }
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || (connect(fd, (struct sockaddr *)&our.target, sizeof our.target) < 0 && errno != EINPROGRESS))
                err(1, "connecting");
        watch(fd, EPOLLOUT, EPOLL_CTL_ADD);
}

static void go_on(int fd, uint32_t events) {
        static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: floor\r\nAccept: */*\r\n\r\n";
        char answer[4096];
        if (events & EPOLLOUT) {
                (void)!send(fd, request, strlen(request), MSG_NOSIGNAL);
                watch(fd, EPOLLIN, EPOLL_CTL_MOD);
                return;
        }
        if (recv(fd, answer, sizeof answer, 0) <= 0 || strncmp(answer, "HTTP/1.1 200 ", 13) != 0)
                warnx("a check failed");
        close(fd);
}

static void on_signals(void) {
        struct signalfd_siginfo got[8];
        siginfo_t ended = { 0 };
        ssize_t n = read(our.signals, got, sizeof got);
        for (ssize_t i = 0; i < n / (ssize_t)sizeof *got; i++)
                if (got[i].ssi_signo == SIGTERM)
                        _exit(0);
        while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG) == 0 && ended.si_pid != 0)
                ended.si_pid = 0;
}

static void on_timer(void) {
        uint64_t times, now = board_now_nsec();
        (void)!read(our.timer, &times, sizeof times);
        for (; our.next_nsec <= now; our.next_nsec += our.period_nsec / (uint64_t)our.count)
                begin_check();
        struct itimerspec when = { .it_value = { .tv_sec = (time_t)(our.next_nsec / 1000000000),
                                                 .tv_nsec = (long)(our.next_nsec % 1000000000) } };
        timerfd_settime(our.timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void setup(char **argv) {
        sigset_t heard;
        struct rlimit limit;
        our.period_nsec = strtoull(argv[1], NULL, 10) * 1000000;
        our.by_http = strcmp(argv[2], "http") == 0;
        our.command = argv[3];
        our.target = (struct sockaddr_in){ .sin_family = AF_INET,
                                           .sin_port = htons((uint16_t)atoi(argv[3])),
                                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        our.count = atoi(argv[4]);
        sigemptyset(&heard);
        sigaddset(&heard, SIGCHLD);
        sigaddset(&heard, SIGTERM);
        sigprocmask(SIG_BLOCK, &heard, NULL);
        our.queue = epoll_create1(EPOLL_CLOEXEC);
        our.signals = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
        our.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (our.queue < 0 || our.signals < 0 || our.timer < 0 || our.count < 1)
                err(1, "setup");
        watch(our.signals, EPOLLIN, EPOLL_CTL_ADD);
        watch(our.timer, EPOLLIN, EPOLL_CTL_ADD);
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv) {
        struct epoll_event events[64];
        char index[12];
        if (argc != 6)
                errx(2, "usage: floor_checks PERIOD_MSEC http|exec PORT|COMMAND COUNT PROGRAM");
        setup(argv);
        for (int i = 0; i < our.count; i++) {
                snprintf(index, sizeof index, "%d", i);
                spawn((char *[]){ argv[5], index, NULL });
        }
        our.next_nsec = board_now_nsec();
        on_timer();
        for (;;) {
                int n = epoll_wait(our.queue, events, 64, -1);
                for (int i = 0; i < n; i++) {
                        int fd = events[i].data.fd;
                        if (fd == our.signals)
                                on_signals();
                        else if (fd == our.timer)
                                on_timer();
                        else
                                go_on(fd, events[i].events);
                }
        }
}
