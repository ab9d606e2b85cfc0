/* config_command.c - makes the configuration of `endwell run -- COMMAND`: one service, no file. */
#include "base/names.h"
#include "base/take.h"
#include "supervisor/config_reading.h"
#include "supervisor/config_strings.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The name of the program as far as it can be a service's. */
static void name_after(const char *program, char ret_name[static NAME_LENGTH_MAX + 1]) {
        static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
        const char *slash = strrchr(program, '/');
        size_t n = 0;

        for (const char *at = slash ? slash + 1 : program; *at && n < NAME_LENGTH_MAX; at++)
                if (strchr(fine, *at))
                        ret_name[n++] = *at;
        ret_name[n] = '\0';
        if (n == 0)
                strcpy(ret_name, "command");
}

static int add_file_name(Config *config) {
        Strings files = { 0 };
        int r = strings_add(&files, "command line");

        config->files = files.items;
        config->n_files = files.n;
        return r;
}

static int add_service(Config *config, char *const *argv) {
        size_t n = 0;
        while (argv[n])
                n++;
        ServiceConfig *service = calloc(1, sizeof *service);
        if (!service)
                return -ENOMEM;
        config->services = service;
        config->n_services = config->n_members = 1;
        config_service_defaults(service);
        config->names = malloc(NAME_LENGTH_MAX + 1);
        if (!config->names)
                return -ENOMEM;
        name_after(argv[0], config->names);
        service->name = config->names;
        service->file = config->files[0];
        service->restart = RESTART_NO;
        return strings_pack(argv, n, &service->argv);
}

int config_for_command(char *const *argv, Config **ret) {
        _cleanup_(config_freep) Config *config = NULL;

        if (!argv[0])
                return -EINVAL;
        int r = config_new(&config);
        if (r == 0)
                r = add_file_name(config);
        if (r == 0)
                r = add_service(config, argv);
        if (r < 0)
                return r;
        config->single = true;
        config->n_phases = 1;
        config->phases[0] = (PhaseConfig){ .name = "command", .file = config->files[0], .timeout_usec = USEC_INFINITY };
        config_set_grace(config, config->grace_usec);
        *ret = TAKE(config);
        return 0;
}

void config_set_grace(Config *config, usec_t grace_usec) {
        const BudgetPhase phase = { .name = config->phases[0].name, .timeout_usec = USEC_INFINITY, .members = 1 };
        usec_t sum_usec;

        config->grace_usec = grace_usec;
        config->deadline_usec = budget_default_deadline(grace_usec);
        /* One phase that takes what there is always fits. */
        (void)budget_plan(config->deadline_usec, &phase, 1, &config->budget, &sum_usec);
}
