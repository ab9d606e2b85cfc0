/* test_texts.c - lists that end with NULL. */
#include "verify/texts.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

Test(texts, a_list_ends_with_null_however_long_it_is) {
        char **texts = NULL;
        size_t n = 0;

        for (size_t i = 1; i <= 100; i++) {
                cr_expect_eq(texts_add(&texts, &n, strdup("x")), 0);
                cr_expect_eq(n, i);
                cr_expect_null(texts[n]);
        }
        cr_expect_eq(texts_add(&texts, &n, NULL), -ENOMEM, "no memory for a text");
        cr_expect_eq(n, 100);
        cr_expect_null(texts_free(texts));
}

Test(texts, a_copy_has_texts_of_its_own_and_of_nothing_it_is_empty) {
        char *given[] = { (char *)"one", (char *)"two", NULL };
        char **copy;

        cr_assert_eq(texts_copy(given, &copy), 0);
        cr_expect_str_eq(copy[0], "one");
        cr_expect_str_eq(copy[1], "two");
        cr_expect_null(copy[2]);
        cr_expect_neq(copy[0], given[0]);
        texts_free(copy);
        cr_assert_eq(texts_copy(NULL, &copy), 0);
        cr_expect_null(copy[0]);
        texts_free(copy);
        cr_expect_null(texts_free(NULL));
}
