/* test_pq_url.c - URLs of another database on the same server. */
#include "base/take.h"
#include "ledger/pq_url.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

static void clean(void) {
        static const char *const names[] = { "PGHOST",     "PGPORT",    "PGUSER",    "PGPASSWORD", "PGDATABASE",
                                             "PGHOSTADDR", "PGSERVICE", "PGOPTIONS", "PGSSLMODE",  "PGAPPNAME" };
        for (size_t i = 0; i < LENGTH_OF(names); i++)
                unsetenv(names[i]);
}

TestSuite(pq_url, .init = clean);

Test(pq_url, a_url_keeps_its_server_its_secret_and_its_parameters_and_gets_another_name) {
        static const struct {
                const char *url, *host, *database, *expected;
        } cases[] = {
                { "postgresql://a:p%40w@db:5433/jobs?sslmode=require", NULL, "x",
                  "postgresql://a:p%40w@db:5433/x?sslmode=require" },
                { "postgresql://a@db/jobs", "127.0.0.1", "x", "postgresql://a@127.0.0.1:5432/x" },
                { "host=/tmp/pg port=5 user=u dbname=d", NULL, "x y", "postgresql://u@/x%20y?host=%2Ftmp%2Fpg&port=5" },
                { "postgresql://u@[::1]:7/d", NULL, NULL, "postgresql://u@[::1]:7/d" },
                { "user=u host=h hostaddr=10.0.0.1", NULL, NULL, "postgresql://u@10.0.0.1:5432/u" },
                { "user=u", NULL, "x", "postgresql://u@/x?host=%2Fvar%2Frun%2Fpostgresql&port=5432" },
        };
        PqServer server;

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                cr_assert_eq(pq_server(cases[i].url, cases[i].host, cases[i].database, &server), 0, "%s", cases[i].url);
                cr_expect_str_eq(server.url, cases[i].expected);
                pq_server_done(&server);
        }
}

Test(pq_url, what_libpq_would_take_from_the_environment_stands_in_it) {
        PqServer server;

        setenv("PGHOST", "/run/x", 1);
        setenv("PGUSER", "me", 1);
        setenv("PGPASSWORD", "s", 1);
        cr_assert_eq(pq_server(NULL, NULL, "x", &server), 0);
        cr_expect_str_eq(server.url, "postgresql://me:s@/x?host=%2Frun%2Fx&port=5432");
        cr_expect(pq_server_is_local(&server));
        pq_server_done(&server);
}

Test(pq_url, what_is_no_url_is_refused) {
        PqServer server;
        cr_expect_eq(pq_server("postgresql://a:b@[::1/x", NULL, "x", &server), -EINVAL);
}
