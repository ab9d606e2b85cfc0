/* floor_event.c - floor.c's duty on sd-event: what the event library alone costs, and the method that endwell uses.
 *
 *   floor_event [-c] [-m MAKER] COUNT PROGRAM
 *
 * No pidfds: SIGCHLD names one process, which is collected by P_PID; what the kernel merged is found by one sweep 20 ms
 * later. Spawns by posix_spawn. */
#include "board.h"
#include <err.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#define SWEEP_AFTER_USEC 20000

static struct {
        bool chain, stopping, sweep_is_due;
        int count, alive;
        pid_t *pids;
        char *program, *maker;
        sd_event *event;
        sd_event_source *sweep;
        sigset_t none;
} our;

static void start(int i) {
        char index[12];
        char *argv[] = { i == 0 && our.maker ? our.maker : our.program, index, NULL };
        snprintf(index, sizeof index, "%d", i);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
        posix_spawnattr_setsigmask(&attributes, &our.none);
        if (posix_spawn(&our.pids[i], argv[0], NULL, &attributes, argv, environ) != 0)
                err(1, "starting service %d", i);
        posix_spawnattr_destroy(&attributes);
        our.alive++;
}

static void ask(void) {
        for (int i = our.count - 1; i >= 0; i--)
                if (our.pids[i] > 0) {
                        kill(our.pids[i], SIGTERM);
                        if (our.chain)
                                return;
                }
}

static void collected(pid_t pid) {
        for (int i = 0; i < our.count; i++) {
                if (our.pids[i] != pid)
                        continue;
                our.pids[i] = 0;
                our.alive--;
                if (!our.stopping)
                        start(i);
                else if (our.alive == 0)
                        sd_event_exit(our.event, 0);
                else if (our.chain)
                        ask();
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

static int on_child(sd_event_source *source, const struct signalfd_siginfo *got, void *userdata) {
        (void)source, (void)userdata;
        collect(P_PID, got->ssi_pid);
        if (!our.sweep_is_due) {
                our.sweep_is_due = true;
                sd_event_source_set_time_relative(our.sweep, SWEEP_AFTER_USEC);
                sd_event_source_set_enabled(our.sweep, SD_EVENT_ONESHOT);
        }
        return 0;
}

static int on_sweep(sd_event_source *source, uint64_t usec, void *userdata) {
        (void)source, (void)usec, (void)userdata;
        our.sweep_is_due = false;
        while (collect(P_ALL, 0))
                ;
        return 0;
}

static int on_term(sd_event_source *source, const struct signalfd_siginfo *got, void *userdata) {
        (void)source, (void)got, (void)userdata;
        if (!our.stopping) {
                our.stopping = true;
                ask();
        }
        return 0;
}

static void setup(void) {
        our.pids = calloc((size_t)our.count, sizeof *our.pids);
        if (!our.pids || sd_event_new(&our.event) < 0 ||
            sd_event_add_signal(our.event, NULL, SIGTERM, on_term, NULL) < 0 ||
            sd_event_add_signal(our.event, NULL, SIGCHLD, on_child, NULL) < 0 ||
            sd_event_add_time(our.event, &our.sweep, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_sweep, NULL) < 0)
                errx(1, "setup");
        sd_event_source_set_enabled(our.sweep, SD_EVENT_OFF);
}

int main(int argc, char **argv) {
        sigset_t heard;
        sigemptyset(&heard);
        sigaddset(&heard, SIGCHLD);
        sigaddset(&heard, SIGTERM);
        sigprocmask(SIG_BLOCK, &heard, NULL);
        for (int option; (option = getopt(argc, argv, "+cm:")) != -1;)
                switch (option) {
                case 'c': our.chain = true; break;
                case 'm': our.maker = optarg; break;
                default: return 2;
                }
        if (argc - optind != 2)
                errx(2, "usage: floor_event [-c] [-m MAKER] COUNT PROGRAM");
        our.count = atoi(argv[optind]);
        our.program = argv[optind + 1];
        setup();
        for (int i = 0; i < our.count; i++)
                start(i);
        return sd_event_loop(our.event) < 0;
}
