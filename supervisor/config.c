/* config.c - loads a configuration: reads the files, then section after section, then what ties them together. */
#include "supervisor/config.h"
#include "base/take.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_reading.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PATH "/etc/endwell.ini"

static const char *lookup_environment(void *userdata, const char *name) {
        (void)userdata;
        return getenv(name);
}

static const char *choose_path(const char *path) {
        if (!path)
                path = getenv("ENDWELL_CONFIG");
        return path && *path ? path : DEFAULT_PATH;
}

/* Without memory what was read has holes, so nothing is built on it. */
static void read_sections(Reading *reading, const char *mode) {
        static void (*const readers[])(Reading *) = {
                config_read_services,  config_read_gateway, config_read_hooks,
                config_read_relations, config_read_budget,  config_check_programs,
        };

        config_read_phases(reading);
        config_read_database(reading);
        config_read_supervisor(reading, mode);
        for (size_t i = 0; i < LENGTH_OF(readers) && reading->error == 0; i++)
                readers[i](reading);
}

static int add_digest(Config *config, Complaints *complaints) {
        const char *path = NULL;
        int r = config_digest_files(config->files, config->n_files, config->digest, &path);

        if (r < 0)
                complaints_add(complaints, path, 0, "was read, but could not be read again: %s", strerrordesc_np(-r));
        return r < 0 ? -EBADMSG : 0;
}

static int build(const char *path, Settings *settings, const char *mode, bool thorough, Complaints *complaints,
                 size_t n_before, Config **ret) {
        _cleanup_(config_freep) Config *config = NULL;
        _cleanup_(reading_done) Reading reading = { 0 };

        int r = config_new(&config);
        if (r < 0)
                return r;
        config->path = strdup(path);
        if (!config->path)
                return -ENOMEM;
        r = reading_init(&reading, config, settings, complaints);
        if (r < 0)
                return r;
        reading.n_before = n_before;
        reading.thorough = thorough;
        read_sections(&reading, mode);
        if (reading.error < 0)
                return reading.error;
        config->files = TAKE(settings->files); /* `file` of services, phases and hooks points to these */
        config->n_files = settings->n_files;
        settings->n_files = 0;
        if (reading_has_errors(&reading))
                return -EBADMSG;
        r = add_digest(config, complaints);
        if (r == 0)
                *ret = TAKE(config);
        return r;
}

static int load(const char *path, const char *mode, bool thorough, Complaints *complaints, Config **ret) {
        path = choose_path(path);
        _cleanup_(settings_freep) Settings *settings = NULL;
        size_t n_before = complaints_count(complaints);

        int r = settings_read(path, config_kinds, lookup_environment, NULL, complaints, &settings);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return -EBADMSG;
        return build(path, settings, mode, thorough, complaints, n_before, ret);
}

int config_load(const char *path, const char *mode, Complaints *complaints, Config **ret) {
        return load(path, mode, false, complaints, ret);
}

int config_examine(const char *path, const char *mode, Complaints *complaints, Config **ret) {
        return load(path, mode, true, complaints, ret);
}

/* ---- For those who only ask where endwell runs ---- */

static const Setting *find_runtime_directory(const Settings *settings) {
        const Setting *found = NULL;
        for (size_t i = 0; i < settings->n_sections; i++)
                if (section_is(&settings->sections[i], CONFIG_SUPERVISOR))
                        found = settings_get(&settings->sections[i], "RuntimeDirectory");
        return found;
}

/* Of all that is wrong with the files, what is wrong with this line, or with a whole file. */
static void pass_on(const Complaints *all, const Setting *setting, Complaints *complaints) {
        const char *file, *message;
        unsigned line;
        bool is_warning;

        for (size_t i = 0; complaints_get(all, i, &file, &line, &message, &is_warning); i++)
                if (setting ? line == setting->line && strcmp(file, setting->file) == 0 : line == 0)
                        complaints_add(complaints, file, line, "%s", message);
}

int config_read_runtime_directory(const char *path, Complaints *complaints, char **ret) {
        _cleanup_(complaints_freep) Complaints *all = NULL;
        _cleanup_(settings_freep) Settings *settings = NULL;
        _cleanup_(freep) char *directory = NULL;
        Reading reading = { .complaints = complaints };

        int r = complaints_new(&all);
        if (r >= 0)
                r = settings_read(choose_path(path), config_kinds, lookup_environment, NULL, all, &settings);
        if (r < 0 && r != -ENOMEM)
                pass_on(all, NULL, complaints);
        if (r < 0)
                return r == -ENOMEM ? r : -EBADMSG;
        const Setting *setting = find_runtime_directory(settings);
        if (setting) {
                pass_on(all, setting, complaints);
                if (complaints_count(complaints) == 0)
                        value_path(&reading, setting, &directory);
        }
        if (reading.error < 0)
                return reading.error;
        if (complaints_count(complaints) > 0)
                return -EBADMSG;
        *ret = TAKE(directory);
        return 0;
}
