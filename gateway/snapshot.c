/* snapshot.c - see snapshot.h. */
#include "gateway/snapshot.h"
#include "base/take.h"
#include "base/utf8.h"
#include <errno.h>
#include <string.h>

static void copy_word(const json_t *object, const char *key, char *ret_word, size_t size) {
        const char *text = json_string_value(json_object_get(object, key));
        size_t length = text ? utf8_cut(text, strlen(text), size - 1) : 0;

        memcpy(ret_word, text ? text : "", length);
        ret_word[length] = '\0';
}

#define COPY(object, key, field) copy_word(object, key, field, sizeof(field))

static uint64_t number(const json_t *object, const char *key) {
        json_int_t value = json_integer_value(json_object_get(object, key));
        return value > 0 ? (uint64_t)value : 0;
}

static bool is_true(const json_t *object, const char *key) {
        return json_is_true(json_object_get(object, key));
}

static void read_member(const json_t *object, SnapshotMember *ret) {
        COPY(object, "state", ret->state);
        COPY(object, "not_ready", ret->note);
        ret->ready = strcmp(ret->state, "ready") == 0 && !ret->note[0];
        if (!ret->note[0])
                COPY(object, "status", ret->note);
        ret->number = (unsigned)number(object, "instance");
        ret->restarts = (unsigned)number(object, "restarts");
        ret->failures = (unsigned)number(object, "failures");
        ret->active = (unsigned)number(object, "active");
        ret->pid = (pid_t)number(object, "pid");
        ret->since_usec = number(object, "since_us");
        ret->awaited = is_true(object, "awaited");
}

static int read_service(const json_t *object, SnapshotService *ret) {
        const json_t *instances = json_object_get(object, "instances");
        size_t n = json_array_size(instances);

        COPY(object, "service", ret->name);
        COPY(object, "phase", ret->phase);
        ret->members = calloc(n + 1, sizeof *ret->members);
        if (!ret->members)
                return -ENOMEM;
        ret->n_members = n;
        for (size_t i = 0; i < n; i++) {
                read_member(json_array_get(instances, i), &ret->members[i]);
                ret->n_ready += ret->members[i].ready;
        }
        return 0;
}

static void read_overview(const json_t *result, Snapshot *status) {
        const json_t *left = json_object_get(result, "deadline_us");

        COPY(result, "version", status->version);
        COPY(result, "mode", status->mode);
        COPY(result, "step", status->step);
        COPY(result, "phase", status->phase);
        status->ready = is_true(result, "ready");
        status->ending = is_true(result, "ending");
        status->uptime_usec = number(result, "uptime_us");
        status->deadline_usec = left ? number(result, "deadline_us") : USEC_INFINITY;
        status->orphans = number(result, "orphans");
}

static int read_all(const json_t *result, Snapshot *status) {
        const json_t *services = json_object_get(result, "services");
        size_t n = json_array_size(services);
        int r = 0;

        if (!json_is_array(services))
                return -EBADMSG;
        read_overview(result, status);
        status->services = calloc(n + 1, sizeof *status->services);
        status->text = json_dumps(result, JSON_COMPACT | JSON_PRESERVE_ORDER);
        if (!status->services || !status->text)
                return -ENOMEM;
        status->length = strlen(status->text);
        for (size_t i = 0; i < n && r == 0; i++, status->n_services++)
                r = read_service(json_array_get(services, i), &status->services[i]);
        return r;
}

int snapshot_read(const json_t *result, Snapshot **ret) {
        Snapshot *status = calloc(1, sizeof *status);
        int r = status ? read_all(result, status) : -ENOMEM;

        if (r < 0)
                snapshot_free(status);
        else
                *ret = status;
        return r;
}

Snapshot *snapshot_free(Snapshot *status) {
        if (!status)
                return NULL;
        for (size_t i = 0; i < status->n_services; i++)
                free(status->services[i].members);
        free(status->services);
        free(status->text);
        free(status);
        return NULL;
}

const SnapshotService *snapshot_find(const Snapshot *status, const char *name, size_t length) {
        for (size_t i = 0; i < status->n_services; i++)
                if (strlen(status->services[i].name) == length && memcmp(status->services[i].name, name, length) == 0)
                        return &status->services[i];
        return NULL;
}
