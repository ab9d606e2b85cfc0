/* config_database.c - reads the sections [Database] and [Reaper]. */
#include "supervisor/config_database.h"
#include "base/enumeration.h"
#include "base/take.h"
#include "supervisor/config_builtin.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_url.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SCHEMA_MAX      63 /* NAMEDATALEN - 1 */
#define BATCH_MAX       100000
#define SOCKET_PATH_MAX 107 /* sun_path without its end, unix(7) */
#define SOCKET_NAME     "/.s.PGSQL.5432"

static const char *const from_words[_DATABASE_FROM_MAX] = {
        [DATABASE_NOWHERE] = "nowhere",   [DATABASE_FROM_ENVIRONMENT] = "environment",
        [DATABASE_FROM_URL] = "url",      [DATABASE_FROM_FILE] = "url_file",
        [DATABASE_EMBEDDED] = "embedded",
};

const char *database_from_to_string(DatabaseFrom from) {
        return (unsigned)from < _DATABASE_FROM_MAX ? from_words[from] : NULL;
}

void database_done(DatabaseConfig *database) {
        free(database->url);
        free(database->url_file);
        free(database->listen_url);
        free(database->schema);
        free(database->embedded);
        free(database->word);
}

/* ---- Values ---- */

static void set_text(Reading *reading, char **field, const char *text) {
        char *copy = strdup(text);
        if (!copy) {
                reading->error = -ENOMEM;
                return;
        }
        free(*field);
        *field = copy;
}

/* What is wrong is said without a letter of the value. */
static void value_url(Reading *reading, const Setting *setting, void *ret_value) {
        const char *problem = url_problem(setting->value);

        if (problem)
                value_refuse_hidden(reading, setting, "%s", problem);
        else
                set_text(reading, ret_value, setting->value);
}

static void value_schema(Reading *reading, const Setting *setting, void *ret_value) {
        const char *name = setting->value;

        if (!*name || strlen(name) > SCHEMA_MAX)
                value_refuse(reading, setting, "the name of a schema has 1 to %d bytes", SCHEMA_MAX);
        else if (strpbrk(name, "'$"))
                value_refuse(reading, setting, "must be without ' and $");
        else if (strncmp(name, "pg_", 3) == 0)
                value_refuse(reading, setting, "names that begin with pg_ are PostgreSQL's own");
        else
                set_text(reading, ret_value, name);
}

static void value_phase(Reading *reading, const Setting *setting, void *ret_value) {
        int index = reading_find_phase(reading, setting, setting->value);
        if (index >= 0)
                *(uint16_t *)ret_value = (uint16_t)index;
}

/* auto, yes or no. */
static void value_chosen(Reading *reading, const Setting *setting, void *ret_value) {
        bool yes = false;
        size_t n_before = complaints_count(reading->complaints);

        if (strcmp(setting->value, "auto") == 0) {
                *(Chosen *)ret_value = CHOSEN_AUTO;
                return;
        }
        value_bool(reading, setting, &yes);
        if (complaints_count(reading->complaints) == n_before)
                *(Chosen *)ret_value = yes ? CHOSEN_YES : CHOSEN_NO;
}

static void value_batch(Reading *reading, const Setting *setting, void *ret_value) {
        int n = 0;
        if (value_integer(reading, setting, 1, BATCH_MAX, &n))
                *(unsigned *)ret_value = (unsigned)n;
}

/* The folder of the embedded database. Its socket is in it, and PostgreSQL takes a list of folders for that, with
 * commas and quotes of its own. */
static void value_embedded(Reading *reading, const Setting *setting, void *ret_value) {
        static const int room = SOCKET_PATH_MAX - (int)(sizeof SOCKET_NAME - 1);
        const char *path = setting->value;
        struct stat about;

        if (*path != '/')
                value_refuse(reading, setting, "must be an absolute path (one that begins with /)");
        else if ((int)strlen(path) > room)
                value_refuse(reading, setting,
                             "is too long by %d: the database's socket is in it, and its path may have %d bytes",
                             (int)strlen(path) - room, SOCKET_PATH_MAX);
        else if (path[strcspn(path, ",\"'\\")])
                value_refuse(reading, setting, "must be a path without commas, quotes and backslashes");
        else if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode))
                value_refuse(reading, setting, "is no folder");
        else
                set_text(reading, ret_value, path);
}

