/* database.c - where the ledger's database is. */
#include "base/file.h"
#include "base/take.h"
#include "ledger/database_internal.h"
#include "ledger/pq.h"
#include "ledger/schema_name.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_TIMEOUT_USEC (5 * USEC_PER_SEC)
#define URL_MAX              (64 * 1024)

void database_done(Database *database) {
        free(database->url);
        free(database->listen_url);
        free(database->schema);
        free(database->origin);
        *database = (Database){ 0 };
}

int database_set(char **field, const char *text) {
        char *copy = strdup(text);

        if (!copy)
                return -ENOMEM;
        free(*field);
        *field = copy;
        return 0;
}

/* ---- Values ---- */

int database_judge_url(const char *url, const char *name, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        char place[PLACE_MAX];

        if (pq_place(url, place) == 0)
                return 0;
        snprintf(ret_problem, DATABASE_PROBLEM_MAX, "%s cannot be used: %s", name, place);
        return -EINVAL;
}

/* The URL is the file's one line; an editor ends it with a newline. */
int database_read_url_file(const char *path, char **ret_url, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        _cleanup_(freep) char *text = NULL;
        size_t length;

        int r = file_read(path, URL_MAX, &text, &length);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                snprintf(ret_problem, DATABASE_PROBLEM_MAX, "the URL's file %.200s could not be read: %s", path,
                         file_problem(r));
                return -EINVAL;
        }
        while (length > 0 && strchr(" \t\r\n", text[length - 1]))
                text[--length] = '\0';
        if (length == 0 || strlen(text) != length || strchr(text, '\n')) {
                snprintf(ret_problem, DATABASE_PROBLEM_MAX, "the URL's file %.200s does not hold one line", path);
                return -EINVAL;
        }
        free(*ret_url);
        *ret_url = TAKE(text);
        return 0;
}

int database_set_schema(Database *database, const char *name, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        if (schema_name_judge(name) == 0)
                return database_set(&database->schema, name);
        snprintf(ret_problem, DATABASE_PROBLEM_MAX,
                 "the name of a schema has 1 to %d bytes of UTF-8, no control character, no ' and no $, and does not "
                 "begin with "
                 "pg_",
                 SCHEMA_NAME_MAX);
        return -EINVAL;
}

/* ---- The environment ---- */

static const char *env(const char *name) {
        const char *value = getenv(name);
        return value && *value ? value : NULL;
}

static int take_url(Database *database, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        static const char *const names[] = { "$ENDWELL_DATABASE_URL", "$DATABASE_URL" };
        const char *file = env("ENDWELL_DATABASE_URL_FILE");

        for (size_t i = 0; i < LENGTH_OF(names); i++) {
                if (i == 1 && file) {
                        int r = database_read_url_file(file, &database->url, ret_problem);
                        return r < 0 ? r : database_set(&database->origin, "the file of $ENDWELL_DATABASE_URL_FILE");
                }
                if (!env(names[i] + 1))
                        continue;
                int r = database_set(&database->url, env(names[i] + 1));
                return r < 0 ? r : database_set(&database->origin, names[i]);
        }
        return database_set(&database->origin, "libpq's own PG* variables");
}

static int take_timeout(Database *database, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        const char *text = env("ENDWELL_DATABASE_CONNECT_TIMEOUT_USEC");
        char *end = NULL;

        database->connect_timeout_usec = CONNECT_TIMEOUT_USEC;
        if (!text)
                return 0;
        errno = 0;
        unsigned long long usec = strtoull(text, &end, 10);
        if (errno != 0 || *end || text[0] < '0' || text[0] > '9' || usec == 0) {
                snprintf(ret_problem, DATABASE_PROBLEM_MAX,
                         "$ENDWELL_DATABASE_CONNECT_TIMEOUT_USEC is not a number of microseconds above 0");
                return -EINVAL;
        }
        database->connect_timeout_usec = usec;
        return 0;
}

int database_take_environment(Database *database, bool with_url, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        const char *schema = env("ENDWELL_DATABASE_SCHEMA"), *listen = env("ENDWELL_DATABASE_LISTEN_URL");

        int r = with_url ? take_url(database, ret_problem) : 0;
        if (r == 0)
                r = database_set_schema(database, schema ? schema : DATABASE_SCHEMA_DEFAULT, ret_problem);
        if (r == 0)
                r = take_timeout(database, ret_problem);
        if (r == 0 && with_url)
                r = database_judge_url(database->url, database->origin, ret_problem);
        if (r == 0 && with_url && listen)
                r = database_set(&database->listen_url, listen);
        return r;
}

int database_from_environment(Database *ret, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        _cleanup_(database_done) Database database = { 0 };

        int r = database_take_environment(&database, true, ret_problem);
        if (r < 0)
                return r;
        *ret = database;
        database = (Database){ 0 };
        return 0;
}
