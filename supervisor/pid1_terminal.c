/* pid1_terminal.c - the foreground program: it gets the terminal, stops and goes on with us as the job of a shell does,
 * and leaves the terminal as we found it. */
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/names.h"
#include "supervisor/child.h"
#include "supervisor/pid1.h"

void pid1_find_foreground(Pid1 *pid1) {
        const Config *config = pid1->config;
        pid1->foreground = config->single ? 0 : CREW_NOBODY;
        for (size_t s = 0; s < config->n_services && pid1->foreground == CREW_NOBODY; s++)
                if (config->services[s].tty)
                        pid1->foreground = crew_first_member(pid1->crew, (uint32_t)s);
        terminal_open(&pid1->terminal, pid1->pid_one && pid1->foreground != CREW_NOBODY);
}

ChildSession pid1_session_of(Pid1 *pid1, uint32_t member, unsigned attempt) {
        if (member != pid1->foreground)
                return CHILD_OWN_SESSION;
        pid1->ended_by = 0;
        switch (terminal_holder(&pid1->terminal)) {
        case HOLDER_OURS:
        case HOLDER_PROGRAM: terminal_lend(&pid1->terminal, attempt > 1); return CHILD_FOREGROUND;
        case HOLDER_OTHERS: return CHILD_OWN_GROUP;
        case HOLDER_NOBODY: break;
        }
        return CHILD_OWN_SESSION;
}

static pid_t program(const Pid1 *pid1) {
        return pid1->foreground == CREW_NOBODY ? 0 : crew_view(pid1->crew, pid1->foreground).pid;
}

/* A child that was forked a moment ago may still be in our own group, which is not to be signalled for it. */
static void signal_program(pid_t pid, int signal_number) {
        pid_t group = getpgid(pid);
        if (group <= 1 || group == getpgrp() || child_signal_group(group, signal_number) < 0)
                (void)child_signal(pid, signal_number);
}

/* True: we were stopped, and somebody continued us: his SIGCONT is still to be heard. What the crew waits for is put
 * off by the time that we were away. */
static bool stop_here(Pid1 *pid1, int signal_number) {
        /* PID 1 cannot be stopped from inside, and its group may be one of an outer namespace, whose processes can. */
        if (pid1->pid_one)
                return false;
        pid1_flush(pid1);
        usec_t before = clock_now_usec();
        signals_admit(signal_number);
        (void)child_signal_own_group(signal_number); /* this returns when we go on */
        signals_block();
        pid1->away_usec = usec_add(pid1->away_usec, usec_sub(clock_now_usec(), before));
        return signals_is_waiting(SIGCONT);
}

static void carry_out(Pid1 *pid1, pid_t pid, ForegroundOrder order, int signal_number);

static void suspend(Pid1 *pid1, pid_t pid, int signal_number) {
        char word[SIGNAL_TEXT_MAX], away[DURATION_TEXT_MAX];
        if (terminal_holder(&pid1->terminal) == HOLDER_PROGRAM) {
                terminal_put_aside(&pid1->terminal);
                terminal_take(&pid1->terminal);
        }
        pid1->is_suspended = true;
        signal_to_string(signal_number, word);
        usec_t before = pid1->away_usec;
        if (stop_here(pid1, foreground_stop_signal(signal_number))) {
                log_info("the foreground program was stopped by %s, and endwell with it, for %s", word,
                         duration_format(usec_sub(pid1->away_usec, before), away));
                return; /* the SIGCONT that ended it is heard next */
        }
        log_debug("the foreground program was stopped by %s, and no shell is there that could continue it", word);
        carry_out(pid1, pid, foreground_on_unstopped(terminal_holder(&pid1->terminal), signal_number), signal_number);
}

static void carry_out(Pid1 *pid1, pid_t pid, ForegroundOrder order, int signal_number) {
        switch (order) {
        case FOREGROUND_SUSPEND: suspend(pid1, pid, signal_number); return;
        case FOREGROUND_GIVE:
                terminal_give(&pid1->terminal, getpgid(pid));
                signal_program(pid, SIGCONT);
                break;
        case FOREGROUND_CONTINUE: signal_program(pid, SIGCONT); break;
        case FOREGROUND_LEAVE: return;
        }
        pid1->is_suspended = false;
}

void pid1_look_for_stop(Pid1 *pid1) {
        /* Without a terminal a stop is the business of who sent it. */
        pid_t pid = pid1->terminal.is_there ? program(pid1) : 0;
        int signal_number = roster_take_stop(pid);
        if (signal_number > 0)
                carry_out(pid1, pid,
                          foreground_on_stop(terminal_holder(&pid1->terminal), signal_number,
                                             crew_is_ending(pid1->crew)),
                          signal_number);
}

static void continue_group(const Pid1 *pid1) {
        if (!pid1->pid_one) /* see stop_here() */
                (void)child_signal_own_group(SIGCONT);
}

