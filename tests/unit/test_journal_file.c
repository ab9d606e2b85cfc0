/* test_journal_file.c - the number in front of a line of the journal; the file is tested with the real program. */
#include "logger/journal_file.h"
#include <criterion/criterion.h>
#include <string.h>

Test(journal_file, the_number_of_a_line_is_read_and_nothing_else_is_taken_for_one) {
        static const struct {
                const char *line;
                uint64_t seq;
        } table[] = {
                { "{\"seq\":1,\"event\":\"x\"}\n", 1 },
                { "{\"seq\":18446744073709551615,", UINT64_MAX },
                { "{\"seq\":", 0 },
                { "{\"seq\":x", 0 },
                { "{\"sequence\":5}", 0 },
                { " {\"seq\":5}", 0 },
                { "", 0 },
                { "{\"seq\":12", 12 },
        };
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                cr_expect_eq(journal_line_seq(table[i].line, strlen(table[i].line)), table[i].seq, "row %zu", i);
        cr_expect_eq(journal_line_seq("{\"seq\":123", 8), 1, "never beyond the length");
}
