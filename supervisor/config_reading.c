/* config_reading.c - sorts the sections that were read, and finds services and phases by name. */
#include "supervisor/config_reading.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/config_builtin.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUGGESTIONS_MAX 16 /* looking through thousands of names for each of thousands of slips would take minutes */

/* ---- Sections ---- */

static size_t count_sections(const Settings *settings, ConfigKind kind) {
        size_t n = 0;
        for (size_t i = 0; i < settings->n_sections; i++)
                n += section_is(&settings->sections[i], kind);
        return n;
}

static void take_service(Reading *reading, const SettingsSection *section) {
        ServiceConfig *service = &reading->config->services[reading->config->n_services];

        config_service_defaults(service);
        service->name = reading->names_end;
        reading->names_end = stpcpy(reading->names_end, section->name) + 1;
        service->file = section->file;
        service->line = section->line;
        reading->services[reading->config->n_services++] = section;
}

/* Of all names of services, with their ends. */
static size_t names_size(const Settings *settings) {
        size_t size = 0;
        for (size_t i = 0; i < settings->n_sections; i++)
                if (section_is(&settings->sections[i], CONFIG_SERVICE))
                        size += strlen(settings->sections[i].name) + 1;
        return size;
}

static void take_hook(Reading *reading, const SettingsSection *section) {
        HookConfig *hook = &reading->config->hooks[reading->config->n_hooks];

        *hook = (HookConfig){ .file = section->file, .line = section->line, .service = -1, .phase = -1 };
        memcpy(hook->name, section->name, sizeof hook->name);
        reading->hooks[reading->config->n_hooks++] = section;
}

static void take_sections(Reading *reading) {
        reading->names_end = reading->config->names;
        for (size_t i = 0; i < reading->settings->n_sections; i++) {
                const SettingsSection *section = &reading->settings->sections[i];
                if (section_is(section, CONFIG_SUPERVISOR))
                        reading->supervisor = section;
                else if (section_is(section, CONFIG_SERVICE))
                        take_service(reading, section);
                else if (section_is(section, CONFIG_HOOK))
                        take_hook(reading, section);
                else if (section_is(section, CONFIG_DATABASE))
                        reading->database = section;
                else if (section_is(section, CONFIG_REAPER))
                        reading->reaper = section;
                else if (section_is(section, CONFIG_GATEWAY))
                        reading->gateway = section;
        }
}

static int compare_names(const void *a, const void *b, void *userdata) {
        const Config *config = userdata;
        return strcmp(config->services[*(const uint16_t *)a].name, config->services[*(const uint16_t *)b].name);
}

void reading_sort_names(Reading *reading) {
        Config *config = reading->config;
        for (size_t i = 0; i < config->n_services; i++)
                reading->by_name[i] = (uint16_t)i;
        qsort_r(reading->by_name, config->n_services, sizeof *reading->by_name, compare_names, config);
}

int reading_init(Reading *reading, Config *config, const Settings *settings, Complaints *complaints) {
        size_t n_services = count_sections(settings, CONFIG_SERVICE), n_hooks = count_sections(settings, CONFIG_HOOK);

        *reading = (Reading){ .config = config,
                              .settings = settings,
                              .complaints = complaints,
                              .database_service = -1,
                              .reaper_service = -1,
                              .migration_service = -1 };
        if (count_sections(settings, CONFIG_DATABASE) > 0) {
                n_services += BUILTINS_MAX;
                n_hooks += BUILTIN_HOOKS_MAX;
        }
        reading->builtins = calloc(BUILTINS_MAX, sizeof *reading->builtins);
        reading->phases = calloc(PHASES_MAX, sizeof *reading->phases);
        reading->services = calloc(n_services + 1, sizeof *reading->services);
        reading->hooks = calloc(n_hooks + 1, sizeof *reading->hooks);
        reading->by_name = calloc(n_services + 1, sizeof *reading->by_name);
        config->services = n_services ? calloc(n_services, sizeof *config->services) : NULL;
        config->names = malloc(names_size(settings) + sizeof BUILTIN_NAMES);
        config->hooks = n_hooks ? calloc(n_hooks, sizeof *config->hooks) : NULL;
        if (!reading->builtins || !reading->phases || !reading->services || !reading->hooks || !reading->by_name ||
            !config->names || (n_services && !config->services) || (n_hooks && !config->hooks))
                return -ENOMEM;
        take_sections(reading);
        reading->n_written = config->n_services;
        reading->n_hooks_written = config->n_hooks;
        reading_sort_names(reading);
        return 0;
}

