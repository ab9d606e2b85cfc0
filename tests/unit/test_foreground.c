/* test_foreground.c - what becomes of the terminal: every stop, by whomever, with every holder, in and out of an
 * ending. */
#include "base/take.h"
#include "supervisor/foreground.h"
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>

static const int stops[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };

static bool reaches(int number) {
        return number == SIGTTIN || number == SIGTTOU;
}

Test(foreground, a_stop_is_the_shells_to_see_outside_an_ending) {
        for (size_t i = 0; i < LENGTH_OF(stops); i++) {
                cr_expect_eq(foreground_on_stop(HOLDER_PROGRAM, stops[i], false), FOREGROUND_SUSPEND);
                cr_expect_eq(foreground_on_stop(HOLDER_OTHERS, stops[i], false), FOREGROUND_SUSPEND);
        }
}

Test(foreground, who_reaches_for_a_terminal_that_is_ours_to_give_gets_it) {
        cr_expect_eq(foreground_on_stop(HOLDER_OURS, SIGTTIN, false), FOREGROUND_GIVE);
        cr_expect_eq(foreground_on_stop(HOLDER_OURS, SIGTTOU, false), FOREGROUND_GIVE);
        cr_expect_eq(foreground_on_stop(HOLDER_OURS, SIGTSTP, false), FOREGROUND_SUSPEND);
        cr_expect_eq(foreground_on_stop(HOLDER_OURS, SIGSTOP, false), FOREGROUND_SUSPEND);
}

Test(foreground, in_an_ending_nobody_stops_and_nothing_is_continued_into_the_next_stop) {
        for (TerminalHolder holder = HOLDER_NOBODY; holder <= HOLDER_OTHERS; holder++)
                for (size_t i = 0; i < LENGTH_OF(stops); i++) {
                        ForegroundOrder order = foreground_on_stop(holder, stops[i], true);
                        cr_expect_neq(order, FOREGROUND_SUSPEND);
                        if (holder == HOLDER_OURS || holder == HOLDER_PROGRAM)
                                cr_expect_eq(order, FOREGROUND_GIVE);
                        else if (reaches(stops[i]))
                                cr_expect_eq(order, FOREGROUND_LEAVE);
                }
}

Test(foreground, without_a_terminal_a_stop_is_the_business_of_who_sent_it) {
        for (size_t i = 0; i < LENGTH_OF(stops); i++)
                for (int ending = 0; ending < 2; ending++)
                        cr_expect_eq(foreground_on_stop(HOLDER_NOBODY, stops[i], ending), FOREGROUND_LEAVE);
}

/* What happens to a program that stops, is continued, and does again what it stopped for: it must come to rest. */
Test(foreground, whatever_a_program_stops_for_it_is_never_lost_and_never_goes_round_in_circles) {
        for (TerminalHolder at = HOLDER_NOBODY; at <= HOLDER_OTHERS; at++)
                for (size_t i = 0; i < LENGTH_OF(stops); i++)
                        for (int ending = 0; ending < 2; ending++) {
                                TerminalHolder holder = at;
                                ForegroundOrder order = foreground_on_stop(holder, stops[i], ending);
                                if (order == FOREGROUND_SUSPEND) {
                                        holder = holder == HOLDER_PROGRAM ? HOLDER_OURS : holder; /* taken back */
                                        order = foreground_on_unstopped(holder, stops[i]);
                                        cr_expect_neq(order, FOREGROUND_SUSPEND, "it would be tried for ever");
                                }
                                bool gets = order == FOREGROUND_GIVE, goes_on = gets || order == FOREGROUND_CONTINUE;
                                cr_expect(!gets || holder == HOLDER_OURS || holder == HOLDER_PROGRAM,
                                          "a terminal of others is given away");
                                cr_expect(!goes_on || gets || !reaches(stops[i]), "it stops at once again");
                                cr_expect(goes_on || holder == HOLDER_NOBODY || reaches(stops[i]), "it is lost");
                        }
}

Test(foreground, a_continued_endwell_continues_it_with_the_terminal_that_a_shell_gave_us) {
        cr_expect_eq(foreground_on_continued(HOLDER_OURS), FOREGROUND_GIVE);
        cr_expect_eq(foreground_on_continued(HOLDER_OTHERS), FOREGROUND_CONTINUE);
        cr_expect_eq(foreground_on_continued(HOLDER_PROGRAM), FOREGROUND_CONTINUE);
        cr_expect_eq(foreground_on_continued(HOLDER_NOBODY), FOREGROUND_CONTINUE);
}

Test(foreground, we_never_stop_ourselves_by_what_cannot_be_refused) {
        for (size_t i = 0; i < LENGTH_OF(stops); i++) {
                int number = foreground_stop_signal(stops[i]);
                cr_expect_neq(number, SIGSTOP);
                cr_expect_eq(number, reaches(stops[i]) ? stops[i] : SIGTSTP);
        }
}

Test(foreground, what_was_cut_off_is_known_even_behind_a_shell) {
        static const struct {
                int code, status, number;
        } table[] = {
                { CLD_EXITED, 0, 0 },   { CLD_EXITED, 1, 0 },        { CLD_EXITED, 128, 0 },
                { CLD_EXITED, 137, 9 }, { CLD_EXITED, 130, SIGINT }, { CLD_EXITED, 192, 64 },
                { CLD_EXITED, 193, 0 }, { CLD_EXITED, 255, 0 },      { CLD_KILLED, SIGKILL, SIGKILL },
                { CLD_KILLED, 2, 2 },   { CLD_DUMPED, 11, 11 },
        };
        for (size_t i = 0; i < LENGTH_OF(table); i++) {
                Ended how = { .code = table[i].code, .status = table[i].status };
                cr_expect_eq(foreground_ended_by(how), table[i].number, "row %zu", i);
                cr_expect_eq(foreground_was_cut_off(how), table[i].number > 0, "row %zu", i);
        }
}
