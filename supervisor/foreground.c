/* foreground.c - see foreground.h. */
#include "supervisor/foreground.h"
#include <signal.h>
#include <sys/wait.h>

#define SHELL_SIGNALLED 128 /* a shell's exit status for a command that a signal ended: this and its number */
#define SIGNALS_MAX     64

/* It reached for a terminal that it does not have. */
static bool is_reaching(int signal_number) {
        return signal_number == SIGTTIN || signal_number == SIGTTOU;
}

ForegroundOrder foreground_on_stop(TerminalHolder holder, int signal_number, bool ending) {
        switch (holder) {
        case HOLDER_NOBODY: return FOREGROUND_LEAVE; /* whoever stopped it can continue it */
        case HOLDER_OURS:
                /* `fg` for a job that runs in the background comes without a SIGCONT: this is how we hear of it. */
                return ending || is_reaching(signal_number) ? FOREGROUND_GIVE : FOREGROUND_SUSPEND;
        case HOLDER_PROGRAM: return ending ? FOREGROUND_GIVE : FOREGROUND_SUSPEND;
        case HOLDER_OTHERS:
                if (!ending)
                        return FOREGROUND_SUSPEND;
                /* Continued without the terminal, it would reach for it again, and so on until it is killed. */
                return is_reaching(signal_number) ? FOREGROUND_LEAVE : FOREGROUND_CONTINUE;
        }
        return FOREGROUND_LEAVE;
}

ForegroundOrder foreground_on_unstopped(TerminalHolder holder, int signal_number) {
        if (holder == HOLDER_OURS || holder == HOLDER_PROGRAM)
                return FOREGROUND_GIVE;
        return holder == HOLDER_OTHERS && is_reaching(signal_number) ? FOREGROUND_LEAVE : FOREGROUND_CONTINUE;
}

ForegroundOrder foreground_on_continued(TerminalHolder holder) {
        return holder == HOLDER_OURS ? FOREGROUND_GIVE : FOREGROUND_CONTINUE;
}

int foreground_stop_signal(int signal_number) {
        return is_reaching(signal_number) ? signal_number : SIGTSTP;
}

int foreground_ended_by(Ended how) {
        if (how.code != CLD_EXITED)
                return how.status;
        int number = how.status - SHELL_SIGNALLED;
        return number > 0 && number <= SIGNALS_MAX ? number : 0;
}

bool foreground_was_cut_off(Ended how) {
        return foreground_ended_by(how) > 0;
}
