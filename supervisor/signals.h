/* signals.h - the one owner of signals: blocks them all, first thing in main, and hears them through sd-event.
 *
 * Nobody else may call sigaction, sigprocmask, signalfd or sd_event_add_signal (a test says no). Says what a signal
 * means by contracts/cli.md; carries nothing out. */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef enum SignalMeaning {
        SIGNAL_ENDS,      /* begins the ending; later ones are recorded */
        SIGNAL_ENDS_INT,  /* SIGINT: a second one of the same kind ends fast */
        SIGNAL_ENDS_QUIT, /* SIGQUIT: the same */
        SIGNAL_RELOADS,
        SIGNAL_DUMPS,
        SIGNAL_REOPENS,
        SIGNAL_COLLECTS,
        SIGNAL_IGNORED,
} SignalMeaning;

/* Pure. SIGHUP means SIGNAL_ENDS when this is not PID 1 and holds a terminal. */
SignalMeaning signal_meaning(int signal_number, bool pid_one, bool terminal);

/* Blocks every signal that can be blocked; then no signal has a handler or is ignored. The very first call of main():
 * one that arrives earlier is lost in a PID 1. */
void signals_block(void);
/* In a child, before exec: default dispositions for all, then an empty mask. `cleared`: the kernel took the handlers
 * away when it made the child; what is ignored signals_block() has undone. Async-signal-safe. */
int signals_reset_for_child(bool cleared);
/* Lets a stop signal do to us what it does by default, until the next signals_block(). */
void signals_admit(int signal_number);
/* True: this one was sent to us, and is not heard yet. */
bool signals_is_waiting(int signal_number);

typedef struct SignalReceived {
        int number;
        pid_t sender_pid; /* 0: from outside the PID namespace */
        uid_t sender_uid;
        pid_t child;      /* SIGCHLD: who */
        bool from_kernel; /* typed at the terminal, its new size, its hanging up; not sent by a process, wherever */
} SignalReceived;

typedef struct Signals Signals;
typedef void (*SignalHandler)(void *userdata, const SignalReceived *signal);

/* Hears all catchable signals (the caller has blocked them), SIGTERM and its like before SIGCHLD before the rest; a
 * source that fails ends the loop with an error instead of dying quietly. What we did to ourselves, by a write that met
 * a closed pipe or by continuing our own process group, is not heard. */
int signals_new(Signals **ret, sd_event *event, SignalHandler handler, void *userdata);
Signals *signals_free(Signals *signals);
