/* test_finding.c - the words of what was found. */
#include "prober/finding.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(finding, each_has_a_word) {
        for (int i = 0; i < _FINDING_MAX; i++)
                cr_assert_not_null(finding_to_string((Finding)i));
        cr_assert_null(finding_to_string(_FINDING_MAX));
}

Test(finding, an_error_of_the_other_side_is_its_failure_and_reads_as_part_of_a_sentence) {
        static const struct {
                int error;
                const char *detail;
        } table[] = {
                { ECONNREFUSED, "connection refused" },
                { ENOENT, "no such file or directory" },
                { EHOSTUNREACH, "no route to host" },
                { 123456, "unknown error" },
        };
        char detail[FINDING_DETAIL_MAX];
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                cr_assert_eq(finding_of_error(table[i].error, detail), FINDING_FAILED);
                cr_assert_str_eq(detail, table[i].detail);
        }
}

Test(finding, a_want_of_our_own_says_nothing_of_the_other_side) {
        static const int errors[] = { EMFILE, ENFILE, ENOMEM, ENOBUFS };
        char detail[FINDING_DETAIL_MAX];
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
                cr_assert_eq(finding_of_error(errors[i], detail), FINDING_UNKNOWN);
                cr_assert_eq(detail, strstr(detail, "could not look: "));
        }
}
