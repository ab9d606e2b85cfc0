/* sql_files.c - the SQL files of this folder, as the build put them into the program. */
#include "ledger/sql_files.h"
#include <string.h>

bool sql_file_is_structure(const SqlFile *file) {
        return strncmp(file->name, "schema", 6) == 0;
}

const char *sql_command(const char *name) {
        size_t length = strlen(name);

        for (const SqlFile *file = sql_commands; file->name; file++)
                if (strncmp(file->name, name, length) == 0 && strcmp(file->name + length, ".sql") == 0)
                        return file->text;
        return NULL;
}
