/* sqlstate.h - what an error code of PostgreSQL means for whoever asked.
 *
 * Pure, and the one place that knows codes. Source: PostgreSQL, appendix A; EW409 and EW400 are the ledger's own. */
#pragma once

typedef enum SqlAnswer {
        SQL_DONE,      /* it was done, and is committed unless a transaction is open */
        SQL_LOST,      /* the connection broke, or nothing came in time: whether it was done is not known */
        SQL_RETRY,     /* a serialization failure or a deadlock: nothing was done, the same again may work */
        SQL_TIMEOUT,   /* the server gave up by its own time limit, or was told to: nothing was done */
        SQL_REFUSED,   /* no right to it, a wrong password, no such database or role */
        SQL_SCHEMA,    /* the ledger's tables or functions are not there, or are of another version */
        SQL_READ_ONLY, /* a standby, or a server that takes no writes now */
        SQL_FULL,      /* connections, disk or memory ran out */
        SQL_STALE,     /* EW409: the job is somebody else's by now */
        SQL_ISOLATION, /* EW400: not under READ COMMITTED */
        SQL_FAILED,    /* anything else: a malformed argument, a broken rule, a fault of ours */
        _SQL_ANSWER_MAX,
} SqlAnswer;

/* Five letters, or NULL (the server gave none). Never SQL_DONE. */
SqlAnswer sqlstate_answer(const char *state);
const char *sql_answer_to_string(SqlAnswer answer); /* one word, for programs */
int sql_answer_from_string(const char *text);
