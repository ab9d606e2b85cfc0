/* config_probes.c - reads the probes of a service, and says which of them cannot do what was meant. */
#include "base/take.h"
#include "supervisor/config_address.h"
#include "supervisor/config_listen.h"
#include "supervisor/config_probe.h"
#include "supervisor/config_service.h"
#include "supervisor/config_values.h"
#include "supervisor/span.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[_PROBE_KIND_MAX] = {
        [PROBE_STARTUP] = "StartupProbe",
        [PROBE_LIVENESS] = "LivenessProbe",
        [PROBE_READINESS] = "ReadinessProbe",
};

/* The value is not shown: a command or a URL may hold a secret. */
static void read_probe(Reading *reading, const Setting *setting, ProbeKind kind, ProbeConfig *ret) {
        Problem problem;
        int r = probe_parse(setting->value, kind, ret, &problem);

        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                value_refuse_hidden(reading, setting, "%s", problem.text);
}

static bool read_all(Reading *reading, const SettingsSection *section, ProbeConfig *probes) {
        bool any = false;

        for (int kind = 0; kind < _PROBE_KIND_MAX && reading->error == 0; kind++) {
                const Setting *line = settings_get(section, keys[kind]);
                if (line)
                        read_probe(reading, line, (ProbeKind)kind, &probes[kind]);
                any = any || probes[kind].by != PROBE_BY_NONE;
        }
        return any;
}

/* ---- Warnings ---- */

/* How long it takes to find a failure, at most. */
static usec_t patience(const ProbeConfig *probe) {
        usec_t sum = 0;

        for (uint16_t i = 0; i < probe->failures; i++)
                sum = usec_add(sum, probe->period_usec);
        return sum;
}

static void warn_of_timeout(Reading *reading, const Setting *line, const ProbeConfig *probe) {
        if (probe->timeout_usec > probe->period_usec)
                value_warn_hidden(
                        reading, line,
                        "its timeout, %s, is longer than its period, %s: a check that hangs holds up the next",
                        SPAN(probe->timeout_usec), SPAN(probe->period_usec));
}

static void warn_of_liveness(Reading *reading, const Setting *line, const ProbeConfig *liveness,
                             const ProbeConfig *readiness) {
        if (readiness->by != PROBE_BY_NONE && patience(liveness) < patience(readiness))
                value_warn_hidden(reading, line,
                                  "kills after %s of failures, but readiness is withdrawn only after %s: let liveness "
                                  "be the more patient one",
                                  SPAN(patience(liveness)), SPAN(patience(readiness)));
}

static void warn_of_startup(Reading *reading, const Setting *line, const ProbeConfig *startup,
                            const ServiceConfig *service) {
        usec_t needed = usec_add(startup->delay_usec, patience(startup));

        if (needed > service->timeout_start_usec)
                value_warn_hidden(reading, line, "allows %s, but TimeoutStartSec, %s, ends the start earlier: raise it",
                                  SPAN(needed), SPAN(service->timeout_start_usec));
}

/* A connection to a socket that endwell holds is made by the kernel, whether the service lives or not. */
static bool looks_at(const ProbeConfig *probe, const ListenConfig *listen) {
        Address address = { 0 }, held = { 0 };
        Problem problem;

        if (probe->by == PROBE_BY_UNIX)
                return listen->by == LISTEN_UNIX && strcmp(probe->target, listen->address) == 0;
        if (probe->by != PROBE_BY_TCP || listen->by != LISTEN_TCP)
                return false;
        (void)address_parse(probe->target, strlen(probe->target), NAMES_LOCALHOST, 0, &address, &problem);
        (void)address_parse(listen->address, strlen(listen->address), NAMES_NONE, 0, &held, &problem);
        return address.port == held.port &&
               (address.kind == ADDRESS_NAME || address_is_any(&held) || strcmp(address.text, held.text) == 0);
}

static void warn_of_held_socket(Reading *reading, const Setting *line, const ProbeConfig *probe,
                                const ServiceConfig *service) {
        for (uint16_t i = 0; i < service->n_listens; i++)
                if (looks_at(probe, &service->listens[i])) {
                        value_warn_hidden(reading, line,
                                          "endwell holds this socket (Listen), so a connection succeeds even when %s "
                                          "hangs: ask it something, by http:// or exec:",
                                          service->name);
                        return;
                }
}

static void warn_of_probes(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const ProbeConfig *probes = service->probes;

        for (int kind = 0; kind < _PROBE_KIND_MAX; kind++) {
                const Setting *line = settings_get(section, keys[kind]);
                if (probes[kind].by == PROBE_BY_NONE)
                        continue;
                warn_of_timeout(reading, line, &probes[kind]);
                warn_of_held_socket(reading, line, &probes[kind], service);
                if (kind == PROBE_LIVENESS)
                        warn_of_liveness(reading, line, &probes[kind], &probes[PROBE_READINESS]);
                if (kind == PROBE_STARTUP)
                        warn_of_startup(reading, line, &probes[kind], service);
        }
}

/* ---- The whole ---- */

static void refuse_of_oneshot(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        for (int kind = 0; kind < _PROBE_KIND_MAX; kind++)
                if (service->probes[kind].by != PROBE_BY_NONE)
                        value_refuse_hidden(reading, settings_get(section, keys[kind]),
                                            "a oneshot is ready and done when it exits with 0: it has no probes");
}

void service_read_probes(Reading *reading, const SettingsSection *section, ServiceConfig *service) {
        ProbeConfig probes[_PROBE_KIND_MAX] = { 0 };
        bool any = read_all(reading, section, probes);

        if (any && reading->error == 0) {
                service->probes = malloc(sizeof probes);
                if (service->probes)
                        memcpy(service->probes, probes, sizeof probes);
                else
                        reading->error = -ENOMEM;
        }
        if (!service->probes) {
                for (int kind = 0; kind < _PROBE_KIND_MAX; kind++)
                        probe_config_done(&probes[kind]);
                return;
        }
        if (service->type == SERVICE_ONESHOT)
                refuse_of_oneshot(reading, section, service);
        warn_of_probes(reading, section, service);
}
