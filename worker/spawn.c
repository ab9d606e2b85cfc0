/* spawn.c - see spawn.h. */
#include "worker/spawn.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_BEGUN 127

/* First out of the way of 0 to 2, then into place, so that no order of them overwrites one that is still needed. */
static int place_descriptors(const int fds[static 3]) {
        int copies[3];
        for (int i = 0; i < 3; i++) {
                copies[i] = fcntl(fds[i] < 0 ? i : fds[i], F_DUPFD_CLOEXEC, 3);
                if (copies[i] < 0)
                        return -errno;
        }
        for (int i = 0; i < 3; i++)
                if (dup2(copies[i], i) < 0)
                        return -errno;
        return 0;
}

static int leave_parent(pid_t parent) {
        if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
                return -errno;
        return getppid() == parent ? 0 : -ESRCH; /* it died before the kernel knew our wish */
}

static void reset_signals(void) {
        sigset_t none;
        for (int number = 1; number < NSIG; number++)
                signal(number, SIG_DFL); /* of some it cannot be done, and need not */
        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void become(const SpawnPlan *plan, pid_t parent, int failure_fd) {
        int r = plan->session ? leave_parent(parent) : 0;
        if (r >= 0)
                r = place_descriptors(plan->fds);
        if (r >= 0) {
                reset_signals();
                execvp(plan->argv[0], plan->argv);
                r = -errno;
        }
        ssize_t n = write(failure_fd, &r, sizeof r); /* an empty pipe takes so few bytes whole */
        (void)n;
        _exit(EXIT_NOT_BEGUN);
}

/* The end of the pipe is exec: every other descriptor of it is close-on-exec. */
static int read_failure(int fd) {
        int failure;
        ssize_t n;
        do
                n = read(fd, &failure, sizeof failure);
        while (n < 0 && errno == EINTR);
        return n == sizeof failure ? failure : 0;
}

int spawn(const SpawnPlan *plan, pid_t *ret_pid) {
        _cleanup_(closep) int reading = -1;
        int ends[2];
        pid_t parent = getpid();

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        reading = ends[0];
        pid_t pid = fork();
        if (pid == 0)
                become(plan, parent, ends[1]);
        int error = errno;
        close_fd(ends[1]);
        if (pid < 0)
                return -error;
        int r = read_failure(reading);
        if (r < 0)
                (void)waitpid(pid, NULL, 0);
        else
                *ret_pid = pid;
        return r;
}
