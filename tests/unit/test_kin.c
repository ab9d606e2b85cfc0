/* test_kin.c - the line of /proc/PID/stat, whatever name a process gave itself. */
#include "base/kin.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REST " S 41 42 43 34816 -1 4194560 1 2 3 4 5 6 7 8 20 -5 3 0 987654 1 2 3\n"

static int parse(const char *text, KinProcess *ret) {
        return kin_parse_stat(text, strlen(text), ret);
}

Test(kin, a_name_may_look_like_the_rest_of_the_line) {
        static const char *const names[] = {
                "sh", "", " ", "(", ")", ") S 1 1 1 (", "a b)c (d", ") Z 9 9 9 9 9 9 9 9 9 9 9",
        };
        for (size_t i = 0; i < LENGTH_OF(names); i++) {
                char line[256];
                KinProcess process;
                snprintf(line, sizeof line, "40 (%s)" REST, names[i]);
                cr_assert_eq(parse(line, &process), 0, "%s", line);
                cr_expect_eq(process.pid, 40);
                cr_expect_eq(process.parent, 41);
                cr_expect_eq(process.session, 43);
                cr_expect_eq(process.threads, 3);
                cr_expect_eq(process.start_ticks, 987654);
                cr_expect_eq(process.state, 'S');
                cr_expect_eq(strncmp(process.comm, names[i], 15), 0, "%s", process.comm);
        }
}

Test(kin, control_characters_of_a_name_do_not_reach_the_log) {
        KinProcess process;
        cr_assert_eq(parse("40 (a\nb\033[0m\x7f)" REST, &process), 0);
        cr_expect_str_eq(process.comm, "a?b?[0m?");
}

Test(kin, a_long_name_is_cut) {
        KinProcess process;
        cr_assert_eq(parse("40 (kworker/u8:3-events_unbound)" REST, &process), 0);
        cr_expect_str_eq(process.comm, "kworker/u8:3-ev");
}

Test(kin, what_is_no_such_line_is_refused_and_changes_nothing) {
        static const char *const lines[] = {
                "",
                "40",
                "40 (sh",
                "40 sh)",
                ")(",
                "(sh)" REST,
                "x (sh)" REST,
                "40 (sh)",
                "40 (sh) ",
                "40 (sh) S",
                "40 (sh) S 41 42",
                "40 (sh) S x 42 43 34816 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1",
                "40 (sh) S 41 42 43 34816 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0",
                "40 (sh) S 41 42 43 34816 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 ",
        };
        for (size_t i = 0; i < LENGTH_OF(lines); i++) {
                KinProcess process = { .pid = 77 };
                cr_expect_eq(parse(lines[i], &process), -EBADMSG, "%s", lines[i]);
                cr_expect_eq(process.pid, 77);
        }
}

/* A line that breaks off anywhere is either whole up to the start time or refused; nothing behind its end is read (the
 * address sanitizer watches: the copy ends where the text does). */
Test(kin, a_line_may_break_off_anywhere) {
        static const char line[] = "40 (a) b)" REST;
        for (size_t n = 0; n < sizeof line; n++) {
                KinProcess process;
                char *copy = malloc(n + (n == 0));
                memcpy(copy, line, n);
                int r = kin_parse_stat(copy, n, &process);
                cr_expect(r == 0 || r == -EBADMSG);
                free(copy);
        }
}

Test(kin, the_dead_are_told_from_those_whose_first_thread_ended) {
        cr_expect(kin_is_living(&(KinProcess){ .state = 'R', .threads = 1 }));
        cr_expect(kin_is_living(&(KinProcess){ .state = 'D', .threads = 1 }));
        cr_expect(kin_is_living(&(KinProcess){ .state = 'T', .threads = 1 }));
        cr_expect(kin_is_living(&(KinProcess){ .state = 'Z', .threads = 2 }));
        cr_expect_not(kin_is_living(&(KinProcess){ .state = 'Z', .threads = 1 }));
        cr_expect_not(kin_is_living(&(KinProcess){ .state = 'Z', .threads = 0 }));
        cr_expect_not(kin_is_living(&(KinProcess){ .state = 'X', .threads = 1 }));
}
