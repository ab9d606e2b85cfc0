/* config_hook.c - reads the sections [Hook NAME]. */
#include "base/take.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_program.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void value_service_of_hook(Reading *reading, const Setting *setting, void *ret_value) {
        int index = reading_find_service(reading, setting, setting->value);
        if (index >= 0)
                *(int *)ret_value = index;
}

static void value_phase_of_hook(Reading *reading, const Setting *setting, void *ret_value) {
        int index = reading_find_phase(reading, setting, setting->value);
        if (index >= 0)
                *(int *)ret_value = index;
}

/* ---- The edge ---- */

static bool edge_is_of_service(HookOn on) {
        return on != HOOK_BEGIN && on != HOOK_END;
}

static void check_edge(Reading *reading, const SettingsSection *section, const HookConfig *hook) {
        const Setting *service = settings_get(section, "Service"), *phase = settings_get(section, "Phase");
        const Setting *on = settings_get(section, "On");

        if (!service && !phase) {
                complaints_add(reading->complaints, section->file, section->line,
                               "the hook %s has neither Service nor Phase, so it would never run", hook->name);
                return;
        }
        if (service && phase) {
                value_refuse(reading, phase, "the hook has Service=%s too: it can belong to one of them only",
                             service->value);
                return;
        }
        if (!on || hook->on == _HOOK_ON_MAX)
                return;
        if (service && !edge_is_of_service(hook->on))
                value_refuse(reading, on,
                             "is an edge of a phase; with Service= it must be pre-start, post-start, "
                             "pre-stop or post-stop");
        if (phase && edge_is_of_service(hook->on))
                value_refuse(reading, on, "is an edge of a service; with Phase= it must be begin or end");
}

/* ---- What it does ---- */

static void check_deed(Reading *reading, const SettingsSection *section, HookConfig *hook) {
        const Setting *exec = settings_get(section, "Exec"), *pattern = settings_get(section, "LogPattern");
        const Setting *phase = settings_get(section, "Phase");

        if (exec && pattern)
                value_refuse_hidden(reading, pattern,
                                    "the hook has Exec too: either endwell runs it or the service does");
        else if (!exec && !pattern && !reading_has_errors(reading))
                complaints_add(reading->complaints, section->file, section->line,
                               "the hook %s has neither Exec nor LogPattern: what shall it do?", hook->name);
        if (exec && !settings_get(section, "On"))
                complaints_add(reading->complaints, section->file, section->line,
                               "the hook %s has Exec, but no On: when shall it run?", hook->name);
        if (pattern && phase)
                value_refuse(reading, phase, "LogPattern for a whole phase is not in this version yet; name a Service");
}

static void inherit(Reading *reading, const SettingsSection *section, HookConfig *hook) {
        const ServiceConfig *service = hook->service < 0 ? NULL : &reading->config->services[hook->service];

        hook->environment = program_read_environment(reading, section, service ? service->environment : NULL);
        if (!service || hook->working_directory || !service->working_directory)
                return;
        hook->working_directory = strdup(service->working_directory);
        if (!hook->working_directory)
                reading->error = -ENOMEM;
}

static void read_hook(Reading *reading, size_t i) {
        static const ValueRule rules[] = {
                { "LogPattern", value_pattern, offsetof(HookConfig, log_pattern) },
                { "Service", value_service_of_hook, offsetof(HookConfig, service) },
                { "Phase", value_phase_of_hook, offsetof(HookConfig, phase) },
                { "On", value_hook_on, offsetof(HookConfig, on) },
                { "TimeoutSec", value_limit, offsetof(HookConfig, timeout_usec) },
                { "OnFailure", value_on_failure, offsetof(HookConfig, on_failure) },
                { "WorkingDirectory", value_directory, offsetof(HookConfig, working_directory) },
                { "User", value_later, 0 },
        };
        HookConfig *hook = &reading->config->hooks[i];
        const SettingsSection *section = reading->hooks[i];
        const Setting *exec = settings_get(section, "Exec");

        hook->timeout_usec = 5 * USEC_PER_SEC;
        hook->on = _HOOK_ON_MAX; /* not said, or not understood; a configuration with it is refused or mended below */
        values_read(reading, section, rules, LENGTH_OF(rules), hook);
        if (exec)
                hook->argv = program_read(reading, exec, false);
        check_edge(reading, section, hook);
        check_deed(reading, section, hook);
        inherit(reading, section, hook);
        if (hook->on == _HOOK_ON_MAX) /* a LogPattern needs no edge */
                hook->on = HOOK_PRE_STOP;
}

void config_read_hooks(Reading *reading) {
        for (size_t i = 0; i < reading->config->n_hooks && reading->error == 0; i++)
                read_hook(reading, i);
}
