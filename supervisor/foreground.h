/* foreground.h - what becomes of the terminal when the foreground program stops, goes on or ends: decides, does nothing
 * itself.
 *
 * Pure. A shell shows what a stopped job wants: it takes its terminal back, and `fg` gives it away again. We stand
 * between: to the shell we are the job, to the program we are the shell. Where nobody is above us who could continue us
 * (PID 1), nobody could continue the program either, so it does not stay stopped. */
#pragma once
#include "supervisor/crew.h"
#include <stdbool.h>

typedef enum TerminalHolder {
        HOLDER_NOBODY,  /* there is no terminal, it hung up, or it is another session's */
        HOLDER_OURS,    /* our own process group: by the shell's `fg`, or because nobody else has it */
        HOLDER_PROGRAM, /* whom we gave it to, or whoever has it from there */
        HOLDER_OTHERS,  /* we are a job in the background */
} TerminalHolder;

typedef enum ForegroundOrder {
        FOREGROUND_LEAVE,    /* nothing is done */
        FOREGROUND_SUSPEND,  /* take the terminal back if the program has it, then stop our own group as the program was
                              */
        FOREGROUND_GIVE,     /* the terminal to the program, and continue it */
        FOREGROUND_CONTINUE, /* continue it, and leave the terminal where it is */
} ForegroundOrder;

/* The program was stopped by this signal. */
ForegroundOrder foreground_on_stop(TerminalHolder holder, int signal_number, bool ending);
/* FOREGROUND_SUSPEND came to nothing: nobody above us could have continued us, so the kernel did not stop us. */
ForegroundOrder foreground_on_unstopped(TerminalHolder holder, int signal_number);
/* Somebody sent us SIGCONT. */
ForegroundOrder foreground_on_continued(TerminalHolder holder);

/* With which signal our own group stops for one that stopped the program: never SIGSTOP, which would stop us even where
 * nobody could continue us. */
int foreground_stop_signal(int signal_number);

/* True: it was cut off, so the modes in which it left the terminal are nobody's wish. A shell that stands between says
 * 128 and the signal. */
bool foreground_was_cut_off(Ended how);
/* The signal of which it ended, or of which a shell as its main process said that its last command ended; 0: none. */
int foreground_ended_by(Ended how);
