/* test_signals.c - what each signal means: every signal, as PID 1 or not, with a terminal or not. */
#include "base/take.h"
#include "supervisor/signals.h"
#include <criterion/criterion.h>

static SignalMeaning expected(int number, bool pid_one, bool terminal) {
        static const struct {
                int number;
                SignalMeaning meaning;
        } table[] = {
                { SIGTERM, SIGNAL_ENDS },      { SIGPWR, SIGNAL_ENDS },      { SIGINT, SIGNAL_ENDS_INT },
                { SIGQUIT, SIGNAL_ENDS_QUIT }, { SIGHUP, SIGNAL_RELOADS },   { SIGUSR1, SIGNAL_DUMPS },
                { SIGUSR2, SIGNAL_REOPENS },   { SIGCHLD, SIGNAL_COLLECTS },
        };
        if (number == SIGRTMIN + 3)
                return SIGNAL_ENDS;
        if (number == SIGHUP && !pid_one && terminal)
                return SIGNAL_ENDS;
        for (size_t i = 0; i < LENGTH_OF(table); i++)
                if (table[i].number == number)
                        return table[i].meaning;
        return SIGNAL_IGNORED;
}

Test(signals, each_means_what_the_contract_says) {
        for (int number = 0; number <= SIGRTMAX + 1; number++)
                for (int i = 0; i < 4; i++)
                        cr_expect_eq(signal_meaning(number, i & 1, i & 2), expected(number, i & 1, i & 2),
                                     "signal %d, PID 1: %d, terminal: %d", number, i & 1, i & 2);
}

Test(signals, a_lost_terminal_ends_only_what_is_not_pid_one) {
        cr_expect_eq(signal_meaning(SIGHUP, true, true), SIGNAL_RELOADS);
        cr_expect_eq(signal_meaning(SIGHUP, false, false), SIGNAL_RELOADS);
        cr_expect_eq(signal_meaning(SIGHUP, false, true), SIGNAL_ENDS);
}
