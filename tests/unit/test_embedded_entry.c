/* test_embedded_entry.c - who may connect to an embedded database, and as whom. */
#include "ledger/embedded_entry.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static char text[512];

Test(embedded_entry, the_users_may_be_the_owner_and_root_and_the_databases_user_anybody) {
        cr_assert_eq(embedded_write_ident("root:app:www-data", "postgres", text, sizeof text), 0);
        cr_expect_str_eq(text, "endwell \"root\" postgres\n"
                               "endwell \"postgres\" postgres\n"
                               "endwell \"root\" endwell\n"
                               "endwell \"app\" endwell\n"
                               "endwell \"www-data\" endwell\n");
}

Test(embedded_entry, nobody_is_the_superuser_by_being_a_service) {
        cr_assert_eq(embedded_write_ident("app", "db", text, sizeof text), 0);
        cr_expect_null(strstr(text, "\"app\" postgres"));
        cr_expect_not_null(strstr(text, "\"db\" postgres"));
}

Test(embedded_entry, nobody_needs_to_be_let_in) {
        cr_assert_eq(embedded_write_ident("", "root", text, sizeof text), 0);
        cr_expect_str_eq(text, "endwell \"root\" postgres\n");
}

Test(embedded_entry, a_name_that_would_mean_something_else_in_the_file_is_refused) {
        static const char *const bad[] = { "a\"b", "/.*", "a\nb", "a\\b", ":", "a::b" };

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_expect_eq(embedded_write_ident(bad[i], "db", text, sizeof text), -EINVAL, "%s", bad[i]);
        cr_expect_eq(embedded_write_ident("app", "/.*", text, sizeof text), -EINVAL);
}

Test(embedded_entry, what_does_not_fit_is_an_error_and_never_a_part) {
        size_t needed;

        cr_assert_eq(embedded_write_ident("app", "db", text, sizeof text), 0);
        needed = strlen(text) + 1;
        cr_expect_eq(embedded_write_ident("app", "db", text, needed), 0);
        cr_expect_eq(embedded_write_ident("app", "db", text, needed - 1), -ENOSPC);
        cr_expect_eq(embedded_write_ident("app", "db", text, 0), -ENOSPC);
}

Test(embedded_entry, the_only_way_in_is_the_socket_and_the_kernels_word) {
        cr_expect_not_null(strstr(embedded_hba, "\nlocal all all peer map=endwell\n"));
        cr_expect_null(strstr(embedded_hba, "trust"));
        cr_expect_null(strstr(embedded_hba, "host"));
}
