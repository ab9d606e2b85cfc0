/* test_config_url.c - the place of a database: what is taken, what is refused without being shown, and how that of a
 * socket is written. */
#include "base/take.h"
#include "supervisor/config_url.h"
#include <criterion/criterion.h>
#include <string.h>

Test(config_url, what_libpq_may_understand_is_taken) {
        static const char *const good[] = {
                "postgresql://app:s3cret@db/app",  "postgres://db", "postgresql:///app?host=/run/postgresql",
                "host=db user=app password='a b'", "service=main",  "dbname=x password=a://b",
        };

        for (size_t i = 0; i < LENGTH_OF(good); i++)
                cr_expect_null(url_problem(good[i]), "%s: %s", good[i], url_problem(good[i]));
}

Test(config_url, what_is_refused_is_not_shown) {
        static const char *const bad[] = {
                "", "  ", "s3cret", "postgresql:/app:s3cret@db", "mysql://app:s3cret@db", "postgres:s3cret@db"
        };

        for (size_t i = 0; i < LENGTH_OF(bad); i++) {
                const char *problem = url_problem(bad[i]);
                cr_assert_not_null(problem, "%s", bad[i]);
                cr_expect_null(strstr(problem, "s3cret"), "%s: %s", bad[i], problem);
        }
}

Test(config_url, a_socket_is_named_by_its_folder_and_each_odd_letter_by_its_number) {
        static const char *const cases[][2] = {
                { "/var/lib/db", "postgresql:///endwell?host=%2Fvar%2Flib%2Fdb&user=endwell" },
                { "/a b&c=d?%/\xc3\xa4", "postgresql:///endwell?host=%2Fa%20b%26c%3Dd%3F%25%2F%C3%A4&user=endwell" },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                _cleanup_(freep) char *url = NULL, *word = NULL;
                cr_assert_eq(url_of_socket(cases[i][0], &url, &word), 0);
                cr_expect_str_eq(url, cases[i][1]);
                cr_expect_eq(strncmp(word, "DATABASE_URL=", 13), 0);
                cr_expect_str_eq(word + 13, url);
        }
}
