/* launch.c - starts a program as PID 1 of a new PID namespace and tells, over its standard output, when what happened.
 *
 *   launch [-d] OUTPUT COMMAND ARG…
 *
 * The namespace has its own /proc and an empty tmpfs on /run, as in a container. OUTPUT takes the program's standard
 * output and error. Lines out: `pid N`, `exec NSEC`, with -d `deaf NSEC` (SIGTERM is blocked or caught from now on; 0:
 * not seen), `sent NSEC` (just before the signal), `ended NSEC CODE`. Lines in: `PID SIGNAL`. End of input kills the
 * program. The stamps are taken here, in C and beside the system call, so that the driver's own slowness is in no
 * figure. */
#include "base/take.h"
#include "board.h"
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TIGHT_NSEC 20000000

static _Atomic uint64_t *exec_nsec; /* shared with the child, which writes it just before execve */

static void say(const char *word, uint64_t number) {
        printf("%s %" PRIu64 "\n", word, number);
        fflush(stdout);
}

static void be_pid_one(const char *output, char **command) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        /* Here and not before the fork: the launcher must go on seeing the /proc in which `pid` is the child. */
        if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("proc", "/proc", "proc", 0, NULL) < 0 || mount("run", "/run", "tmpfs", 0, "mode=0755") < 0)
                err(125, "mount");
        int in = open("/dev/null", O_RDONLY), out = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (in < 0 || out < 0)
                err(125, "%s", output);
        dup2(in, 0);
        if (in > 0)
                close(in);
        int kept = fcntl(2, F_DUPFD_CLOEXEC, 3);
        dup2(out, 1);
        dup2(out, 2);
        atomic_store(exec_nsec, board_now_nsec());
        execvp(command[0], command);
        dprintf(kept, "launch: %s: %s\n", command[0], strerror(errno));
        _exit(127);
}

/* /proc/PID/status, field SigBlk or SigCgt: does it hold SIGTERM? */
static bool holds_sigterm(const char *status, const char *field) {
        const char *at = strstr(status, field);
        return at && (strtoull(at + strlen(field), NULL, 16) >> (SIGTERM - 1)) & 1;
}

/* While a process waits in sigtimedwait, the kernel takes what it waits for out of its blocked set: hears, looks deaf.
 */
static bool waits_for_signals(pid_t pid) {
        char path[64], where[64] = { 0 };
        snprintf(path, sizeof path, "/proc/%d/wchan", pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        (void)!read(fd, where, sizeof where - 1);
        close(fd);
        return strstr(where, "sigtimedwait");
}

/* The poll and the program, each on processors of its own: sharing one, a loop that never sleeps would measure itself.
 * `mine` is the poll's; the rest is the program's. With a single processor nothing can be separated. */
static void keep_apart(bool mine) {
        cpu_set_t set;
        if (sched_getaffinity(0, sizeof set, &set) < 0 || CPU_COUNT(&set) < 2)
                return;
        int first = 0;
        while (!CPU_ISSET(first, &set))
                first++;
        if (mine) {
                CPU_ZERO(&set);
                CPU_SET(first, &set);
        } else
                CPU_CLR(first, &set);
        (void)sched_setaffinity(0, sizeof set, &set);
}

/* Reads in a tight loop: the answer is late by one read at most (some 10 µs). Who needs longer than
 * TIGHT_NSEC is not worth a whole processor. 0: not seen, either because the program ended or because this loop did not
 * run in the short time between blocking and sigtimedwait. */
static uint64_t deaf_until_nsec(pid_t pid) {
        char path[64], status[4096];
        snprintf(path, sizeof path, "/proc/%d/status", pid);
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        for (unsigned turn = 1; fd >= 0; turn++) {
                ssize_t n = pread(fd, status, sizeof status - 1, 0);
                uint64_t now = board_now_nsec();
                if (n <= 0 || strstr((status[n] = '\0', status), "State:\tZ"))
                        break;
                if (!atomic_load(exec_nsec))
                        continue;
                if (holds_sigterm(status, "SigBlk:\t") || holds_sigterm(status, "SigCgt:\t"))
                        return now;
                if (now - atomic_load(exec_nsec) > TIGHT_NSEC)
                        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
                if (turn % 256 == 0 && waits_for_signals(pid))
                        break;
        }
        return 0;
}

/* One line of the driver: which process gets which signal. False at the end of the driver's input. */
static bool obey(void) {
        char line[64];
        int pid, signal_number;
        if (!fgets(line, sizeof line, stdin))
                return false;
        if (sscanf(line, "%d %d", &pid, &signal_number) != 2 || pid <= 0)
                errx(2, "not understood: %s", line);
        uint64_t now = board_now_nsec();
        if (kill(pid, signal_number) < 0)
                err(2, "kill %d", pid);
        say("sent", now);
        return true;
}

static int report_end(pid_t pid, uint64_t when_nsec) {
        siginfo_t info = { 0 };
        waitid(P_PID, (id_t)pid, &info, WEXITED);
        printf("ended %" PRIu64 " %d\n", when_nsec, info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status);
        return 0;
}

static int serve(pid_t pid, int pidfd) {
        struct pollfd watched[] = { { .fd = pidfd, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
        for (;;) {
                int n = poll(watched, 2, -1);
                uint64_t now = board_now_nsec();
                if (n < 0 && errno != EINTR)
                        err(2, "poll");
                if (watched[0].revents)
                        return report_end(pid, now);
                if (watched[1].revents && !obey()) {
                        kill(pid, SIGKILL);
                        watched[1].fd = -1;
                }
        }
}

int main(int argc, char **argv) {
        bool deaf = argc > 1 && strcmp(argv[1], "-d") == 0;
        argv += deaf ? 2 : 1;
        if (argc < (deaf ? 4 : 3))
                errx(2, "usage: launch [-d] OUTPUT COMMAND ARG...");
        setvbuf(stdin, NULL, _IONBF, 0); /* a line that stdio had read ahead would be invisible to poll */
        exec_nsec = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (exec_nsec == MAP_FAILED || unshare(CLONE_NEWPID) < 0)
                err(2, "unshare");
        pid_t pid = fork();
        if (pid == 0) {
                if (deaf)
                        keep_apart(false);
                be_pid_one(argv[0], argv + 1);
        }
        int pidfd = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0)
                err(2, "fork");
        if (deaf)
                keep_apart(true);
        uint64_t deaf_until = deaf ? deaf_until_nsec(pid) : 0;
        while (!atomic_load(exec_nsec) && poll(&(struct pollfd){ .fd = pidfd, .events = POLLIN }, 1, 1) == 0)
                ; /* a step before exec that failed ends the child */
        say("pid", (uint64_t)pid);
        say("exec", atomic_load(exec_nsec));
        if (deaf)
                say("deaf", deaf_until);
        return serve(pid, pidfd);
}
