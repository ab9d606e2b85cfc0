/* pid1_signals.c - what a signal means to this process, recorded with its sender. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/child.h"
#include "supervisor/pid1.h"

static void read_comm(pid_t pid, char comm[static 17]) {
        char path[32];
        comm[0] = '\0';
        snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
        _cleanup_(closep) int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        ssize_t n = fd >= 0 ? read(fd, comm, 16) : 0; /* procfs: answers at once, or the sender is gone already */
        comm[n > 0 ? n : 0] = '\0';
        comm[strcspn(comm, "\n")] = '\0';
}

static void record(Pid1 *pid1, const SignalReceived *signal, const char *effect) {
        char word[SIGNAL_TEXT_MAX], comm[17];
        read_comm(signal->sender_pid, comm);
        pid1_record(pid1, &(Event){ .kind = EVENT_SIGNAL_RECEIVED,
                                    .epoch = crew_overview(pid1->crew).epoch,
                                    .signal = signal_to_string(signal->number, word),
                                    .sender_pid = signal->sender_pid,
                                    .sender_uid = signal->sender_uid,
                                    .sender_comm = comm[0] ? comm : NULL,
                                    .effect = effect });
}

/* A second SIGINT, or a second SIGQUIT, ends fast; everything else that asks again is recorded and changes nothing. The
 * Ctrl-C that ended the foreground program, and everything with it, was the first one to whoever types them. */
static void end(Pid1 *pid1, const SignalReceived *signal, unsigned *same_kind) {
        if (!same_kind)
                pid1_hear_the_dead(pid1);
        bool first = !crew_is_ending(pid1->crew);
        if (same_kind && *same_kind == 0 && !first && pid1->ended_by == signal->number)
                ++*same_kind;
        bool fast = same_kind && ++*same_kind == 2 && !first;
        record(pid1, signal, first ? "ending_begins" : fast ? "ends_fast" : "recorded");
        if (first || fast)
                crew_end(pid1->crew, "signal", fast);
}

static void dump(Pid1 *pid1) {
        CrewView crew = crew_overview(pid1->crew);
        log_notice("state: %s%s%s, %s, %u waited for, %u orphans of nobody", crew.step, crew.phase ? " phase " : "",
                   crew.phase ? crew.phase : "", crew.ready ? "ready" : "not ready", crew_awaited(pid1->crew),
                   crew.orphans);
        for (uint32_t i = 0; i < crew_size(pid1->crew); i++) {
                MemberView view = crew_view(pid1->crew, i);
                char name[64];
                crew_name(pid1->crew, i, name, sizeof name);
                log_notice("  %s: %s, pid %d, %u starts, %u failed in a row%s%s", name, view.state, (int)view.pid,
                           view.attempt, view.failures, view.status ? ", says: " : "", view.status ? view.status : "");
        }
}

static void reopen(Pid1 *pid1) {
        archive_reopen(pid1->archive);
        if (pid1->logger)
                logger_link_reopen(pid1->logger);
        if (pid1->prober)
                prober_link_retry(pid1->prober);
}

/* Who reloads by a signal of its own is told. The configuration is not read again. */
static void reload(Pid1 *pid1, const SignalReceived *signal) {
        bool ending = crew_is_ending(pid1->crew);
        record(pid1, signal, ending ? "ignored" : "reload");
        if (!ending && crew_reload(pid1->crew) == 0)
                log_warning(
                        "nobody reloaded: no service that runs has a ReloadSignal, and reading the configuration again "
                        "is not in this version yet: restart to use a changed one");
}

static bool asks_for_the_end(const Pid1 *pid1, int number) {
        /* A terminal that hung up took our user with it. A SIGHUP that was sent is the command's business alone. */
        bool hung_up = number == SIGHUP && !pid1->pid_one && terminal_is_gone(&pid1->terminal);
        return number == SIGTERM || number == SIGINT || number == SIGQUIT || hung_up;
}

/* There is nobody to pass it on to, and what the command left behind is waited for. */
static bool is_impatient(const Pid1 *pid1, int number) {
        return (number == SIGINT || number == SIGQUIT) && crew_is_ending(pid1->crew) &&
               crew_view(pid1->crew, 0).pid <= 0;
}