static const ValueRule database_rules[] = {
        { "Url", value_url, offsetof(DatabaseConfig, url) },
        { "UrlFile", value_path, offsetof(DatabaseConfig, url_file) },
        { "ListenUrl", value_url, offsetof(DatabaseConfig, listen_url) },
        { "Schema", value_schema, offsetof(DatabaseConfig, schema) },
        { "Phase", value_phase, offsetof(DatabaseConfig, phase) },
        { "Embedded", value_embedded, offsetof(DatabaseConfig, embedded) },
        { "Migrate", value_chosen, offsetof(DatabaseConfig, migrate) },
        { "ConnectTimeoutSec", value_limit, offsetof(DatabaseConfig, connect_timeout_usec) },
};

static const ValueRule reaper_rules[] = {
        { "Enabled", value_chosen, offsetof(ReaperConfig, enabled) },
        { "IntervalSec", value_limit, offsetof(ReaperConfig, interval_usec) },
        { "BatchSize", value_batch, offsetof(ReaperConfig, batch) },
        { "RetentionSec", value_limit_or_infinity, offsetof(ReaperConfig, retention_usec) },
        { "PruneBatch", value_batch, offsetof(ReaperConfig, prune_batch) },
};

/* ---- Together ---- */

/* There is one place where the database is. */
static DatabaseFrom find_place(Reading *reading, const SettingsSection *section) {
        static const struct Place {
                const char *key;
                DatabaseFrom from;
        } places[] = { { "Embedded", DATABASE_EMBEDDED },
                       { "Url", DATABASE_FROM_URL },
                       { "UrlFile", DATABASE_FROM_FILE } };
        const Setting *first = NULL;
        DatabaseFrom from = DATABASE_FROM_ENVIRONMENT;

        for (size_t i = 0; i < LENGTH_OF(places); i++) {
                const Setting *line = settings_get(section, places[i].key);
                if (line && first)
                        value_refuse_hidden(reading, line,
                                            "there is %s too, line %u: the database is in one place only", first->key,
                                            first->line);
                else if (line) {
                        first = line;
                        from = places[i].from;
                }
        }
        return from;
}

static void check_rest(Reading *reading, const SettingsSection *section, DatabaseFrom from) {
        const Setting *user = settings_get(section, "User"), *listen = settings_get(section, "ListenUrl");

        if (user && from != DATABASE_EMBEDDED)
                value_warn(reading, user, "is only used with Embedded: the reaper runs as endwell does");
        if (listen && from == DATABASE_EMBEDDED)
                value_refuse_hidden(reading, listen, "the embedded database is reached directly: leave this out");
}

static void default_phase(Config *config) {
        config->database.phase = (uint16_t)(config->n_phases - 1);
        for (unsigned i = 0; i < config->n_phases; i++)
                if (strcmp(config->phases[i].name, "db") == 0)
                        config->database.phase = (uint16_t)i;
}

static void read_database(Reading *reading) {
        DatabaseConfig *database = &reading->config->database;

        default_phase(reading->config);
        values_read(reading, reading->database, database_rules, LENGTH_OF(database_rules), database);
        database->from = find_place(reading, reading->database);
        check_rest(reading, reading->database, database->from);
        if (database->from == DATABASE_EMBEDDED && database->embedded) {
                free(database->url);
                int r = url_of_socket(database->embedded, &database->url, &database->word);
                if (r < 0)
                        reading->error = r;
        }
}

static void read_reaper(Reading *reading) {
        const SettingsSection *section = reading->reaper;
        ReaperConfig *reaper = &reading->config->reaper;

        values_read(reading, section, reaper_rules, LENGTH_OF(reaper_rules), reaper);
        if (reading->database)
                return;
        if (reaper->enabled == CHOSEN_YES)
                value_refuse(reading, settings_get(section, "Enabled"), "there is no [Database] for it");
        else if (reaper->enabled == CHOSEN_AUTO)
                complaints_warn(reading->complaints, section->file, section->line,
                                "[Reaper]: without a [Database] there is no reaper");
}

void config_read_database(Reading *reading) {
        if (reading->database)
                read_database(reading);
        if (reading->reaper)
                read_reaper(reading);
        if (reading->database && reading->error == 0)
                builtin_add_services(reading);
}
