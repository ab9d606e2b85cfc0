/* config_listens.c - reads the sockets that endwell holds for a service, and finds those that two of them want. */
#include "base/take.h"
#include "supervisor/config_listen.h"
#include "supervisor/config_permission.h"
#include "supervisor/config_service.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- What the machine says ---- */

static void check_port(Reading *reading, const Setting *setting, const ListenConfig *listen) {
        const Privileges *ours = reading_privileges(reading);
        Problem problem;

        if (ours && permission_port(ours, listen_port(listen), &problem) < 0)
                value_refuse(reading, setting, "%s", problem.text);
}

/* A folder that is missing may be made by a hook; a file that stands in the way will not go by itself. */
static void check_path(Reading *reading, const Setting *setting, const char *path) {
        struct stat about;

        if (lstat(path, &about) == 0) {
                if (!S_ISSOCK(about.st_mode))
                        value_refuse(reading, setting, "%s is there already, and is no socket", path);
                return;
        }
        if (errno != ENOENT) {
                value_refuse(reading, setting, "%s cannot be a socket: %s", path, strerrordesc_np(errno));
                return;
        }
        _cleanup_(freep) char *folder = strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
        if (!folder)
                reading->error = -ENOMEM;
        else if (stat(folder, &about) < 0)
                value_warn(reading, setting, "the folder %s is not there yet", folder);
}

static void check(Reading *reading, const Setting *setting, const ListenConfig *listen) {
        if (listen->by == LISTEN_UNIX)
                check_path(reading, setting, listen->address);
        else
                check_port(reading, setting, listen);
}

/* ---- Reading ---- */

/* Puts the sockets behind those that the service has; takes them. */
static int append(ServiceConfig *service, ListenConfig *listens, size_t n) {
        ListenConfig *grown = reallocarray(service->listens, service->n_listens + n, sizeof *grown);

        if (!grown) {
                listens_free(listens, n);
                return -ENOMEM;
        }
        memcpy(grown + service->n_listens, listens, n * sizeof *grown);
        free(listens);
        service->listens = grown;
        service->n_listens = (uint16_t)(service->n_listens + n);
        return 0;
}

static int note(Reading *reading, const Setting *setting, const ServiceConfig *service, size_t n) {
        HeldSocket *grown = reallocarray(reading->sockets, reading->n_sockets + n, sizeof *grown);

        if (!grown)
                return -ENOMEM;
        reading->sockets = grown;
        for (size_t i = service->n_listens - n; i < service->n_listens; i++)
                grown[reading->n_sockets++] = (HeldSocket){ .setting = setting,
                                                            .service = (uint16_t)(service - reading->config->services),
                                                            .index = (uint16_t)i };
        return 0;
}

static void forget(Reading *reading, ServiceConfig *service) {
        listens_free(service->listens, service->n_listens);
        service->listens = NULL;
        reading->n_sockets -= service->n_listens;
        service->n_listens = 0;
}

static void read_line(Reading *reading, const Setting *setting, ServiceConfig *service) {
        ListenConfig *listens = NULL;
        Problem problem;
        size_t n = 0;

        int r = listen_parse(setting->value, service->name, &listens, &n, &problem);
        if (r == -EINVAL)
                value_refuse(reading, setting, "%s", problem.text);
        if (r == 0 && n == 0)
                forget(reading, service); /* an empty value takes back what stood before */
        if (r == 0 && service->n_listens + n > LISTENS_MAX) {
                value_refuse(reading, setting, "more than %d sockets of one service", LISTENS_MAX);
                listens_free(listens, n);
                return;
        }
        if (r == 0 && n > 0)
                r = append(service, listens, n);
        if (r == 0 && n > 0)
                r = note(reading, setting, service, n);
        if (r == -ENOMEM)
                reading->error = r;
        for (size_t i = service->n_listens - n; r == 0 && i < service->n_listens; i++)
                check(reading, setting, &service->listens[i]);
}

void service_read_listens(Reading *reading, const SettingsSection *section, ServiceConfig *service) {
        for (size_t i = 0; i < section->n_items && reading->error == 0; i++)
                if (strcmp(section->items[i].key, "Listen") == 0)
                        read_line(reading, &section->items[i], service);
}

/* ---- Twice ---- */

static const ListenConfig *socket_of(const Reading *reading, const HeldSocket *held) {
        return &reading->config->services[held->service].listens[held->index];
}

/* By port, and by path, so that only neighbours can clash, and what listens on all addresses with whatever follows. */
static int compare(const void *a, const void *b, void *userdata) {
        const Reading *reading = userdata;
        const HeldSocket *x = a, *y = b;
        int order = listens_compare(socket_of(reading, x), socket_of(reading, y));

        if (order == 0)
                order = (int)x->service - (int)y->service;
        return order ? order : (int)x->index - (int)y->index;
}

static void refuse_twice(Reading *reading, const HeldSocket *first, const HeldSocket *second) {
        if (first->service > second->service || (first->service == second->service && first->index > second->index)) {
                const HeldSocket *later = first;
                first = second;
                second = later;
        }
        const ServiceConfig *service = &reading->config->services[first->service];
        const ListenConfig *held = socket_of(reading, first);
        value_refuse(reading, second->setting, "%s%s is held for %s already, %s:%u", listen_by_to_string(held->by),
                     held->address, service->name, first->setting->file, first->setting->line);
}

void services_check_sockets(Reading *reading) {
        HeldSocket *sockets = reading->sockets;
        size_t group = 0; /* where those of one port begin */

        if (reading->n_sockets < 2)
                return;
        qsort_r(sockets, reading->n_sockets, sizeof *sockets, compare, reading);
        for (size_t i = 1; i < reading->n_sockets; i++) {
                const ListenConfig *listen = socket_of(reading, &sockets[i]);
                if (listens_clash(socket_of(reading, &sockets[group]), listen))
                        refuse_twice(reading, &sockets[group], &sockets[i]);
                else if (listens_clash(socket_of(reading, &sockets[i - 1]), listen))
                        refuse_twice(reading, &sockets[i - 1], &sockets[i]);
                else if (!listens_share_port(socket_of(reading, &sockets[group]), listen))
                        group = i;
        }
}
