/* sqlstate.c - what an error code of PostgreSQL means for whoever asked: one table, the first row that fits. */
#include "ledger/sqlstate.h"
#include "base/enumeration.h"
#include "base/take.h"
#include <string.h>

static const char *const words[_SQL_ANSWER_MAX] = {
        [SQL_DONE] = "done",           [SQL_LOST] = "lost",       [SQL_RETRY] = "retry",
        [SQL_TIMEOUT] = "timeout",     [SQL_REFUSED] = "refused", [SQL_SCHEMA] = "schema",
        [SQL_READ_ONLY] = "read_only", [SQL_FULL] = "full",       [SQL_STALE] = "stale",
        [SQL_ISOLATION] = "isolation", [SQL_FAILED] = "failed",
};

ENUMERATION(sql_answer, SqlAnswer, words)

/* A code, or the front of a class of codes. */
static const struct {
        char front[6];
        SqlAnswer answer;
} table[] = {
        { "EW409", SQL_STALE },     { "EW400", SQL_ISOLATION }, { "40", SQL_RETRY }, /* 40001 serialization, 40P01
                                                                                        deadlock */
        { "55P03", SQL_RETRY },                                                      /* a lock was not to be had */
        { "57014", SQL_TIMEOUT }, /* statement_timeout, or pg_cancel_backend() */
        { "25P03", SQL_LOST },    /* an idle transaction was thrown out, connection and all */
        { "25006", SQL_READ_ONLY }, { "08", SQL_LOST },         { "57P", SQL_LOST }, /* shut down, crashed, starting up,
                                                                                        idle for too long */
        { "28", SQL_REFUSED },      { "42501", SQL_REFUSED },   { "3D", SQL_REFUSED },   { "42P01", SQL_SCHEMA },
        { "42883", SQL_SCHEMA },    { "42703", SQL_SCHEMA },    { "42704", SQL_SCHEMA }, { "3F", SQL_SCHEMA },
        { "53", SQL_FULL },
};

SqlAnswer sqlstate_answer(const char *state) {
        for (size_t i = 0; state && i < LENGTH_OF(table); i++)
                if (strncmp(state, table[i].front, strlen(table[i].front)) == 0)
                        return table[i].answer;
        return SQL_FAILED;
}
