/* keeper.c - see keeper.h. */
#include "worker/keeper.h"
#include "base/clock.h"
#include "base/packet.h"
#include "base/take.h"
#include "worker/spawn.h"
#include "worker/tree.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define NAMES_MAX  128
#define AGAIN_MSEC 20                 /* between two looks at a tree that does not die */
#define STUCK_USEC (5 * USEC_PER_SEC) /* SIGKILL takes no time, but for who sits in the kernel */

typedef struct Keeper {
        int socket, signals;
        char *const *argv;
        pid_t pid;          /* of the command; 0: none, or collected */
        bool busy, killing; /* killing: whatever is found is killed */
        bool told_stuck, first_sweep;
        int how, status; /* as siginfo_t has it */
        unsigned left;   /* killed after the command had ended by itself */
        char names[NAMES_MAX];
        usec_t killing_since;
} Keeper;

static void say(const Keeper *keeper, const char *what, const char *key, uint64_t value) {
        char text[64];
        Packet packet;
        packet_init(&packet, text, sizeof text);
        packet_add(&packet, "SAID", what);
        packet_add_unsigned(&packet, key, value);
        (void)packet_send(keeper->socket, &packet); /* a worker that is gone is heard of by the socket's end */
}

static void say_gone(const Keeper *keeper) {
        char text[NAMES_MAX + 128];
        Packet packet;
        packet_init(&packet, text, sizeof text);
        packet_add(&packet, "SAID", "gone");
        packet_add(&packet, "HOW", keeper->how == CLD_EXITED ? "exited" : "killed");
        packet_add_unsigned(&packet, "STATUS", (uint64_t)keeper->status);
        packet_add_unsigned(&packet, "LEFT", keeper->left);
        packet_add(&packet, "NAMES", keeper->names);
        (void)packet_send(keeper->socket, &packet);
}

/* ---- The end of a command ---- */

/* Collects the dead. False: there is no child any more, not even one that lives. */
static bool collect(Keeper *keeper) {
        for (;;) {
                siginfo_t info = { 0 };
                if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0)
                        return errno != ECHILD;
                if (info.si_pid == 0)
                        return true;
                if (info.si_pid != keeper->pid)
                        continue;
                keeper->pid = 0;
                keeper->how = info.si_code;
                keeper->status = info.si_status;
        }
}

static void begin_killing(Keeper *keeper) {
        if (keeper->killing)
                return;
        keeper->killing = keeper->first_sweep = true;
        keeper->killing_since = clock_now_usec();
}

/* From the second time on they are stopped first: who forks faster than he is found must stand still to be found. */
static void kill_all(Keeper *keeper) {
        bool names = keeper->first_sweep && keeper->pid == 0 && keeper->left == 0;
        if (!keeper->first_sweep)
                (void)tree_signal(SIGSTOP, NULL, 0);
        int n = tree_signal(SIGKILL, names ? keeper->names : NULL, sizeof keeper->names);
        if (names && n > 0)
                keeper->left = (unsigned)n;
        keeper->first_sweep = false;
        if (keeper->told_stuck || clock_now_usec() < usec_add(keeper->killing_since, STUCK_USEC))
                return;
        keeper->told_stuck = true;
        say(keeper, "stuck", "LEFT", (uint64_t)(n > 0 ? n : 0));
}

/* What there is to do after each happening. The command's end is the end of everything below it. */
static void go_on(Keeper *keeper) {
        if (!keeper->busy)
                return;
        bool children = collect(keeper);
        if (children && keeper->pid == 0)
                begin_killing(keeper);
        if (children && keeper->killing) {
                kill_all(keeper);
                children = collect(keeper);
        }
        if (children)
                return;
        keeper->busy = keeper->killing = false;
        say_gone(keeper);
}

/* ---- What the worker wants ---- */

static void take_environment(char *words) {
        char *rest = NULL;
        for (char *word = strtok_r(words, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest)) {
                char *equals = strchr(word, '=');
                if (!equals) {
                        unsetenv(word);
                        continue;
                }
                *equals = '\0';
                setenv(word, equals + 1, 1);
        }
}

