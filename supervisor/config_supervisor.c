/* config_supervisor.c - reads the sections [Supervisor] and [Phase NAME]. */
#include "base/names.h"
#include "base/take.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GRACE_MAX_USEC (365 * 24 * 3600 * USEC_PER_SEC)

static void value_grace(Reading *reading, const Setting *setting, void *ret_value) {
        usec_t grace = 0;

        value_limit(reading, setting, &grace);
        if (grace > 0 && grace < USEC_PER_SEC)
                value_refuse(reading, setting, "must be at least 1 s");
        else if (grace > GRACE_MAX_USEC)
                value_refuse(reading, setting, "is longer than a year");
        else if (grace > 0)
                *(usec_t *)ret_value = grace;
}

static void value_service_name(Reading *reading, const Setting *setting, void *ret_value) {
        int index = reading_find_service(reading, setting, setting->value);
        if (index >= 0)
                *(int *)ret_value = index;
}

static const ValueRule supervisor_rules[] = {
        { "Mode", value_mode, offsetof(Config, mode) },
        { "GraceSec", value_grace, offsetof(Config, grace_usec) },
        { "DeadlineSec", value_limit, offsetof(Config, deadline_usec) },
        { "RuntimeDirectory", value_path, offsetof(Config, runtime_directory) },
        { "JournalFile", value_path, offsetof(Config, journal_file) },
        { "JournalMaxSize", value_size, offsetof(Config, journal_max_size) },
        { "LogFormat", value_log_format, offsetof(Config, log_format) },
        { "LogLevel", value_log_level, offsetof(Config, log_level) },
        { "TerminationMessagePath", value_path, offsetof(Config, termination_message_path) },
        { "ControlGroup", value_group, offsetof(Config, control_group) },
        { "ExitCodeFrom", value_service_name, offsetof(Config, exit_code_from) },
};

/* The command line, then the environment, then the file. */
static void override_mode(Reading *reading, const char *mode) {
        Setting said = { .key = "Mode", .file = "--mode" };

        if (!mode) {
                mode = getenv("ENDWELL_MODE");
                said.file = "$ENDWELL_MODE";
        }
        if (!mode || !*mode)
                return;
        _cleanup_(freep) char *copy = strdup(mode);
        if (!copy) {
                reading->error = -ENOMEM;
                return;
        }
        said.value = copy;
        value_mode(reading, &said, &reading->config->mode);
}

static ConfigPlace place_of(const Reading *reading, const char *key) {
        const Setting *setting = reading->supervisor ? settings_get(reading->supervisor, key) : NULL;
        return setting ? (ConfigPlace){ .file = setting->file, .line = setting->line }
                       : (ConfigPlace){ .file = reading->config->path };
}

void config_read_supervisor(Reading *reading, const char *mode) {
        Config *config = reading->config;

        if (reading->supervisor)
                values_read(reading, reading->supervisor, supervisor_rules, LENGTH_OF(supervisor_rules), config);
        override_mode(reading, mode);
        config->grace_place = place_of(reading, "GraceSec");
        config->deadline_place = place_of(reading, "DeadlineSec");
        config->runtime_place = place_of(reading, "RuntimeDirectory");
        if (config->deadline_usec == USEC_UNSET)
                config->deadline_usec = budget_default_deadline(config->grace_usec);
}

/* ---- Phases ---- */

static void add_phase(Reading *reading, const Setting *setting, const char *name) {
        Config *config = reading->config;

        if (!name_is_valid(name)) {
                value_refuse(reading, setting, "%.40s is no name (1 to %d letters of A-Z a-z 0-9 _ . -)", name,
                             NAME_LENGTH_MAX);
                return;
        }
        if (reading_phase_index(reading, name) >= 0) {
                value_refuse(reading, setting, "the phase %s stands in it twice", name);
                return;
        }
        if (config->n_phases == PHASES_MAX) {
                value_refuse(reading, setting, "more than %d phases", PHASES_MAX);
                return;
        }
        PhaseConfig *phase = &config->phases[config->n_phases++];
        *phase = (PhaseConfig){ .file = setting->file, .line = setting->line, .timeout_usec = USEC_INFINITY };
        strcpy(phase->name, name); /* name_is_valid() */
}

static void read_phase_names(Reading *reading, const Setting *setting) {
        _cleanup_(freep) char **words = NULL;
        size_t n = 0;

        if (!value_words(reading, setting, &words, &n))
                return;
        if (n == 0) /* as everywhere in lists: an empty value takes back what stood before */
                reading->config->n_phases = 0;
        for (size_t i = 0; i < n && reading->error == 0; i++)
                add_phase(reading, setting, words[i]);
}

static void default_phases(Reading *reading) {
        static const char *const names[] = { "http", "workers", "db" };
        const Setting nowhere = { .key = "Phases", .file = reading->config->path };

        for (size_t i = 0; i < LENGTH_OF(names); i++)
                add_phase(reading, &nowhere, names[i]);
}

static void read_phase(Reading *reading, const SettingsSection *section) {
        static const ValueRule rules[] = {
                { "TimeoutSec", value_limit, offsetof(PhaseConfig, timeout_usec) },
                { "DelaySec", value_span, offsetof(PhaseConfig, delay_usec) },
        };
        char hint[80], list[400];
        PhaseConfig unknown = { 0 };
        int index = reading_phase_index(reading, section->name);

        if (index < 0)
                complaints_add(reading->complaints, section->file, section->line,
                               "[Phase %s]: there is no such phase in Phases=%s%s", section->name,
                               reading_list_phases(reading, list, sizeof list),
                               reading_suggest_phase(reading, section->name, hint, sizeof hint));
        PhaseConfig *phase = index < 0 ? &unknown : &reading->config->phases[index];
        phase->file = section->file;
        phase->line = section->line;
        phase->has_section = true;
        values_read(reading, section, rules, LENGTH_OF(rules), phase);
        if (index >= 0)
                reading->phases[index] = section;
}

void config_read_phases(Reading *reading) {
        const SettingsSection *supervisor = reading->supervisor;

        for (size_t i = 0; supervisor && i < supervisor->n_items; i++)
                if (strcmp(supervisor->items[i].key, "Phases") == 0)
                        read_phase_names(reading, &supervisor->items[i]);
        if (reading->config->n_phases == 0)
                default_phases(reading);
        for (size_t i = 0; i < reading->settings->n_sections; i++)
                if (section_is(&reading->settings->sections[i], CONFIG_PHASE))
                        read_phase(reading, &reading->settings->sections[i]);
}
