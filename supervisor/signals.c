/* signals.c - blocks all signals, hears them through sd-event, and says what each one means. */
#include "supervisor/signals.h"
#include "base/take.h"
#include "supervisor/priority.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_SIGNALS 64 /* the kernel's _NSIG where Linux runs containers; glibc's NSIG counts one more */

/* As the kernel wants it. The libc's calls leave out signals 32 and 33, which it keeps for its threads: one of these
 * sent to us from outside would end us, and one that we were given ignored would stay ignored in every child. */
typedef uint64_t KernelMask;

struct Signals {
        SignalHandler handler;
        void *userdata;
        sd_event_source *sources[KERNEL_SIGNALS + 1];
};

SignalMeaning signal_meaning(int signal_number, bool pid_one, bool terminal) {
        if (signal_number == SIGRTMIN + 3) /* SIGRTMIN is no constant */
                return SIGNAL_ENDS;
        switch (signal_number) {
        case SIGTERM:
        case SIGPWR: return SIGNAL_ENDS;
        case SIGINT: return SIGNAL_ENDS_INT;
        case SIGQUIT: return SIGNAL_ENDS_QUIT;
        case SIGHUP: /* the terminal went away and took our user with it */
                return !pid_one && terminal ? SIGNAL_ENDS : SIGNAL_RELOADS;
        case SIGUSR1: return SIGNAL_DUMPS;
        case SIGUSR2: return SIGNAL_REOPENS;
        case SIGCHLD: return SIGNAL_COLLECTS;
        default: return SIGNAL_IGNORED;
        }
}

void signals_block(void) {
        KernelMask all = UINT64_MAX;
        /* It cannot fail with a good address and size. A fault of our own still kills when it is blocked. */
        (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
}

int signals_reset_for_child(void) {
        /* The kernel's struct sigaction with every field zero (SIG_DFL, no flags) has this size or less everywhere. */
        static const unsigned long by_default[8];
        KernelMask none = 0;

        for (int number = 1; number <= KERNEL_SIGNALS; number++) {
                if (number == SIGKILL || number == SIGSTOP)
                        continue;
                if (syscall(SYS_rt_sigaction, number, by_default, NULL, sizeof none) < 0)
                        return -errno;
        }
        /* Now, not sooner: what was sent since the fork arrives here, and does to the child what it does by default. */
        if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none) < 0)
                return -errno;
        return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Signals *signals = userdata;
        (void)source;
        SignalReceived received = {
                .number = (int)info->ssi_signo,
                .sender_pid = (pid_t)info->ssi_pid,
                .sender_uid = (uid_t)info->ssi_uid,
                .child = info->ssi_signo == SIGCHLD ? (pid_t)info->ssi_pid : 0,
        };
        signals->handler(signals->userdata, &received);
        return 0;
}

/* Never heard: they stay blocked and pending, which harms nobody. */
static bool is_deaf_to(int number) {
        switch (number) {
        case SIGKILL:
        case SIGSTOP:
        case SIGPIPE: /* each write says EPIPE */
        case SIGTTIN:
        case SIGTTOU: return true;
        default: return number > 31 && number < SIGRTMIN; /* the libc's own */
        }
}

static int64_t priority_of(int number) {
        switch (signal_meaning(number, false, true)) {
        case SIGNAL_ENDS:
        case SIGNAL_ENDS_INT:
        case SIGNAL_ENDS_QUIT: return PRIORITY_ENDING;
        case SIGNAL_COLLECTS: return PRIORITY_CHILD;
        case SIGNAL_RELOADS:
        case SIGNAL_DUMPS:
        case SIGNAL_REOPENS:
        case SIGNAL_IGNORED: break;
        }
        return PRIORITY_ORDINARY;
}

static int hear(Signals *signals, sd_event *event, int number) {
        int r = sd_event_add_signal(event, &signals->sources[number], number, on_signal, signals);
        if (r < 0)
                return r;
        r = sd_event_source_set_priority(signals->sources[number], priority_of(number));
        if (r < 0)
                return r;
        return sd_event_source_set_exit_on_failure(signals->sources[number], true);
}

Signals *signals_free(Signals *signals) {
        if (!signals)
                return NULL;
        for (size_t i = 0; i < LENGTH_OF(signals->sources); i++)
                sd_event_source_disable_unref(signals->sources[i]);
        free(signals);
        return NULL;
}

static void signals_freep(Signals **signals) {
        signals_free(*signals);
}

int signals_new(Signals **ret, sd_event *event, SignalHandler handler, void *userdata) {
        _cleanup_(signals_freep) Signals *signals = calloc(1, sizeof *signals);
        if (!signals)
                return -ENOMEM;
        signals->handler = handler;
        signals->userdata = userdata;

        for (int number = 1; number <= KERNEL_SIGNALS && number <= SIGRTMAX; number++) {
                if (is_deaf_to(number))
                        continue;
                int r = hear(signals, event, number);
                if (r < 0)
                        return r;
        }
        *ret = TAKE(signals);
        return 0;
}