void reading_done(Reading *reading) {
        free(reading->phases);
        free(reading->builtins);
        free(reading->services);
        free(reading->hooks);
        free(reading->by_name);
        free(reading->sockets);
        if (reading->accounts)
                accounts_done(reading->accounts);
        free(reading->accounts);
        if (reading->privileges)
                privileges_done(reading->privileges);
        free(reading->privileges);
}

bool reading_has_errors(const Reading *reading) {
        return complaints_count(reading->complaints) > reading->n_before;
}

/* ---- The machine ---- */

const Accounts *reading_accounts(Reading *reading) {
        if (reading->accounts)
                return reading->accounts;
        _cleanup_(freep) Accounts *accounts = malloc(sizeof *accounts);
        int r = accounts ? accounts_read(accounts, "/etc/passwd", "/etc/group") : -ENOMEM;
        if (r < 0)
                reading->error = r;
        else
                reading->accounts = TAKE(accounts);
        return reading->accounts;
}

const Privileges *reading_privileges(Reading *reading) {
        if (reading->privileges)
                return reading->privileges;
        _cleanup_(freep) Privileges *privileges = malloc(sizeof *privileges);
        int r = privileges ? privileges_read(privileges) : -ENOMEM;
        if (r < 0)
                reading->error = r;
        else
                reading->privileges = TAKE(privileges);
        return reading->privileges;
}

/* ---- Names ---- */

int reading_service_index(const Reading *reading, const char *name) {
        size_t low = 0, high = reading->config->n_services;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                uint16_t index = reading->by_name[middle];
                int order = strcmp(name, reading->config->services[index].name);
                if (order == 0)
                        return index;
                if (order < 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        return -1;
}

int reading_phase_index(const Reading *reading, const char *name) {
        for (unsigned i = 0; i < reading->config->n_phases; i++)
                if (strcmp(reading->config->phases[i].name, name) == 0)
                        return (int)i;
        return -1;
}

bool reading_may_suggest(Reading *reading) {
        return reading->n_suggested++ < SUGGESTIONS_MAX;
}

static const char *put_hint(const char *nearest, char *buffer, size_t size) {
        *buffer = '\0';
        if (nearest)
                snprintf(buffer, size, ", did you mean %s?", nearest);
        return buffer;
}

static const char *suggest_service(Reading *reading, const char *name, char *buffer, size_t size) {
        size_t n = reading->config->n_services;
        _cleanup_(freep) const char **known = NULL;

        *buffer = '\0';
        if (!reading_may_suggest(reading))
                return buffer;
        known = malloc((n + 1) * sizeof *known);
        if (!known)
                return buffer; /* a complaint without its hint is still a complaint */
        for (size_t i = 0; i < n; i++)
                known[i] = reading->config->services[i].name;
        return put_hint(name_nearest(name, known, n), buffer, size);
}

int reading_find_service(Reading *reading, const Setting *setting, const char *name) {
        char hint[80];
        int index = reading_service_index(reading, name);

        if (index < 0)
                value_refuse(reading, setting, "there is no service %.*s%s", NAME_LENGTH_MAX, name,
                             suggest_service(reading, name, hint, sizeof hint));
        return index;
}

const char *reading_suggest_phase(const Reading *reading, const char *name, char *buffer, size_t size) {
        const char *known[PHASES_MAX];

        for (unsigned i = 0; i < reading->config->n_phases; i++)
                known[i] = reading->config->phases[i].name;
        return put_hint(name_nearest(name, known, reading->config->n_phases), buffer, size);
}

const char *reading_list_phases(const Reading *reading, char *buffer, size_t size) {
        size_t length = 0;

        *buffer = '\0';
        for (unsigned i = 0; i < reading->config->n_phases && length < size; i++)
                length += (size_t)snprintf(buffer + length, size - length, "%s%s", i ? " " : "",
                                           reading->config->phases[i].name);
        return buffer;
}

int reading_find_phase(Reading *reading, const Setting *setting, const char *name) {
        char hint[80], list[400];
        int index = reading_phase_index(reading, name);

        if (index < 0)
                value_refuse(reading, setting, "there is no such phase in Phases=%s%s",
                             reading_list_phases(reading, list, sizeof list),
                             reading_suggest_phase(reading, name, hint, sizeof hint));
        return index;
}
