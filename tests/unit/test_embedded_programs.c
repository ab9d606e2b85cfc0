/* test_embedded_programs.c - which version a postgres says that it is. */
#include "ledger/embedded_programs.h"
#include <criterion/criterion.h>

Test(embedded_programs, the_major_version_is_read_from_what_postgres_says_of_itself) {
        static const struct {
                const char *text;
                unsigned version;
        } cases[] = {
                { "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)\n", 15 },
                { "postgres (PostgreSQL) 17beta2\n", 17 },
                { "postgres (PostgreSQL) 9.6.24\n", 9 },
                { "postgres (PostgreSQL)\n", 0 },
                { "postgres (PostgreSQL) x\n", 0 },
                { "postgres (EDB) 15\n", 0 },
                { "", 0 },
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                cr_expect_eq(embedded_version_of(cases[i].text), cases[i].version, "%s", cases[i].text);
}
