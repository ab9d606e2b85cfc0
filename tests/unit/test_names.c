/* test_names.c - which names are allowed, what was probably meant, and the words of signals. */
#include "base/names.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>

Test(names, letters_digits_and_three_marks_make_a_name) {
        cr_assert(name_is_valid("web"));
        cr_assert(name_is_valid("A-z_0.9"));
        cr_assert(name_is_valid("0123456789012345678901234567890123456789"));
        cr_assert_not(name_is_valid("01234567890123456789012345678901234567890"));
        cr_assert_not(name_is_valid(""));
        cr_assert_not(name_is_valid("a b"));
        cr_assert_not(name_is_valid("a/b"));
        cr_assert_not(name_is_valid("a@1"));
        cr_assert_not(name_is_valid("\xC3\xA4"));
        cr_assert_not(name_is_valid("a\n"));
}

Test(names, the_nearest_known_name_is_found) {
        static const char *const known[] = { "Exec", "ExecStart", "Group", "User", "Restart", "RestartSec", "On" };
        static const struct {
                const char *name, *nearest;
        } cases[] = {
                { "ExecStrat", "ExecStart" },
                { "execstart", "ExecStart" },
                { "Goup", "Group" },
                { "Grop", "Group" },
                { "RestartSce", "RestartSec" },
                { "Restrat", "Restart" },
                { "Resttart", "Restart" },
                { "Usr", "User" },
                { "on", "On" },
                { "Om", "On" },
                { "Xy", NULL },
                { "o", NULL },
                { "", NULL },
                { "TimeoutStopSec", NULL },
                { "Frobnicate", NULL },
                { "ExecStartttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt", NULL },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                const char *nearest = name_nearest(cases[i].name, known, LENGTH_OF(known));
                if (cases[i].nearest)
                        cr_expect(nearest && strcmp(nearest, cases[i].nearest) == 0, "%s: %s", cases[i].name,
                                  nearest ? nearest : "none");
                else
                        cr_expect_null(nearest, "%s: %s", cases[i].name, nearest);
        }
}

Test(names, an_edit_too_many_is_another_word) {
        static const char *const known[] = { "abcdefghi" }; /* nine letters: three slips */
        cr_assert_not_null(name_nearest("abcdefxyz", known, 1));
        cr_assert_null(name_nearest("abcdewxyz", known, 1));
}

Test(names, signals_are_known_by_name_and_number) {
        static const struct {
                const char *text;
                int number;
        } cases[] = {
                { "SIGTERM", SIGTERM }, { "TERM", SIGTERM },   { "15", SIGTERM },      { "sigterm", SIGTERM },
                { "SIGPWR", SIGPWR },   { "SIGIOT", SIGABRT }, { "SIGABRT", SIGABRT }, { "SIGPOLL", SIGIO },
                { "SIGIO", SIGIO },     { "CHLD", SIGCHLD },   { "WINCH", SIGWINCH },  { "SIGUSR1", SIGUSR1 },
                { "1", SIGHUP },        { "KILL", SIGKILL },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++)
                cr_expect_eq(signal_from_string(cases[i].text), cases[i].number, "%s", cases[i].text);
}

Test(names, real_time_signals_are_counted_from_both_ends) {
        cr_assert_eq(signal_from_string("SIGRTMIN"), SIGRTMIN);
        cr_assert_eq(signal_from_string("SIGRTMIN+3"), SIGRTMIN + 3);
        cr_assert_eq(signal_from_string("RTMAX-1"), SIGRTMAX - 1);
        cr_assert_eq(signal_from_string("RTMAX"), SIGRTMAX);
        cr_assert_eq(signal_from_string("64"), 64);
        cr_assert_eq(signal_from_string("SIGRTMIN+30"), SIGRTMAX);
}

Test(names, what_is_no_signal_is_refused) {
        static const char *const cases[] = {
                "",
                "0",
                "-15",
                "65",
                "32",
                "33",
                "SIGTERMINATE",
                "SIG",
                "SIGSIGTERM",
                "SIG15",
                "RTMIN+31",
                "RTMIN-1",
                "RTMAX+1",
                "RTMIN+",
                "TERM ",
                " TERM",
                "015x",
                "99999999999999999999",
                "SIGRTMIN+-1",
                "UNKNOWN",
        };
        for (size_t i = 0; i < LENGTH_OF(cases); i++)
                cr_expect_eq(signal_from_string(cases[i]), -EINVAL, "%s", cases[i]);
}

Test(names, each_signal_is_read_back_from_its_name) {
        char text[SIGNAL_TEXT_MAX];
        unsigned n = 0;

        for (int number = 1; number <= SIGRTMAX; number++) {
                if (number == 32 || number == 33)
                        continue;
                cr_expect_eq(signal_from_string(signal_to_string(number, text)), number, "%s", text);
                n++;
        }
        cr_assert_eq(n, 62);
        cr_assert_str_eq(signal_to_string(SIGTERM, text), "SIGTERM");
        cr_assert_str_eq(signal_to_string(SIGRTMIN + 3, text), "SIGRTMIN+3");
        cr_assert_str_eq(signal_to_string(99, text), "SIG99");
        cr_assert_str_eq(signal_to_string(-2147483647 - 1, text), "SIG-2147483648");
}
