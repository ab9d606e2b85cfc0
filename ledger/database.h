/* database.h - where the ledger's database is: from the environment, or from [Database] of a configuration.
 *
 * The order: a configuration that was named; else what endwell gave its own processes (ENDWELL_DATABASE_URL, or
 * ENDWELL_DATABASE_URL_FILE, the path of a file whose content is the URL; ENDWELL_DATABASE_SCHEMA;
 * ENDWELL_DATABASE_CONNECT_TIMEOUT_USEC); else $DATABASE_URL; else libpq's own PG* variables, service and passfile. No
 * sentence that comes from here contains a word of the URL. */
#pragma once
#include "base/complaints.h"
#include "base/usec.h"

#define DATABASE_SCHEMA_DEFAULT "endwell"
#define DATABASE_PROBLEM_MAX    512

typedef struct Database { /* all zero: nothing yet; database_done() frees */
        char *url;        /* NULL: libpq's own */
        char *listen_url; /* NULL: the same */
        char *schema;     /* as it is, not quoted */
        char *origin;     /* "$DATABASE_URL", "FILE:12 Url", "libpq's PG* variables" */
        usec_t connect_timeout_usec;
} Database;

/* 0; -EINVAL and a sentence; -ENOMEM. */
int database_from_environment(Database *ret, char ret_problem[static DATABASE_PROBLEM_MAX]);
/* Judges [Database] of the file and its drop-ins and nothing else; without such a section, the environment counts. 0;
 * -EBADMSG: see the complaints; -ENOMEM. */
int database_from_file(const char *path, Complaints *complaints, Database *ret);
void database_done(Database *database);
