/* install.h - puts the SQL files of this program into a schema, within the transaction that is open. */
#pragma once
#include "ledger/session.h"
#include "ledger/sql_files.h"

/* What a database says of itself, by its table of migrations. */
typedef struct Installed {
        int version;  /* the highest of a file; 0: nothing is there */
        PqRows *rows; /* name, version, digest of each file */
} Installed;

/* Also where there is no such table, or no schema: then version is 0. */
SqlAnswer install_read(Session *session, Installed *ret, PqReply *ret_reply);
void installed_done(Installed *installed);
bool installed_has(const Installed *installed, const SqlFile *file);     /* whatever its text was */
bool installed_is_same(const Installed *installed, const SqlFile *file); /* with the very text of this program */

/* One file into `schema` (NULL: the session's). */
SqlAnswer install_file(Session *session, const SqlFile *file, const char *schema, PqReply *ret);
/* All of them; *ret_file is the one that failed. */
SqlAnswer install_all(Session *session, const char *schema, PqReply *ret, const SqlFile **ret_file);
/* Writes down that it was installed. */
SqlAnswer install_record(Session *session, const SqlFile *file, PqReply *ret);
/* Takes out functions of ours whose signature changed, or whose file is gone: `create or replace` would refuse them, or
 * leave an older one beside the newer. Needs every file in `scratch` to compare with. */
SqlAnswer install_take_out(Session *session, const char *scratch, PqReply *ret);
