/* database_file.c - where the ledger's database is, by [Database] of a configuration: endwell itself judges the rest.
 */
#include "base/duration.h"
#include "base/settings.h"
#include "base/take.h"
#include "ledger/database_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEY(name)                                                                                                      \
        { name, SETTINGS_KEY_SINGLE }

static const SettingsKey database_keys[] = {
        KEY("Url"),  KEY("UrlFile"), KEY("ListenUrl"),         KEY("Schema"), KEY("Phase"), KEY("Embedded"),
        KEY("User"), KEY("Migrate"), KEY("ConnectTimeoutSec"), { "" },
};

static const SettingsKind kinds[] = {
        { .name = "Database", .keys = database_keys },
        { .name = "*", .rest = true },
        { 0 },
};

static const char *from_environment(void *userdata, const char *name) {
        (void)userdata;
        return getenv(name);
}

/* The socket of a database that endwell runs itself is in its folder. */
static int embedded_url(const char *directory, char **ret_url) {
        _cleanup_(freep) char *url = NULL;

        if (asprintf(&url, "host='%s' user=endwell dbname=endwell", directory) < 0) {
                url = NULL;
                return -ENOMEM;
        }
        free(*ret_url);
        *ret_url = TAKE(url);
        return 0;
}

static int take_place(Database *database, const Setting *setting, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        int r = 0;

        if (strcmp(setting->key, "Url") == 0)
                r = database_set(&database->url, setting->value);
        else if (strcmp(setting->key, "UrlFile") == 0)
                r = database_read_url_file(setting->value, &database->url, ret_problem);
        else
                r = embedded_url(setting->value, &database->url);
        return r < 0 ? r : database_judge_url(database->url, setting->key, ret_problem);
}

static int take_setting(Database *database, const Setting *setting, char ret_problem[static DATABASE_PROBLEM_MAX]) {
        const char *key = setting->key;

        if (strcmp(key, "Url") == 0 || strcmp(key, "UrlFile") == 0 || strcmp(key, "Embedded") == 0)
                return take_place(database, setting, ret_problem);
        if (strcmp(key, "ListenUrl") == 0) {
                int r = database_judge_url(setting->value, key, ret_problem);
                return r < 0 ? r : database_set(&database->listen_url, setting->value);
        }
        if (strcmp(key, "Schema") == 0)
                return database_set_schema(database, setting->value, ret_problem);
        if (strcmp(key, "ConnectTimeoutSec") == 0) {
                int r = duration_parse(setting->value, &database->connect_timeout_usec);
                if (r == 0 && database->connect_timeout_usec > 0)
                        return 0;
                snprintf(ret_problem, DATABASE_PROBLEM_MAX, "ConnectTimeoutSec is not a duration above 0, like 5s");
                return -EINVAL;
        }
        return 0; /* Phase, User, Migrate: they say how endwell runs it, not where it is */
}

static int take_section(Database *database, const SettingsSection *section, Complaints *complaints) {
        static const char *const places[] = { "Url", "UrlFile", "Embedded" };
        unsigned n_places = 0;

        for (size_t i = 0; i < section->n_items; i++) {
                const Setting *setting = &section->items[i];
                char problem[DATABASE_PROBLEM_MAX];

                int r = take_setting(database, setting, problem);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        complaints_add(complaints, setting->file, setting->line, "%s", problem);
                for (size_t j = 0; j < LENGTH_OF(places); j++)
                        if (strcmp(setting->key, places[j]) == 0 && ++n_places > 1)
                                complaints_add(complaints, setting->file, setting->line,
                                               "the database is in one place: Url, UrlFile or Embedded");
        }
        if (n_places == 0)
                return 0;
        free(database->origin);
        return asprintf(&database->origin, "[Database] of %s", section->file) < 0 ? -ENOMEM : 0;
}

/* The file's words stand above the environment's, which fill what it does not say. */
int database_from_file(const char *path, Complaints *complaints, Database *ret) {
        _cleanup_(settings_freep) Settings *settings = NULL;
        _cleanup_(database_done) Database database = { 0 };
        char problem[DATABASE_PROBLEM_MAX];

        int r = settings_read(path, kinds, from_environment, NULL, complaints, &settings);
        if (r == -ENOMEM)
                return r;
        if (r < 0 || complaints_count(complaints) > 0)
                return -EBADMSG;
        bool has_url = settings->n_sections > 0 &&
                       (settings_get(settings->sections, "Url") || settings_get(settings->sections, "UrlFile") ||
                        settings_get(settings->sections, "Embedded"));
        r = database_take_environment(&database, !has_url, problem);
        if (r == -EINVAL)
                complaints_add(complaints, path, 0, "%s", problem);
        if (r != -ENOMEM && settings->n_sections > 0)
                r = take_section(&database, settings->sections, complaints);
        if (r == -ENOMEM)
                return r;
        if (complaints_count(complaints) > 0)
                return -EBADMSG;
        *ret = database;
        database = (Database){ 0 };
        return 0;
}
