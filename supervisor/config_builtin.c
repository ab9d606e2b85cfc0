/* config_builtin.c - see config_builtin.h. */
#include "supervisor/config_builtin.h"
#include "base/take.h"
#include "supervisor/config_strings.h"
#include "supervisor/config_values.h"
#include "supervisor/libexec.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool builtin_is_reserved(const char *name) {
        return strncmp(name, BUILTIN_PREFIX, sizeof BUILTIN_PREFIX - 1) == 0;
}

void builtin_refuse_name(Reading *reading, const SettingsSection *section) {
        if (builtin_is_reserved(section->name))
                complaints_add(reading->complaints, section->file, section->line,
                               "[%s %s]: names that begin with " BUILTIN_PREFIX
                               " are those of endwell's own services: choose another",
                               section->kind->name, section->name);
}

/* ---- Programs ---- */

/* Where it is; or its name alone, which PATH will not have: then each start fails and says so. */
static void find_program(Reading *reading, const SettingsSection *section, const char *program,
                         char ret_path[static PATH_MAX]) {
        if (libexec_find(program, ret_path) == 0)
                return;
        snprintf(ret_path, PATH_MAX, BUILTIN_PREFIX "%s", program);
        complaints_warn(reading->complaints, section->file, section->line,
                        "[%s]: the program %s cannot be found beside endwell: is the installation whole?",
                        section->kind->name, ret_path);
}

static char **command(Reading *reading, const SettingsSection *section, const char *program, const char *first,
                      const char *second, const char *third) {
        char path[PATH_MAX], **packed = NULL;

        find_program(reading, section, program, path);
        char *const words[] = { path, (char *)first, (char *)second, (char *)third };
        size_t n = 1;
        while (n < LENGTH_OF(words) && words[n])
                n++;
        int r = strings_pack(words, n, &packed);
        if (r < 0)
                reading->error = r;
        return packed;
}

/* ---- Services ---- */

/* In the place of the section that nobody wrote: it has no keys, and its line is the one that brought it. */
static ServiceConfig *add_service(Reading *reading, const char *name, const SettingsSection *cause, int *ret_index) {
        Config *config = reading->config;
        size_t index = config->n_services++, place = index - reading->n_written;
        ServiceConfig *service = &config->services[index];
        SettingsSection *section = &reading->builtins[place];

        *section = (SettingsSection){ .kind = cause->kind, .file = cause->file, .line = cause->line };
        strcpy(section->name, name);
        reading->services[index] = section;
        config_service_defaults(service);
        service->name = reading->names_end;
        reading->names_end = stpcpy(reading->names_end, name) + 1;
        service->file = cause->file;
        service->line = cause->line;
        service->phase = config->database.phase;
        service->builtin = true;
        *ret_index = (int)index;
        return service;
}

/* However long it replays its log after a crash: to kill it meanwhile would have it begin again. SIGINT is PostgreSQL's
 * fast shutdown; SIGTERM would wait for every client to go. */
static void add_database(Reading *reading) {
        const DatabaseConfig *database = &reading->config->database;
        ServiceConfig *service =
                add_service(reading, "endwell-database", reading->database, &reading->database_service);

        service->type = SERVICE_NOTIFY;
        service->restart = RESTART_ALWAYS;
        service->kill_signal = SIGINT;
        service->timeout_start_usec = USEC_INFINITY;
        service->argv = command(reading, reading->database, "database", database->embedded, NULL, NULL);
}

/* A database of somebody else's may come up after us, so it has about half a minute; a large table takes as long as it
 * takes. */
static void add_migration(Reading *reading) {
        ServiceConfig *service =
                add_service(reading, "endwell-migrate", reading->database, &reading->migration_service);

        service->type = SERVICE_ONESHOT;
        service->restart_max_usec = 10 * USEC_PER_SEC;
        service->start_limit_burst = 8;
        service->timeout_start_usec = USEC_INFINITY;
        service->argv = command(reading, reading->database, "ledger", "migrate", NULL, NULL);
}

/* It is never given up: its starts are cheap, rare (every 30 s at most) and told, nobody waits for it, and a database
 * that was away for an hour must find it again when it comes back. */
static void add_reaper(Reading *reading) {
        ServiceConfig *service =
                add_service(reading, "endwell-reaper", reading->reaper ? reading->reaper : reading->database,
                            &reading->reaper_service);

        service->essential = false;
        service->aside = true;
        service->restart = RESTART_ALWAYS;
        service->start_limit_burst = 0;
        service->argv = command(reading, reading->database, "reaper", NULL, NULL, NULL);
}

void builtin_add_services(Reading *reading) {
        const Config *config = reading->config;

        if (config->database.from == DATABASE_EMBEDDED && config->database.embedded)
                add_database(reading);
        if (database_migrates(&config->database))
                add_migration(reading);
        if (database_has_reaper(&config->database, &config->reaper))
                add_reaper(reading);
        reading_sort_names(reading);
}