static void start(Keeper *keeper, Packet *packet) {
        SpawnPlan plan = { .argv = keeper->argv, .session = true };
        int r = packet->n_fds == 3 && !keeper->busy ? 0 : -EPROTO;

        for (unsigned i = 0; r >= 0 && i < 3; i++)
                plan.fds[i] = packet->fds[i];
        if (r >= 0) {
                if (packet->body)
                        take_environment((char *)packet->body); /* in our own buffer */
                r = spawn(&plan, &keeper->pid);
        }
        if (r < 0) {
                say(keeper, "failed", "ERROR", (uint64_t)-r);
                return;
        }
        keeper->busy = true;
        keeper->killing = keeper->told_stuck = false;
        keeper->left = 0;
        keeper->names[0] = '\0';
        say(keeper, "started", "PID", (uint64_t)keeper->pid);
}

/* Whoever is stopped hears SIGTERM only when he goes on. */
static void ask(const Keeper *keeper) {
        if (keeper->pid == 0)
                return;
        (void)kill(-keeper->pid, SIGTERM);
        (void)kill(-keeper->pid, SIGCONT);
}

static void obey(Keeper *keeper, Packet *packet) {
        const char *what = packet_get(packet, "DO");
        if (!what)
                return;
        if (strcmp(what, "start") == 0)
                start(keeper, packet);
        else if (strcmp(what, "ask") == 0)
                ask(keeper);
        else if (strcmp(what, "kill") == 0 && keeper->busy)
                begin_killing(keeper);
}

/* False: the worker is gone. */
static bool hear(Keeper *keeper) {
        static char text[KEEPER_WORDS_MAX];
        for (;;) {
                Packet packet;
                packet_init(&packet, text, sizeof text);
                int r = packet_receive(keeper->socket, &packet);
                if (r == -EAGAIN)
                        return true;
                if (r == PACKET_RECEIVED)
                        obey(keeper, &packet);
                packet_done(&packet);
                if (r == 0 || (r < 0 && r != -EMSGSIZE && r != -EBADMSG))
                        return false;
        }
}

/* ---- The loop ---- */

static int hear_children(Keeper *keeper) {
        sigset_t child;
        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        if (sigprocmask(SIG_BLOCK, &child, NULL) < 0)
                return -errno;
        keeper->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
        return keeper->signals < 0 ? -errno : 0;
}

static void forget_signals(const Keeper *keeper) {
        struct signalfd_siginfo info;
        while (read(keeper->signals, &info, sizeof info) > 0)
                ;
}

static int turn(Keeper *keeper) {
        struct pollfd fds[] = { { .fd = keeper->socket, .events = POLLIN },
                                { .fd = keeper->signals, .events = POLLIN } };
        if (poll(fds, LENGTH_OF(fds), keeper->killing ? AGAIN_MSEC : -1) < 0 && errno != EINTR)
                return -errno;
        if (fds[1].revents)
                forget_signals(keeper);
        if (fds[0].revents && !hear(keeper))
                return 0;
        go_on(keeper);
        return 1;
}

/* The worker is gone, so nobody may go on in its name. What sits in the kernel is left to whoever is above us. */
static void end(Keeper *keeper) {
        usec_t limit = usec_add(clock_now_usec(), STUCK_USEC);
        keeper->first_sweep = true;
        while (collect(keeper) && clock_now_usec() < limit) {
                struct pollfd fd = { .fd = keeper->signals, .events = POLLIN };
                kill_all(keeper);
                if (poll(&fd, 1, AGAIN_MSEC) > 0)
                        forget_signals(keeper);
        }
}

int keeper_run(int socket, char *const *argv) {
        Keeper keeper = { .socket = socket, .signals = -1, .argv = argv };
        int r = hear_children(&keeper);

        if (r >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
                r = -errno;
        if (r < 0)
                return r;
        do
                r = turn(&keeper);
        while (r > 0);
        end(&keeper);
        close_fd(keeper.signals);
        return r;
}
