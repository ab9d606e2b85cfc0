/* sql_files.h - the SQL files of this folder, as the build put them into the program.
 *
 * The text has the placeholder of the schema (ledger/schema_name.h) in it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The version of the ledger's tables; one more with each schema-N.sql. */
#define LEDGER_VERSION 1

typedef struct SqlFile {
        const char *name; /* "claim.sql" */
        const char *text, *digest;
} SqlFile;

extern const SqlFile sql_files[];    /* those of order.txt, in its order; a NULL name ends it */
extern const SqlFile sql_commands[]; /* what the command line asks: commands/NAME.sql */

/* Applied once in the life of a database (schema.sql, schema-2.sql, …); the others whenever they changed. */
bool sql_file_is_structure(const SqlFile *file);
/* The text of commands/NAME.sql; NULL: there is none. */
const char *sql_command(const char *name);
