/* config.c - loads a configuration: reads the files, then section after section, then what ties them together. */
#include "supervisor/config.h"
#include "base/take.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_reading.h"
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
                config_read_services, config_read_hooks,     config_read_relations,
                config_read_budget,   config_check_programs,
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