/* Somebody else of our own group, a pager behind a pipe perhaps, was stopped for reaching for the terminal that the
 * program has. Whoever runs them as one job means them to share it. */
static void share(Pid1 *pid1) {
        terminal_share(&pid1->terminal);
        continue_group(pid1);
}

static void pass_typed(Pid1 *pid1, pid_t pid, TerminalHolder holder, int signal_number) {
        if (holder == HOLDER_OURS && !pid1->terminal.is_shared)
                terminal_give(&pid1->terminal, getpgid(pid));
        signal_program(pid, signal_number);
}

/* The program has no terminal of ours, but was started from one: who types Ctrl-Z there wants his shell back. It is in
 * a session of its own, where the kernel ignores the polite way of stopping. */
static void stop_without_terminal(Pid1 *pid1, pid_t pid) {
        signal_program(pid, SIGSTOP);
        suspend(pid1, pid, SIGTSTP);
}

static const char *on_stop_key(Pid1 *pid1, pid_t pid, TerminalHolder holder) {
        if (holder == HOLDER_OURS || holder == HOLDER_PROGRAM)
                pass_typed(pid1, pid, holder, SIGTSTP);
        else if (holder == HOLDER_NOBODY && pid1->config->single && !crew_is_ending(pid1->crew))
                stop_without_terminal(pid1, pid);
        else
                return NULL;
        return "passed_on";
}

/* The kernel tells only the session's leader. The program hears of it from us; PID 1 itself lives on for the others. */
static const char *on_hangup(Pid1 *pid1, pid_t pid) {
        if (!pid1->terminal.is_there || pid1->config->single)
                return NULL;
        signal_program(pid, SIGHUP);
        return pid1->pid_one ? "passed_on" : NULL;
}

/* What the terminal makes is the program's, even where the kernel gave it to us: just before the program took the
 * foreground, or when a shell put us there without telling. */
static const char *on_typed(Pid1 *pid1, pid_t pid, TerminalHolder holder, int signal_number) {
        switch (signal_number) {
        case SIGINT:
        case SIGQUIT:
        case SIGWINCH:
                if (holder != HOLDER_OURS && holder != HOLDER_PROGRAM)
                        return NULL;
                pass_typed(pid1, pid, holder, signal_number);
                return "passed_on";
        case SIGTSTP: return on_stop_key(pid1, pid, holder);
        case SIGTTIN:
        case SIGTTOU:
                if (holder != HOLDER_PROGRAM)
                        return NULL;
                share(pid1);
                return "ignored";
        case SIGHUP: return on_hangup(pid1, pid);
        default: return NULL;
        }
}

/* With a program that is not suspended, it is either a shell's `fg`, or we were stopped alone and a shell has taken the
 * terminal meanwhile. */
static const char *on_continued(Pid1 *pid1, pid_t pid) {
        terminal_doubt(&pid1->terminal, getpgid(pid));
        TerminalHolder holder = terminal_holder(&pid1->terminal);
        if (pid1->is_suspended) {
                carry_out(pid1, pid, foreground_on_continued(holder), SIGCONT);
                return "passed_on";
        }
        if (holder == HOLDER_OURS && !pid1->terminal.is_shared)
                terminal_give(&pid1->terminal, getpgid(pid));
        return NULL;
}

const char *pid1_pass_to_foreground(Pid1 *pid1, const SignalReceived *signal) {
        pid_t pid = program(pid1);
        if (pid <= 0)
                return NULL;
        if (signal->number == SIGCONT)
                return on_continued(pid1, pid);
        return signal->from_kernel ? on_typed(pid1, pid, terminal_holder(&pid1->terminal), signal->number) : NULL;
}

void pid1_on_foreground_ended(Pid1 *pid1, uint32_t member, pid_t pid, Ended how) {
        if (member != pid1->foreground)
                return;
        if (pid1->terminal.is_given && signals_is_waiting(SIGCONT))
                terminal_doubt(&pid1->terminal, pid); /* see on_continued(), for which it is too late */
        TerminalHolder holder = terminal_holder(&pid1->terminal);
        pid1->ended_by = foreground_ended_by(how);
        pid1->is_suspended = pid1->terminal.has_left = false;
        terminal_take(&pid1->terminal);
        if (foreground_was_cut_off(how) && (holder == HOLDER_OURS || holder == HOLDER_PROGRAM))
                terminal_restore(&pid1->terminal);
        if (holder == HOLDER_PROGRAM)
                continue_group(pid1); /* whoever of our job reached for it meanwhile goes on */
}

void pid1_leave_terminal(Pid1 *pid1) {
        if (terminal_holder(&pid1->terminal) != HOLDER_PROGRAM)
                return;
        terminal_take(&pid1->terminal);
        terminal_restore(&pid1->terminal);
}
