/* test_fingerprint.c - what errors of one cause have in common. */
#include "ledger/fingerprint.h"
#include <criterion/criterion.h>
#include <string.h>

Test(fingerprint, numbers_names_and_quotations_go) {
        static const char *const table[][2] = {
                { "row 17: bad value 'x y' in column 3", "row #: bad value '…' in column #" },
                { "no user 3f2a9c11-7d40-4e55-9c1e-aa0b1c2d3e4f.", "no user #." },
                { "hash deadbeef01 is wrong", "hash # is wrong" },
                { "connection to 10.0.0.7:5432 refused", "connection to # refused" },
                { "at 2026-12-01T10:00:00", "at #-#-#T#" },
                { "can't open \"/tmp/a b\"", "can't open '…'" },
                { "address 0x7fff12 is bad", "address # is bad" },
                { "timeout after 30s", "timeout after #s" },
                { "first line 1\nsecond line 2", "first line #" },
                { "a   b", "a b" },
                { "", "" },
                { "decade of a bad face", "decade of a bad face" },
                { "it's 'open", "it's 'open" },
        };
        char text[FINGERPRINT_MAX];

        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                cr_expect_str_eq(fingerprint(table[i][0], text), table[i][1], "%s -> %s", table[i][0], text);
}

Test(fingerprint, one_cause_is_one_and_two_are_two) {
        char one[FINGERPRINT_MAX], two[FINGERPRINT_MAX];

        fingerprint("corrupt file at byte 4711", one);
        cr_assert_str_eq(one, fingerprint("corrupt file at byte 12", two));
        cr_assert_str_neq(one, fingerprint("corrupt header at byte 12", two));
}

Test(fingerprint, long_and_odd_text_stays_within_its_bounds_and_printable) {
        char text[5000], print[FINGERPRINT_MAX];

        for (size_t n = 0; n < 300; n++) {
                memset(text, 'a', n);
                strcpy(text + n, "ü'quoted'12\033[31m\xff");
                fingerprint(text, print);
                cr_assert_lt(strlen(print), FINGERPRINT_MAX);
                cr_assert_null(strchr(print, '\033'));
        }
        memset(text, '\'', sizeof text - 1);
        text[sizeof text - 1] = '\0';
        cr_assert_lt(strlen(fingerprint(text, print)), FINGERPRINT_MAX);
}
