/* config_free.c - makes an empty configuration, and ends one. */
#include "supervisor/config_environment.h"
#include "supervisor/config_listen.h"
#include "supervisor/config_probe.h"
#include "supervisor/config_reading.h"
#include "supervisor/config_rights.h"
#include <errno.h>
#include <stdlib.h>

int config_new(Config **ret) {
        Config *config = malloc(sizeof *config);
        if (!config)
                return -ENOMEM;
        *config = (Config){
                .mode = MODE_PRODUCTION,
                .grace_usec = 30 * USEC_PER_SEC,
                .deadline_usec = USEC_UNSET,
                .journal_max_size = UINT64_C(16) << 20,
                .log_format = LOG_FORMAT_AUTO,
                .log_level = LOG_LEVEL_INFO,
                .control_group = -1,
                .exit_code_from = -1,
                .database = DATABASE_DEFAULTS,
                .reaper = REAPER_DEFAULTS,
        };
        for (unsigned i = 0; i < sizeof config->rewrite; i++)
                config->rewrite[i] = (uint8_t)i;
        *ret = config;
        return 0;
}

static void service_done(ServiceConfig *service) {
        free(service->argv);
        free(service->environment);
        free(service->working_directory);
        if (service->outputs) {
                free(service->outputs->standard_output.path);
                free(service->outputs->standard_error.path);
                free(service->outputs);
        }
        free(service->success);
        free(service->relations);
        for (int kind = 0; service->probes && kind < _PROBE_KIND_MAX; kind++)
                probe_config_done(&service->probes[kind]);
        free(service->probes);
        listens_free(service->listens, service->n_listens);
        rights_free(service->rights);
        inheritance_free(service->inheritance);
}

static void hook_done(HookConfig *hook, const Config *config) {
        if (hook->service < 0 || hook->rights != config->services[hook->service].rights)
                rights_free(hook->rights);
        free(hook->argv);
        free(hook->http_method);
        free(hook->url);
        free(hook->log_pattern);
        free(hook->environment);
        free(hook->working_directory);
}

Config *config_free(Config *config) {
        if (!config)
                return NULL;
        for (size_t i = 0; i < config->n_hooks; i++)
                hook_done(&config->hooks[i], config);
        for (size_t i = 0; i < config->n_services; i++)
                service_done(&config->services[i]);
        for (size_t i = 0; i < config->n_files; i++)
                free(config->files[i]);
        free(config->services);
        free(config->names);
        free(config->hooks);
        free(config->files);
        free(config->path);
        free(config->runtime_directory);
        free(config->journal_file);
        free(config->termination_message_path);
        database_done(&config->database);
        gateway_done(&config->gateway);
        free(config);
        return NULL;
}

void config_freep(Config **config) {
        *config = config_free(*config);
}
