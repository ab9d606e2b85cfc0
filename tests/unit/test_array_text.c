/* test_array_text.c - arrays as PostgreSQL reads them. */
#include "base/take.h"
#include "worker/array_text.h"
#include <criterion/criterion.h>
#include <stdio.h>

Test(array_text, elements_are_quoted_and_null_is_not) {
        const char *elements[] = { "a", NULL, "", "{\"k\": \"\\n,}\"}", "NULL" };
        _cleanup_(freep) char *text = array_text(elements, LENGTH_OF(elements));
        cr_expect_str_eq(text, "{\"a\",NULL,\"\",\"{\\\"k\\\": \\\"\\\\n,}\\\"}\",\"NULL\"}");
}

Test(array_text, none_is_an_empty_array) {
        _cleanup_(freep) char *text = array_text(NULL, 0);
        cr_expect_str_eq(text, "{}");
}
