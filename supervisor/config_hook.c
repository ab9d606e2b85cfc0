/* config_hook.c - reads the sections [Hook NAME]. */
#include "base/take.h"
#include "supervisor/config_builtin.h"
#include "supervisor/config_environment.h"
#include "supervisor/config_http.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_program.h"
#include "supervisor/config_rights.h"
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

/* METHOD URL; what is wrong is never shown, for it may hold a password. */
static void value_http(Reading *reading, const Setting *setting, void *ret_value) {
        HookConfig *hook = ret_value;
        Problem problem;
        int r = http_parse(setting->value, &hook->http_method, &hook->url, &problem);

        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                value_refuse_hidden(reading, setting, "%s", problem.text);
}

static void check_deed(Reading *reading, const SettingsSection *section, HookConfig *hook) {
        static const char *const deeds[] = { "Exec", "Http", "LogPattern" };
        const Setting *phase = settings_get(section, "Phase"), *first = NULL;

        for (size_t i = 0; i < LENGTH_OF(deeds); i++) {
                const Setting *deed = settings_get(section, deeds[i]);
                if (deed && first)
                        value_refuse_hidden(reading, deed, "the hook has %s too, line %u: it does one thing only",
                                            first->key, first->line);
                else if (deed)
                        first = deed;
        }
        if (!first && !reading_has_errors(reading))
                complaints_add(reading->complaints, section->file, section->line,
                               "the hook %s has neither Exec nor Http nor LogPattern: what shall it do?", hook->name);
        if (first && strcmp(first->key, "LogPattern") != 0 && !settings_get(section, "On"))
                complaints_add(reading->complaints, section->file, section->line,
                               "the hook %s has %s, but no On: when shall it run?", hook->name, first->key);
        if (settings_get(section, "LogPattern") && phase)
                value_refuse(reading, phase, "LogPattern for a whole phase is not in this version yet; name a Service");
}

static void warn_of_unused(Reading *reading, const SettingsSection *section) {
        static const char *const keys[] = { "User", "WorkingDirectory", "Environment" };

        for (size_t i = 0; i < LENGTH_OF(keys) && !settings_get(section, "Exec"); i++)
                if (settings_get(section, keys[i]))
                        value_warn_hidden(reading, settings_get(section, keys[i]), "is only used with Exec");
}

static void check_terminal(Reading *reading, const SettingsSection *section, const HookConfig *hook) {
        const Setting *pattern = settings_get(section, "LogPattern");

        if (pattern && hook->service >= 0 && reading->config->services[hook->service].tty)
                value_refuse_hidden(reading, pattern, "with TTY=yes the output of %s goes to the terminal, not past us",
                                    reading->config->services[hook->service].name);
}

/* With a User of its own a hook has nothing of the service's rights: whoever sets up a directory as root must not be
 * held by what the service is not allowed. */
static void inherit(Reading *reading, const SettingsSection *section, HookConfig *hook) {
        const ServiceConfig *service = hook->service < 0 ? NULL : &reading->config->services[hook->service];

        hook->rights = rights_read(reading, section);
        if (!settings_get(section, "User") && service)
                hook->rights = service->rights;
        hook->environment = environment_read(reading, section, service ? service->environment : NULL, NULL);
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
                { "Http", value_http, 0 },
        };
        HookConfig *hook = &reading->config->hooks[i];
        const SettingsSection *section = reading->hooks[i];
        const Setting *exec = settings_get(section, "Exec");

        builtin_refuse_name(reading, section);
        hook->timeout_usec = 5 * USEC_PER_SEC;
        hook->on = _HOOK_ON_MAX; /* not said, or not understood; a configuration with it is refused or mended below */
        values_read(reading, section, rules, LENGTH_OF(rules), hook);
        if (exec)
                hook->argv = program_read(reading, exec, false);
        check_edge(reading, section, hook);
        check_deed(reading, section, hook);
        check_terminal(reading, section, hook);
        warn_of_unused(reading, section);
        inherit(reading, section, hook);
        if (hook->on == _HOOK_ON_MAX) /* a LogPattern needs no edge */
                hook->on = HOOK_PRE_STOP;
}

void config_read_hooks(Reading *reading) {
        for (size_t i = 0; i < reading->n_hooks_written && reading->error == 0; i++)
                read_hook(reading, i);
}
