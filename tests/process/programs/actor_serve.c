/* actor_serve.c - a service: logs every signal that it gets, and ends on a stop signal as it is told to.
 *
 * serve [--ignore] [--term-ms N] [--exit CODE] [--first-exit] [--second] [--drain-ms N] [--extend USEC EVERY_MS TIMES]
 *       [--last FIFO TEXT] [--stop SIGNAL_NUMBER] [--for-ms N] [--quiet]
 *
 * All signals are blocked and taken one at a time by sigtimedwait(2), so none is lost or merged with what the program
 * does. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "actor.h"

#define NEVER UINT64_MAX

typedef struct Serve {
        bool ignore;        /* stop signals are logged only */
        bool until_drained; /* a first stop signal drains, a second ends */
        bool quiet;         /* no "serving" line: for thousands of instances */
        int stop_signal;    /* 0: TERM, INT and QUIT */
        int exit_code;
        uint64_t term_usec; /* how long the end takes */
        uint64_t drain_usec;
        uint64_t for_usec; /* ends by itself after this; NEVER */
        uint64_t extend_usec, extend_every_usec;
        long extend_times;
        const char *last_fifo, *last_text;

        uint64_t asked, ends, drains, extends; /* instants; NEVER */
} Serve;

static bool take_option(Serve *serve, char ***words) {
        const char *name = **words;
        char **value = *words + 1;
        if (strcmp(name, "--ignore") == 0)
                serve->ignore = true;
        else if (strcmp(name, "--quiet") == 0)
                serve->quiet = true;
        else if (strcmp(name, "--stop") == 0)
                serve->stop_signal = (int)actor_number(*value++);
        else if (strcmp(name, "--exit") == 0)
                serve->exit_code = (int)actor_number(*value++);
        else if (strcmp(name, "--term-ms") == 0)
                serve->term_usec = (uint64_t)actor_number(*value++) * 1000;
        else if (strcmp(name, "--for-ms") == 0)
                serve->for_usec = (uint64_t)actor_number(*value++) * 1000;
        else if (strcmp(name, "--drain-ms") == 0) {
                serve->until_drained = true;
                serve->drain_usec = (uint64_t)actor_number(*value++) * 1000;
        } else if (strcmp(name, "--extend") == 0) {
                serve->extend_usec = (uint64_t)actor_number(*value++);
                serve->extend_every_usec = (uint64_t)actor_number(*value++) * 1000;
                serve->extend_times = actor_number(*value++);
        } else if (strcmp(name, "--last") == 0) {
                serve->last_fifo = *value++;
                serve->last_text = *value++;
        } else
                return false;
        *words = value;
        return true;
}

static bool is_stop(const Serve *serve, int number) {
        if (serve->stop_signal)
                return number == serve->stop_signal;
        return number == SIGTERM || number == SIGINT || number == SIGQUIT;
}

/* The writing end is opened non-blocking: a reader that is gone must show in the log, not hang the service. */
static void write_last(const Serve *serve) {
        if (!serve->last_fifo)
                return;
        int fd = open(serve->last_fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || dprintf(fd, "%s\n", serve->last_text) < 0)
                actor_log("last_line_lost", ",\"errno\":%d", errno);
        if (fd >= 0)
                close(fd);
}

static void end(const Serve *serve) {
        write_last(serve);
        actor_log("exiting", ",\"code\":%d", serve->exit_code);
        _exit(serve->exit_code);
}

static void begin_end(Serve *serve, uint64_t now) {
        serve->asked = now;
        if (serve->until_drained && serve->drains == NEVER)
                serve->drains = now + serve->drain_usec;
        else
                serve->ends = now + serve->term_usec;
        if (serve->extend_times > 0)
                serve->extends = now;
}

static void take_signal(Serve *serve, const siginfo_t *signal_info) {
        if (signal_info->si_signo == SIGCHLD) {
                while (waitpid(-1, NULL, WNOHANG) > 0)
                        ;
                return;
        }
        actor_log("signal", ",\"signal\":%d,\"sender\":%d", signal_info->si_signo, (int)signal_info->si_pid);
        if (serve->ignore || !is_stop(serve, signal_info->si_signo))
                return;
        if (serve->asked == NEVER || (serve->until_drained && serve->ends == NEVER && serve->drains == 0))
                begin_end(serve, actor_now_usec());
}

static void take_time(Serve *serve, uint64_t now) {
        if (now >= serve->ends)
                end(serve);
        if (serve->drains != NEVER && serve->drains != 0 && now >= serve->drains) {
                actor_log("drained", ",\"answer\":%d", words_send(NULL, "X_ENDWELL_DRAINED=1", -1));
                serve->drains = 0;
        }
        if (now >= serve->extends) {
                char text[64];
                snprintf(text, sizeof text, "EXTEND_TIMEOUT_USEC=%llu", (unsigned long long)serve->extend_usec);
                actor_log("extended", ",\"answer\":%d", words_send(NULL, text, -1));
                serve->extends = --serve->extend_times > 0 ? now + serve->extend_every_usec : NEVER;
        }
}

static uint64_t next_instant(const Serve *serve) {
        uint64_t next = serve->ends < serve->extends ? serve->ends : serve->extends;
        return serve->drains != 0 && serve->drains < next ? serve->drains : next;
}

static void wait_signal(Serve *serve, const sigset_t *all) {
        siginfo_t signal_info;
        uint64_t next = next_instant(serve), now = actor_now_usec();
        uint64_t span = next == NEVER ? UINT64_C(3600000000) : next > now ? next - now : 0;
        struct timespec timeout = { .tv_sec = (time_t)(span / 1000000), .tv_nsec = (long)(span % 1000000) * 1000 };
        if (sigtimedwait(all, &signal_info, &timeout) > 0)
                take_signal(serve, &signal_info);
        take_time(serve, actor_now_usec());
}

void step_serve(char **words) {
        sigset_t all;
        Serve serve = { .for_usec = NEVER, .asked = NEVER, .ends = NEVER, .drains = NEVER, .extends = NEVER };
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        while (*words)
                if (!take_option(&serve, &words))
                        actor_die(*words);
        if (serve.for_usec != NEVER)
                serve.ends = actor_now_usec() + serve.for_usec;
        if (!serve.quiet)
                actor_log("serving", "%s", "");
        for (;;)
                wait_signal(&serve, &all);
}

/* collect FIFO FILE: a log service. Copies lines until it is asked to stop, then takes what is left and ends. */
void step_collect(char **words) {
        sigset_t stop;
        char buffer[4096];
        struct timespec moment = { 0, 5000000 };
        int from = open(words[0], O_RDWR | O_NONBLOCK | O_CLOEXEC);
        int to = open(words[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        sigemptyset(&stop);
        sigaddset(&stop, SIGTERM);
        sigprocmask(SIG_BLOCK, &stop, NULL);
        if (from < 0 || to < 0)
                actor_die("collecting");
        actor_log("serving", "%s", "");
        for (bool asked = false; !asked;) {
                asked = sigtimedwait(&stop, NULL, &moment) == SIGTERM;
                for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
                        if (write(to, buffer, (size_t)n) != n)
                                actor_die(words[1]);
        }
        actor_log("exiting", ",\"code\":%d", 0);
        _exit(0);
}
