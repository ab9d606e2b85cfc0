/* config_advice.c - warns of programs that cannot be found, and has each service looked at for what ends it badly. */
#include "base/take.h"
#include "supervisor/config_program.h"
#include "supervisor/config_values.h"
#include <errno.h>

static void warn_if_missing(Reading *reading, const Setting *setting, const char *program, const ProgramPlace *place) {
        int r = program_find(program, place);

        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                complaints_warn(reading->complaints, setting->file, setting->line, "%s: the program %.200s %s",
                                setting->key, program, r == -EACCES ? "may not be executed" : "cannot be found");
}

static void check_service(Reading *reading, size_t i) {
        static const char *const keys[_PROBE_KIND_MAX] = {
                [PROBE_STARTUP] = "StartupProbe",
                [PROBE_LIVENESS] = "LivenessProbe",
                [PROBE_READINESS] = "ReadinessProbe",
        };
        const ServiceConfig *service = &reading->config->services[i];
        const SettingsSection *section = reading->services[i];
        const ProgramPlace place = { .environment = service->environment,
                                     .inheritance = service->inheritance,
                                     .directory = service->working_directory };

        for (int kind = 0; service->probes && kind < _PROBE_KIND_MAX; kind++)
                if (service->probes[kind].argv)
                        warn_if_missing(reading, settings_get(section, keys[kind]), service->probes[kind].argv[0],
                                        &place);
        if (!service->argv)
                return;
        warn_if_missing(reading, settings_get(section, "ExecStart"), service->argv[0], &place);
        config_advise_service(reading, i);
}

static void check_hook(Reading *reading, size_t i) {
        const HookConfig *hook = &reading->config->hooks[i];
        const ServiceConfig *service = hook->service < 0 ? NULL : &reading->config->services[hook->service];
        const ProgramPlace place = { .environment = hook->environment,
                                     .inheritance = service ? service->inheritance : NULL,
                                     .directory = hook->working_directory };

        if (hook->argv)
                warn_if_missing(reading, settings_get(reading->hooks[i], "Exec"), hook->argv[0], &place);
}

void config_check_programs(Reading *reading) {
        for (size_t i = 0; i < reading->config->n_services && reading->error == 0; i++)
                check_service(reading, i);
        for (size_t i = 0; i < reading->config->n_hooks && reading->error == 0; i++)
                check_hook(reading, i);
}
