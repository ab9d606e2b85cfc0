/* strays.c - see strays.h. */
#include "worker/strays.h"
#include "base/clock.h"
#include "base/kin.h"
#include "base/log.h"
#include "base/take.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WAIT_USEC (100 * USEC_PER_MSEC)

struct Strays {
        sd_event_source *source;
        StraysCalls calls;
};

/* Our own children only: those below them come here when they are dead. */
static int kill_stray(void *userdata, pid_t pid) {
        const Strays *strays = userdata;
        KinProcess process;
        if (strays->calls.knows(strays->calls.userdata, pid) || kin_read(pid, &process) < 0 || !kin_is_living(&process))
                return 0;
        log_warning("%s (pid %d) had lost its keeper and was killed", process.comm, (int)pid);
        (void)kill(pid, SIGKILL); /* not collected, so the pid is its own */
        return 0;
}

/* The pid of a dead child that was collected; 0: none is dead; -ECHILD: there is no child at all. */
static pid_t collect(void) {
        siginfo_t dead = { 0 };
        return waitid(P_ALL, 0, &dead, WEXITED | WNOHANG) < 0 ? -errno : dead.si_pid;
}

static int on_child(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Strays *strays = userdata;
        (void)source, (void)info;
        for (pid_t pid = collect(); pid > 0; pid = collect())
                strays->calls.dead(strays->calls.userdata, pid);
        (void)kin_children(kill_stray, strays);
        return 0;
}

int strays_new(Strays **ret, sd_event *event, const StraysCalls *calls) {
        Strays *strays = calloc(1, sizeof *strays);
        if (!strays)
                return -ENOMEM;
        *strays = (Strays){ .calls = *calls };
        int r = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ? -errno : 0;
        if (r >= 0)
                r = sd_event_add_signal(event, &strays->source, SIGCHLD, on_child, strays);
        if (r < 0) {
                strays_free(strays);
                return r;
        }
        *ret = strays;
        return 0;
}

void strays_outlive(usec_t most_usec) {
        usec_t limit = usec_add(clock_now_usec(), most_usec), now;
        sigset_t child;

        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        while (collect() >= 0 && (now = clock_now_usec()) < limit) {
                struct timespec wait = { .tv_nsec = (long)usec_min(limit - now, WAIT_USEC) * 1000 };
                (void)sigtimedwait(&child, NULL, &wait);
        }
}

Strays *strays_free(Strays *strays) {
        if (!strays)
                return NULL;
        strays->source = sd_event_source_disable_unref(strays->source);
        free(strays);
        return NULL;
}
