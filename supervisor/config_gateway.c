/* config_gateway.c - reads the section [Gateway]. */
#include "supervisor/config_gateway.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/config_capabilities.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_listen.h"
#include "supervisor/config_permission.h"
#include "supervisor/config_rights.h"
#include "supervisor/config_strings.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#define LISTEN_DEFAULT "127.0.0.1:9180"
#define PORT_FREE      1024 /* from here on nobody needs a capability */

void gateway_done(GatewayConfig *gateway) {
        free(gateway->listen);
        free(gateway->ready_when);
        rights_free(gateway->rights);
}

static void keep(Reading *reading, char **field, const char *text) {
        free(*field);
        *field = strdup(text);
        if (!*field)
                reading->error = -ENOMEM;
}

/* ---- Where ---- */

static void check_address(Reading *reading, const Setting *setting, const ListenConfig *listen) {
        const Privileges *ours = reading_privileges(reading);
        Problem problem;

        if (ours && permission_port(ours, listen_port(listen), &problem) < 0)
                value_refuse(reading, setting, "%s", problem.text);
        for (size_t i = 0; i < reading->n_sockets; i++) {
                const HeldSocket *held = &reading->sockets[i];
                const ServiceConfig *service = &reading->config->services[held->service];
                if (listens_clash(&service->listens[held->index], listen) ||
                    listens_clash(listen, &service->listens[held->index]))
                        value_refuse(reading, setting, "this port is held for %s already, %s:%u", service->name,
                                     held->setting->file, held->setting->line);
        }
}

static void value_listen(Reading *reading, const Setting *setting, void *ret_value) {
        ListenConfig *listens = NULL;
        Problem problem;
        size_t n = 0;
        char **field = ret_value;

        if (strcmp(setting->value, "none") == 0) {
                free(*field);
                *field = NULL;
                return;
        }
        int r = listen_parse(setting->value, "gateway", &listens, &n, &problem);
        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                value_refuse(reading, setting, "%s", problem.text);
        else if (n != 1 || listens[0].by != LISTEN_TCP)
                value_refuse(reading, setting, "must be one tcp://ADDR:PORT, or none");
        else {
                check_address(reading, setting, &listens[0]);
                keep(reading, field, listens[0].address);
        }
        listens_free(listens, n);
}

/* ---- When ---- */

static bool may_be_named(Reading *reading, const Setting *setting, const char *name) {
        int index = reading_find_service(reading, setting, name);

        if (index < 0)
                return false;
        if (reading->config->services[index].type == SERVICE_ONESHOT) {
                value_refuse(reading, setting, "%s is a oneshot: it has ended before anybody is ready", name);
                return false;
        }
        return true;
}

static void join(Reading *reading, char *const *words, size_t n, char **field) {
        char *text = NULL, *end;
        size_t size = 1;

        for (size_t i = 0; i < n; i++)
                size += strlen(words[i]) + 1;
        end = text = malloc(size);
        if (!text) {
                reading->error = -ENOMEM;
                return;
        }
        *end = '\0';
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        *end++ = ',';
                end = stpcpy(end, words[i]);
        }
        free(*field);
        *field = text;
}

static void value_ready_when(Reading *reading, const Setting *setting, void *ret_value) {
        _cleanup_(freep) char **words = NULL;
        size_t n = 0;
        bool good = true;

        if (!value_words(reading, setting, &words, &n))
                return;
        if (n == 1 && strcmp(words[0], "all") == 0)
                return;
        if (n == 0)
                value_refuse(reading, setting, "names no service: write all, or a list of services");
        for (size_t i = 0; i < n; i++)
                good = may_be_named(reading, setting, words[i]) && good;
        if (good && n > 0)
                join(reading, words, n, ret_value);
}

/* ---- Together ---- */

static const ValueRule rules[] = {
        { "Listen", value_listen, offsetof(GatewayConfig, listen) },
        { "Dashboard", value_bool, offsetof(GatewayConfig, dashboard) },
        { "ReadyWhen", value_ready_when, offsetof(GatewayConfig, ready_when) },
};

/* The user stays endwell's, for whom alone the control socket is; of what root may do nothing is left but the port. */
static Rights *least_rights(Reading *reading, const char *listen) {
        const char *port = strrchr(listen, ':');
        Rights *rights;

        if (!reading_privileges(reading))
                return NULL;
        rights = malloc(sizeof *rights);
        if (!rights) {
                reading->error = -ENOMEM;
                return NULL;
        }
        *rights = RIGHTS_NONE;
        rights->no_new_privileges = true;
        rights->sets_bounding = privileges_has(reading->privileges, CAP_SETPCAP);
        if (rights->sets_bounding && strtoul(port ? port + 1 : "", NULL, 10) < PORT_FREE)
                rights->bounding = UINT64_C(1) << CAP_NET_BIND_SERVICE;
        return rights;
}

static bool is_loopback(const char *listen) {
        return strncmp(listen, "127.", 4) == 0 || strncmp(listen, "[::1]:", 6) == 0;
}

void config_read_gateway(Reading *reading) {
        GatewayConfig *gateway = &reading->config->gateway;

        if (!reading->gateway)
                return;
        keep(reading, &gateway->listen, LISTEN_DEFAULT);
        values_read(reading, reading->gateway, rules, LENGTH_OF(rules), gateway);
        if (!gateway->listen)
                return;
        if (!settings_get(reading->gateway, "Dashboard"))
                gateway->dashboard = is_loopback(gateway->listen);
        gateway->rights = least_rights(reading, gateway->listen);
}
