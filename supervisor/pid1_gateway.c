/* pid1_gateway.c - the gateway among the first process's parts: made where a configuration has one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/take.h"
#include "supervisor/pid1.h"

#define ENVIRONMENT_MAX 8

static void on_spawned(void *userdata, pid_t pid) {
        pid1_remember_helper(userdata, HELPER_GATEWAY, pid);
}

/* Strangers talk to it: what they could make it read holds no secret of a service. */
static void choose_environment(char *ret_environment[static ENVIRONMENT_MAX]) {
        static const char *const names[] = { "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS",
                                             "UBSAN_OPTIONS",   "NO_COLOR",     "JOURNAL_STREAM" };
        size_t n = 0;

        for (size_t i = 0; i < LENGTH_OF(names); i++) {
                const char *value = getenv(names[i]);
                /* A part of our own environment: "NAME=" stands right before its value. */
                if (value)
                        ret_environment[n++] = (char *)value - strlen(names[i]) - 1;
        }
        ret_environment[n] = NULL;
}

int pid1_make_gateway(Pid1 *pid1) {
        static char *environment[ENVIRONMENT_MAX];
        char program[PATH_MAX], control[128];

        if (!pid1->config->gateway.listen || !pid1->control)
                return 0;
        int r = pid1_find_helper(HELPER_GATEWAY, program);
        if (r < 0)
                return r;
        choose_environment(environment);
        snprintf(control, sizeof control, "%s/control.sock", pid1->runtime.directory);
        return gateway_link_new(&pid1->gateway, pid1->event,
                                &(GatewayPlan){ .program = program,
                                                .control = control,
                                                .environment = environment,
                                                .log_format = pid1->config->log_format,
                                                .log_level = pid1->config->log_level,
                                                .config = &pid1->config->gateway,
                                                .spawned = on_spawned,
                                                .say = pid1_on_said,
                                                .userdata = pid1 });
}
