/* test_digest.c - sums of known bytes. */
#include "verify/digest.h"
#include <criterion/criterion.h>

Test(digest, the_sum_of_abc_is_the_one_of_the_standard_in_one_piece_and_in_three) {
        static const char expected[] =
                "3 bytes, SHA-256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        char text[DIGEST_TEXT_MAX];
        Digest *whole = digest_new(), *pieces = digest_new();

        digest_add(whole, "abc", 3);
        digest_end(whole, text);
        cr_expect_str_eq(text, expected);
        digest_add(pieces, "a", 1);
        digest_add(pieces, "b", 1);
        digest_add(pieces, "c", 1);
        digest_end(pieces, text);
        cr_expect_str_eq(text, expected);
        digest_end(NULL, text);
        cr_expect_str_eq(text, "?");
}
