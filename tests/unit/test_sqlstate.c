/* test_sqlstate.c - what the codes of PostgreSQL mean to us. */
#include "ledger/sqlstate.h"
#include <criterion/criterion.h>

Test(sqlstate, each_code_has_the_answer_that_its_reader_needs) {
        static const struct {
                const char *state;
                SqlAnswer answer;
        } table[] = {
                { "40001", SQL_RETRY },     { "40P01", SQL_RETRY },     { "55P03", SQL_RETRY },
                { "57014", SQL_TIMEOUT },   { "57P01", SQL_LOST },      { "57P02", SQL_LOST },
                { "57P03", SQL_LOST },      { "08006", SQL_LOST },      { "08P01", SQL_LOST },
                { "25P03", SQL_LOST },      { "28P01", SQL_REFUSED },   { "28000", SQL_REFUSED },
                { "42501", SQL_REFUSED },   { "3D000", SQL_REFUSED },   { "42P01", SQL_SCHEMA },
                { "42883", SQL_SCHEMA },    { "3F000", SQL_SCHEMA },    { "42703", SQL_SCHEMA },
                { "25006", SQL_READ_ONLY }, { "53300", SQL_FULL },      { "53100", SQL_FULL },
                { "EW409", SQL_STALE },     { "EW400", SQL_ISOLATION }, { "22P02", SQL_FAILED },
                { "23505", SQL_FAILED },    { "25P02", SQL_FAILED },    { "XX000", SQL_FAILED },
                { "P0001", SQL_FAILED },
        };

        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                cr_expect_eq(sqlstate_answer(table[i].state), table[i].answer, "%s", table[i].state);
}

Test(sqlstate, without_a_code_it_failed_and_never_was_done) {
        cr_assert_eq(sqlstate_answer(NULL), SQL_FAILED);
        cr_assert_eq(sqlstate_answer(""), SQL_FAILED);
        cr_assert_eq(sqlstate_answer("4"), SQL_FAILED);
}

Test(sqlstate, each_answer_has_a_word_of_its_own) {
        for (SqlAnswer answer = 0; answer < _SQL_ANSWER_MAX; answer++)
                cr_assert_eq(sql_answer_from_string(sql_answer_to_string(answer)), (int)answer);
        cr_assert_null(sql_answer_to_string(_SQL_ANSWER_MAX));
}
