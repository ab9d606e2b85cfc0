/* test_storable.c - what commands write becomes JSON. */
#include "base/take.h"
#include "worker/storable.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void expect(const char *bytes, size_t length, const char *stored) {
        _cleanup_(freep) char *got = NULL;
        cr_assert_eq(storable_new(bytes, length, &got), 0);
        if (stored)
                cr_expect_str_eq(got, stored);
        else
                cr_expect_null(got);
}

Test(storable, json_stays_as_it_is) {
        expect("{\"a\": 1.0}", 10, "{\"a\": 1.0}");
        expect("17\n", 3, "17\n");
        expect(" [1]", 4, " [1]");
}

Test(storable, blanks_are_no_result) {
        expect("", 0, NULL);
        expect(" \n\t\r", 4, NULL);
}

Test(storable, anything_else_becomes_base64) {
        expect("hello\n", 6, "{\"base64\":\"aGVsbG8K\"}");
        expect("a", 1, "{\"base64\":\"YQ==\"}");
        expect("ab", 2, "{\"base64\":\"YWI=\"}");
        expect("\0", 1, "{\"base64\":\"AA==\"}");
        expect("\xff\xfe", 2, "{\"base64\":\"//4=\"}");
        expect("\"\xff\"", 3, "{\"base64\":\"Iv8i\"}");
        expect("1\0", 2, "{\"base64\":\"MQA=\"}");
}
