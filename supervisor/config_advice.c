/* config_advice.c - warns of programs that cannot be found, and of those that end well by another signal. */
#include "base/names.h"
#include "base/take.h"
#include "supervisor/config_program.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path) {
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

static void warn_if_missing(Reading *reading, const Setting *setting, const char *program, const ProgramPlace *place) {
        int r = program_find(program, place);

        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                complaints_warn(reading->complaints, setting->file, setting->line, "%s: the program %.200s %s",
                                setting->key, program, r == -EACCES ? "may not be executed" : "cannot be found");
}

/* "php-fpm" stands for php-fpm8.2 too: Debian's packages carry the version in the name. */
static bool is_program(const char *name, const char *program) {
        size_t length = strlen(program);
        return strncmp(name, program, length) == 0 && name[length + strspn(name + length, "0123456789.")] == '\0';
}

static int graceful_signal(const char *name) {
        static const struct {
                const char *program;
                int number;
        } wanted[] = {
                { "nginx", SIGQUIT },   { "php-fpm", SIGQUIT }, { "postgres", SIGINT },  { "postmaster", SIGINT },
                { "haproxy", SIGUSR1 }, { "httpd", SIGWINCH },  { "apache2", SIGWINCH },
        };

        for (size_t i = 0; i < LENGTH_OF(wanted); i++)
                if (is_program(name, wanted[i].program))
                        return wanted[i].number;
        return 0;
}

static void advise_signal(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *command = settings_get(section, "ExecStart");
        const char *name = base_name(service->argv[0]);
        char text[SIGNAL_TEXT_MAX];
        int number = graceful_signal(name);

        if (number > 0 && !settings_get(section, "KillSignal"))
                complaints_warn(reading->complaints, command->file, command->line,
                                "%.40s cuts its clients off, or waits for ever, on SIGTERM; it ends well on %s: write "
                                "KillSignal=%s",
                                name, signal_to_string(number, text), text);
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
        advise_signal(reading, section, service);
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
