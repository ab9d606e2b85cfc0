/* signals.c - blocks all signals, hears them through sd-event, and says what each one means. */
#include "supervisor/signals.h"
#include "base/take.h"
#include "base/usec.h"
#include "supervisor/priority.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_SIGNALS 64 /* the kernel's _NSIG where Linux runs containers; glibc's NSIG counts one more */

/* As the kernel wants it. The libc's calls leave out signals 32 and 33, which it keeps for its threads: one of these
 * sent to us from outside would end us, and one that we were given ignored would stay ignored in every child. */
typedef uint64_t KernelMask;

#define READ_MAX 8 /* signals a turn; what is left makes the descriptor readable again */

/* Real-time signals queue, and SIGCHLD can be sent as fast as it is read: whoever does nothing but that must not keep
 * the ending's timers and the dead waiting. What is not heard at once is heard some milliseconds later. */
#define STORM_USEC        (10 * USEC_PER_MSEC)
#define STORM_TURNS       4
#define STORM_TURNS_CHILD 64

/* Signals of one urgency. One signalfd for all of them: a source of sd-event for each single signal costs 300 bytes
 * and, at the start and at the end, two system calls. */
typedef struct Ear {
        int fd;
        sd_event_source *source;
} Ear;

typedef enum Urgency { URGENCY_ENDING, URGENCY_CHILD, URGENCY_ORDINARY, _URGENCY_MAX } Urgency;

static const int64_t priorities[] = {
        [URGENCY_ENDING] = PRIORITY_ENDING,
        [URGENCY_CHILD] = PRIORITY_CHILD,
        [URGENCY_ORDINARY] = PRIORITY_ORDINARY,
};

struct Signals {
        SignalHandler handler;
        void *userdata;
        Ear ears[_URGENCY_MAX];
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

/* The kernel's struct sigaction with every field zero (SIG_DFL, no flags) has this size or less everywhere. */
static const unsigned long by_default[8];

static int default_all(void) {
        for (int number = 1; number <= KERNEL_SIGNALS; number++) {
                if (number == SIGKILL || number == SIGSTOP)
                        continue;
                if (syscall(SYS_rt_sigaction, number, by_default, NULL, sizeof(KernelMask)) < 0)
                        return -errno;
        }
        return 0;
}

void signals_block(void) {
        KernelMask all = UINT64_MAX;
        /* It cannot fail with a good address and size. A fault of our own still kills when it is blocked. */
        (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
        /* What our own parent ignored, each child would have to undo: that is 62 calls, a tenth of its birth. And with
         * SIGCHLD ignored the kernel would throw away what our children leave to be collected. */
        (void)default_all();
}

int signals_reset_for_child(bool cleared) {
        KernelMask none = 0;
        int r = cleared ? 0 : default_all();
        if (r < 0)
                return r;
        /* Now, not sooner: what was sent since the fork arrives here, and does to the child what it does by default. */
        if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none) < 0)
                return -errno;
        return 0;
}

void signals_admit(int signal_number) {
        KernelMask one = UINT64_C(1) << (signal_number - 1);
        (void)syscall(SYS_rt_sigaction, signal_number, by_default, NULL, sizeof one);
        (void)syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, NULL, sizeof one);
}

bool signals_is_waiting(int signal_number) {
        KernelMask waiting = 0;
        return syscall(SYS_rt_sigpending, &waiting, sizeof waiting) == 0 && (waiting >> (signal_number - 1) & 1);
}

/* What our own log met (SIGPIPE, SIGXFSZ: each write says so too), and what we sent to our own group: to record, or to
 * pass on, that would be a second fault. */
static bool is_our_own(const struct signalfd_siginfo *info) {
        static const int doings[] = { SIGPIPE, SIGXFSZ, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU };

        for (size_t i = 0; info->ssi_code != SI_KERNEL && i < LENGTH_OF(doings); i++)
                if ((int)info->ssi_signo == doings[i])
                        return (pid_t)info->ssi_pid == getpid();
        return false;
}

static void tell(const Signals *signals, const struct signalfd_siginfo *info) {
        if (is_our_own(info))
                return;
        SignalReceived received = {
                .number = (int)info->ssi_signo,
                .sender_pid = (pid_t)info->ssi_pid,
                .sender_uid = (uid_t)info->ssi_uid,
                .child = info->ssi_signo == SIGCHLD ? (pid_t)info->ssi_pid : 0,
                .from_kernel = info->ssi_code == SI_KERNEL,
        };
        signals->handler(signals->userdata, &received);
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        struct signalfd_siginfo got[READ_MAX];
        (void)source, (void)revents;
        ssize_t n = read(fd, got, sizeof got);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0
                                                         : -errno; /* ends the loop: without signals nothing works */
        for (size_t i = 0; i < (size_t)n / sizeof *got; i++)
                tell(userdata, &got[i]);
        return 0;
}

/* Never heard: they stay blocked and pending, which harms nobody. */
static bool is_deaf_to(int number) {
        switch (number) {
        case SIGKILL:
        case SIGSTOP: return true;
        default: return number > 31 && number < SIGRTMIN; /* the libc's own */
        }
}

static Urgency urgency_of(int number) {
        switch (signal_meaning(number, false, true)) {
        case SIGNAL_ENDS:
        case SIGNAL_ENDS_INT:
        case SIGNAL_ENDS_QUIT: return URGENCY_ENDING;
        case SIGNAL_COLLECTS: return URGENCY_CHILD;
        case SIGNAL_RELOADS:
        case SIGNAL_DUMPS:
        case SIGNAL_REOPENS:
        case SIGNAL_IGNORED: break;
        }
        return URGENCY_ORDINARY;
}

static int hear(Signals *signals, sd_event *event, Urgency urgency) {
        Ear *ear = &signals->ears[urgency];
        sigset_t set;
        sigemptyset(&set);
        for (int number = 1; number <= KERNEL_SIGNALS && number <= SIGRTMAX; number++)
                if (!is_deaf_to(number) && urgency_of(number) == urgency)
                        sigaddset(&set, number);
        ear->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (ear->fd < 0)
                return -errno;
        int r = sd_event_add_io(event, &ear->source, ear->fd, EPOLLIN, on_readable, signals);
        if (r < 0)
                return r;
        r = sd_event_source_set_priority(ear->source, priorities[urgency]);
        if (r >= 0)
                r = sd_event_source_set_ratelimit(ear->source, STORM_USEC,
                                                  urgency == URGENCY_CHILD ? STORM_TURNS_CHILD : STORM_TURNS);
        return r < 0 ? r : sd_event_source_set_exit_on_failure(ear->source, true);
}

Signals *signals_free(Signals *signals) {
        if (!signals)
                return NULL;
        for (size_t i = 0; i < LENGTH_OF(signals->ears); i++) {
                sd_event_source_disable_unref(signals->ears[i].source);
                close_fd(signals->ears[i].fd);
        }
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
        *signals = (Signals){ .handler = handler, .userdata = userdata };
        for (size_t i = 0; i < LENGTH_OF(signals->ears); i++)
                signals->ears[i].fd = -1;

        for (Urgency urgency = 0; urgency < _URGENCY_MAX; urgency++) {
                int r = hear(signals, event, urgency);
                if (r < 0)
                        return r;
        }
        *ret = TAKE(signals);
        return 0;
}
