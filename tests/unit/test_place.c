/* test_place.c - where a database is, for people, and URLs that cannot be meant. */
#include "ledger/place.h"
#include <criterion/criterion.h>
#include <errno.h>

Test(place, it_reads_as_user_host_port_and_name) {
        char text[PLACE_MAX];

        cr_assert_str_eq(place_format(&(Place){ "app", "db.example", "6432", "jobs" }, text),
                         "app@db.example:6432/jobs");
        cr_assert_str_eq(place_format(&(Place){ "app", NULL, NULL, NULL }, text), "app@(socket):5432/app");
        cr_assert_str_eq(place_format(&(Place){ NULL, "/run/pg", "", "" }, text), "/run/pg:5432/");
        cr_assert_str_eq(place_format(&(Place){ "a\033[1mb", "h\n", "1", "d" }, text), "a?[1mb@h?:1/d");
}

Test(place, a_password_that_was_not_encoded_and_became_another_part_is_refused_and_not_shown) {
        static const Place table[] = {
                { "app", "ss@db.example", NULL, "jobs" },    /* app:pa@ss@db.example */
                { NULL, "app", "pa", "ss@db.example/jobs" }, /* app:pa/ss@db.example/jobs */
                { NULL, "app", "12", "s3cret@db.example" },  /* app:12/s3cret@db.example */
        };
        char problem[PLACE_MAX];

        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                cr_assert_eq(place_judge(&table[i], problem), -EINVAL);
                cr_assert_null(strstr(problem, "ss@"));
                cr_assert_null(strstr(problem, "s3cret"));
                cr_assert(strstr(problem, "percent-encoded"));
        }
}

Test(place, several_hosts_and_sockets_are_fine) {
        static const Place table[] = {
                { "app", "one,two", "5432,5433", "jobs" },
                { "a@b", "/run/x@y", NULL, "jobs" },
                { NULL, "@abstract", NULL, NULL },
                { 0 },
        };
        char problem[PLACE_MAX];

        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                cr_assert_eq(place_judge(&table[i], problem), 0);
}

Test(place, what_libpq_cannot_read_is_explained_without_a_word_of_it) {
        static const char *const urls[] = { "postgresql://app:s3%zzcret@db", "s3cret", "mysql://app:s3cret@db",
                                            "postgresql+psycopg://app:s3cret@db", "jdbc:postgresql://s3cret" };
        char problem[PLACE_MAX];

        for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
                cr_assert_null(strstr(place_explain(urls[i], problem), "cret"));
                cr_assert(strlen(problem) > 20 && strlen(problem) < PLACE_MAX - 1);
        }
}