/* True when it reached somebody. */
static bool pass_on(Pid1 *pid1, int number) {
        pid_t pid = crew_view(pid1->crew, 0).pid;
        if (pid <= 0)
                return false;
        return (pid1->config->ask_group ? child_signal_group(pid, number) : child_signal(pid, number)) >= 0;
}

/* What the command is asked with when this signal begins the ending: --rewrite goes before --stop-signal. */
static int asking_signal(const Pid1 *pid1, const SignalReceived *signal, int number) {
        int stop = pid1->config->services[0].kill_signal;
        bool given = stop != SIGTERM; /* --stop-signal */
        return number != signal->number || !given ? number : stop;
}

/* Not so the first one after a SIGINT: a command that ignores the one may heed the other. But who was asked with what
 * this one would ask with has had it. */
static bool is_repeated_term(Pid1 *pid1, const SignalReceived *signal, int number) {
        int asked = pid1->ending_signal > 0 ? pid1->ending_signal : pid1->config->services[0].kill_signal;
        bool repeated = pid1->had_term || asking_signal(pid1, signal, number) == asked;
        pid1->had_term = true;
        return repeated;
}

/* Single-command mode: everything goes to the command as it came, after --rewrite. TERM, INT and QUIT start the grace
 * too, and then the asking is the passing on. */
static void on_command_signal(Pid1 *pid1, const SignalReceived *signal) {
        int number = signal->number <= 64 ? pid1->config->rewrite[signal->number] : signal->number;
        if (number == 0) {
                record(pid1, signal, "ignored");
                return;
        }
        if (is_impatient(pid1, signal->number)) {
                record(pid1, signal, "ends_fast");
                crew_end(pid1->crew, "signal", true);
        } else if (asks_for_the_end(pid1, signal->number) && !crew_is_ending(pid1->crew)) {
                pid1->ending_signal = asking_signal(pid1, signal, number);
                pid1->had_term = signal->number == SIGTERM;
                pid1->passed_on =
                        pass_on(pid1, pid1->ending_signal); /* first: the command waits for it, the journal does not */
                record(pid1, signal, "ending_begins");
                crew_end(pid1->crew, "signal", false);
        } else if (signal->number == SIGTERM && is_repeated_term(pid1, signal, number)) {
                record(pid1, signal, "recorded");
        } else {
                record(pid1, signal, "passed_on");
                (void)pass_on(pid1, number);
        }
}

static void on_meaning(Pid1 *pid1, const SignalReceived *signal) {
        switch (signal_meaning(signal->number, pid1->pid_one, pid1->terminal.is_there)) {
        case SIGNAL_ENDS: end(pid1, signal, NULL); break;
        case SIGNAL_ENDS_INT: end(pid1, signal, &pid1->interrupts); break;
        case SIGNAL_ENDS_QUIT: end(pid1, signal, &pid1->quits); break;
        case SIGNAL_DUMPS:
                record(pid1, signal, "dump");
                dump(pid1);
                break;
        case SIGNAL_REOPENS:
                record(pid1, signal, "reopen");
                reopen(pid1);
                break;
        case SIGNAL_RELOADS: reload(pid1, signal); break;
        case SIGNAL_COLLECTS: roster_on_child(pid1->roster, signal->child); break;
        case SIGNAL_IGNORED: record(pid1, signal, "ignored"); break;
        }
}

void pid1_on_signal(void *userdata, const SignalReceived *signal) {
        Pid1 *pid1 = userdata;
        if (pid1->finished && signal->number != SIGCHLD)
                return;
        const char *effect = pid1_pass_to_foreground(pid1, signal);
        if (effect)
                record(pid1, signal, effect);
        else if (pid1->config->single && signal->number != SIGCHLD)
                on_command_signal(pid1, signal);
        else
                on_meaning(pid1, signal);
        if (signal->number == SIGCHLD)
                pid1_look_for_stop(pid1);
        pid1_rearm(pid1);
}
