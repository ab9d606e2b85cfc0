/* tree.c - see tree.h. */
#include "worker/tree.h"
#include "base/kin.h"
#include "base/take.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define TREE_MOST 65536

typedef struct Sweep {
        int signal_number, n;
        pid_t self;
        char *names;
        size_t size, used;
} Sweep;

/* Its pid may be another's by now: the pidfd holds whoever has it, and /proc says who that is. */
static void signal_stranger(const KinProcess *process, int signal_number) {
        KinProcess now;
        _cleanup_(closep) int fd = pidfd_open(process->pid, 0);
        if (fd < 0 || kin_read(process->pid, &now) < 0 || now.start_ticks != process->start_ticks)
                return;
        (void)pidfd_send_signal(fd, signal_number, NULL, 0);
}

static void name(Sweep *sweep, const char *comm) {
        if (!sweep->names || sweep->used + strlen(comm) + 2 > sweep->size)
                return;
        sweep->used += (size_t)sprintf(sweep->names + sweep->used, "%s%s", sweep->used > 0 ? " " : "", comm);
}

static int strike(void *userdata, const KinProcess *process) {
        Sweep *sweep = userdata;
        if (process->parent == sweep->self)
                (void)kill(process->pid, sweep->signal_number); /* ours, and not collected: the pid is its own */
        else
                signal_stranger(process, sweep->signal_number);
        name(sweep, process->comm);
        sweep->n++;
        return 0;
}

int tree_signal(int signal_number, char *ret_names, size_t size) {
        Sweep sweep = { .signal_number = signal_number, .self = getpid(), .names = ret_names, .size = size };
        if (ret_names)
                ret_names[0] = '\0';
        int r = kin_descendants(sweep.self, TREE_MOST, strike, &sweep);
        return r < 0 ? r : sweep.n;
}
