/* plan_service_json.c - the parts of a service as JSON: null, or empty, for what it has not. */
#include "base/names.h"
#include "supervisor/config_capabilities.h"
#include "supervisor/config_limits.h"
#include "supervisor/plan_service.h"
#include <string.h>

static void put_usec(Json *json, const char *key, usec_t span) {
        if (span == USEC_INFINITY)
                json_put_null(json, key);
        else
                json_put_unsigned(json, key, span);
}

/* ---- Rights ---- */

static void put_id(Json *json, const char *key, unsigned id) {
        if (id == UINT32_MAX)
                json_put_null(json, key);
        else
                json_put_unsigned(json, key, id);
}

static void put_groups(Json *json, const Rights *rights) {
        if (!rights->sets_groups) {
                json_put_null(json, "groups");
                return;
        }
        json_open_array(json, "groups");
        for (size_t i = 0; i < rights->n_groups; i++)
                json_put_unsigned(json, NULL, rights->groups[i]);
        json_close(json);
}

static void put_limit(Json *json, const char *key, rlim_t limit) {
        if (limit == RLIM_INFINITY)
                json_put_null(json, key);
        else
                json_put_unsigned(json, key, limit);
}

static void put_limits(Json *json, const Rights *rights) {
        json_open_object(json, "limits");
        for (size_t i = 0; i < rights->n_limits; i++) {
                json_open_object(json, limit_kind_of_resource(rights->limits[i].resource)->key);
                put_limit(json, "soft", rights->limits[i].limit.rlim_cur);
                put_limit(json, "hard", rights->limits[i].limit.rlim_max);
                json_close(json);
        }
        json_close(json);
}

static void put_capabilities(Json *json, const char *key, bool given, uint64_t set) {
        if (!given) {
                json_put_null(json, key);
                return;
        }
        json_open_array(json, key);
        for (unsigned i = 0; capability_name(i); i++)
                if (set & CAPABILITY(i))
                        json_put_string(json, NULL, capability_name(i));
        json_close(json);
}

static void put_scheduling(Json *json, const Rights *rights) {
        char mode[8] = "";

        snprintf(mode, sizeof mode, "%04o", (unsigned)rights->umask & 07777);
        json_put_string(json, "umask", rights->umask < 0 ? NULL : mode);
        if (rights->sets_nice)
                json_put_signed(json, "nice", rights->nice);
        else
                json_put_null(json, "nice");
        if (rights->sets_oom_score)
                json_put_signed(json, "oom_score_adjust", rights->oom_score);
        else
                json_put_null(json, "oom_score_adjust");
}

static void put_rights(Json *json, const Rights *rights) {
        if (!rights) {
                json_put_null(json, "rights");
                return;
        }
        json_open_object(json, "rights");
        json_put_string(json, "user", rights->user);
        put_id(json, "uid", rights->uid);
        put_id(json, "gid", rights->gid);
        put_groups(json, rights);
        put_scheduling(json, rights);
        put_limits(json, rights);
        json_put_bool(json, "no_new_privileges", rights->no_new_privileges);
        put_capabilities(json, "bounding", rights->sets_bounding, rights->bounding);
        put_capabilities(json, "ambient", true, rights->ambient);
        json_close(json);
}

/* ---- Sockets ---- */

static void put_listens(Json *json, const ServiceConfig *service) {
        char address[200], mode[8];

        json_open_array(json, "listen");
        for (uint16_t i = 0; i < service->n_listens; i++) {
                const ListenConfig *listen = &service->listens[i];
                bool tcp = listen->by == LISTEN_TCP;
                snprintf(address, sizeof address, "%s%s", listen_by_to_string(listen->by), listen->address);
                snprintf(mode, sizeof mode, "%04o", (unsigned)listen->mode & 07777);
                json_open_object(json, NULL);
                json_put_string(json, "address", address);
                json_put_string(json, "mode", tcp ? NULL : mode);
                json_put_string(json, "name", listen->name);
                json_close(json);
        }
        json_close(json);
}

/* ---- Probes ---- */

static void put_url(Json *json, const char *key, const char *url) {
        if (url)
                json_put_stringn(json, key, url, strcspn(url, "?"));
        else
                json_put_null(json, key);
}

static void put_probe(Json *json, const char *key, const ProbeConfig *probe) {
        if (!probe || probe->by == PROBE_BY_NONE) {
                json_put_null(json, key);
                return;
        }
        json_open_object(json, key);
        json_put_string(json, "by", probe_by_to_string(probe->by));
        if (probe->by == PROBE_BY_EXEC)
                json_put_string(json, "target", probe->argv[0]);
        else
                put_url(json, "target", probe->target);
        json_put_unsigned(json, "period_us", probe->period_usec);
        json_put_unsigned(json, "timeout_us", probe->timeout_usec);
        json_put_unsigned(json, "delay_us", probe->delay_usec);
        json_put_unsigned(json, "failures", probe->failures);
        json_put_unsigned(json, "successes", probe->successes);
        json_close(json);
}

static void put_probes(Json *json, const ProbeConfig *probes) {
        json_open_object(json, "probes");
        for (int kind = 0; kind < _PROBE_KIND_MAX; kind++)
                put_probe(json, probe_kind_to_string((ProbeKind)kind), probes ? &probes[kind] : NULL);
        json_close(json);
}

/* ---- Environment ---- */

static void put_names(Json *json, const char *key, char *const *names) {
        json_open_array(json, key);
        for (size_t i = 0; names && names[i]; i++)
                json_put_string(json, NULL, names[i]);
        json_close(json);
}

/* Names only: the values are nobody's business. */
static void put_environment(Json *json, const ServiceConfig *service) {
        const Inheritance *inheritance = service->inheritance;

        json_open_array(json, "environment");
        for (size_t i = 0; service->environment && service->environment[i]; i++)
                json_put_stringn(json, NULL, service->environment[i], strcspn(service->environment[i], "="));
        json_close(json);
        if (inheritance && inheritance->passes_some)
                put_names(json, "pass_environment", inheritance->pass);
        else
                json_put_null(json, "pass_environment");
        put_names(json, "unset_environment", inheritance ? inheritance->unset : NULL);
}

/* ---- The whole ---- */

void plan_put_service(Json *json, const ServiceConfig *service) {
        char text[SIGNAL_TEXT_MAX];

        put_rights(json, service->rights);
        put_listens(json, service);
        put_probes(json, service->probes);
        put_usec(json, "watchdog_us", service->watchdog_usec);
        json_put_unsigned(json, "descriptor_store_max", service->descriptor_store_max);
        if (service->notify_fd >= 0)
                json_put_unsigned(json, "notify_fd", (uint64_t)service->notify_fd);
        else
                json_put_null(json, "notify_fd");
        json_put_string(json, "reload_signal",
                        service->reload_signal ? signal_to_string(service->reload_signal, text) : NULL);
        json_put_bool(json, "tty", service->tty);
        put_environment(json, service);
}

void plan_put_hook(Json *json, const HookConfig *hook) {
        json_put_string(json, "method", hook->http_method);
        put_url(json, "url", hook->url);
        json_put_string(json, "user", hook->rights ? hook->rights->user : NULL);
}
