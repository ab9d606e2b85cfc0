/* config_advice.c - warns of programs that cannot be found, and has each service looked at for what ends it badly. */
#include "base/take.h"
#include "supervisor/config_program.h"
#include "supervisor/config_values.h"
#include <errno.h>

static void warn_if_missing(Reading *reading, const Setting *setting, const char *program, char *const *environment,
                            const char *directory) {
        int r = program_find(program, environment, directory);

        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                complaints_warn(reading->complaints, setting->file, setting->line, "%s: the program %.200s %s",
                                setting->key, program, r == -EACCES ? "may not be executed" : "cannot be found");
}

void config_check_programs(Reading *reading) {
        const Config *config = reading->config;

        for (size_t i = 0; i < config->n_services && reading->error == 0; i++) {
                const ServiceConfig *service = &config->services[i];
                if (!service->argv)
                        continue;
                warn_if_missing(reading, settings_get(reading->services[i], "ExecStart"), service->argv[0],
                                service->environment, service->working_directory);
                config_advise_service(reading, i);
        }
        for (size_t i = 0; i < config->n_hooks && reading->error == 0; i++)
                if (config->hooks[i].argv)
                        warn_if_missing(reading, settings_get(reading->hooks[i], "Exec"), config->hooks[i].argv[0],
                                        config->hooks[i].environment, config->hooks[i].working_directory);
}
