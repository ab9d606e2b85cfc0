/* test_schema_name.c - the schema's name in SQL text. */
#include "base/take.h"
#include "ledger/schema_name.h"
#include <criterion/criterion.h>
#include <string.h>

Test(schema_name, odd_names_are_quoted_so_that_they_stay_names) {
        static const char *const table[][2] = { { "endwell", "\"endwell\"" },
                                                { "my \"jobs\"", "\"my \"\"jobs\"\"\"" },
                                                { "a.b;drop--", "\"a.b;drop--\"" },
                                                { "@schema@", "\"@schema@\"" } };

        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                _cleanup_(freep) char *quoted = schema_name_quote(table[i][0]);
                cr_assert_str_eq(quoted, table[i][1]);
        }
}

Test(schema_name, each_placeholder_is_replaced_and_nothing_else) {
        static const char *const table[][2] = {
                { "select @schema@.claim(), '@ schema@' from @schema@.job",
                  "select \"x\".claim(), '@ schema@' from \"x\".job" },
                { "@schema@", "\"x\"" },
                { "", "" },
                { "@schema@@schema@@schema", "\"x\"\"x\"@schema" },
        };

        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                _cleanup_(freep) char *text = schema_name_place(table[i][0], "x");
                cr_assert_str_eq(text, table[i][1]);
        }
}

Test(schema_name, a_name_that_holds_the_placeholder_is_not_replaced_again) {
        _cleanup_(freep) char *text = schema_name_place("@schema@.a", "@schema@");

        cr_assert_str_eq(text, "\"@schema@\".a");
}

Test(schema_name, what_the_server_would_cut_or_refuse_is_refused_before) {
        char longest[SCHEMA_NAME_MAX + 2] = { 0 };

        memset(longest, 'a', SCHEMA_NAME_MAX);
        cr_assert_eq(schema_name_judge(longest), 0);
        longest[SCHEMA_NAME_MAX] = 'a';
        cr_assert_lt(schema_name_judge(longest), 0);
        static const char *const bad[] = { "", "pg_jobs", "a\nb", "\xff", "a\x7f", "o'brien", "a$$b" };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_assert_lt(schema_name_judge(bad[i]), 0, "%zu", i);
        cr_assert_eq(schema_name_judge("my \"jobs\""), 0);
        cr_assert_eq(schema_name_judge("aufträge"), 0);
}
