/* config_contradictions.c - what cannot be true, or was hardly meant, of the keys of one service together. */
#include "base/take.h"
#include "supervisor/config_service.h"
#include "supervisor/config_values.h"
#include "supervisor/span.h"
#include "supervisor/terminal.h"
#include <signal.h>

#define FIRST_PASSED_FD 3 /* sd_listen_fds(3) */

/* ---- Descriptors ---- */

static rlim_t soft_limit(const ServiceConfig *service) {
        for (size_t i = 0; service->rights && i < service->rights->n_limits; i++)
                if (service->rights->limits[i].resource == RLIMIT_NOFILE)
                        return service->rights->limits[i].limit.rlim_cur;
        return RLIM_INFINITY;
}

static void check_notify_fd(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *type = settings_get(section, "Type");
        int n_passed = (int)service->n_listens + (int)service->descriptor_store_max;

        if (service->notify_fd < 0)
                return;
        if (service->notify_fd < FIRST_PASSED_FD + n_passed && n_passed == 1)
                value_refuse(reading, type,
                             "descriptor %d is that of its socket or stored descriptor (Listen, "
                             "FileDescriptorStoreMax): write notify-fd:%d",
                             FIRST_PASSED_FD, FIRST_PASSED_FD + 1);
        else if (service->notify_fd < FIRST_PASSED_FD + n_passed)
                value_refuse(reading, type,
                             "the %d descriptors from %d on are those of its sockets and stored descriptors (Listen, "
                             "FileDescriptorStoreMax): write notify-fd:%d",
                             n_passed, FIRST_PASSED_FD, FIRST_PASSED_FD + n_passed);
        else if ((rlim_t)service->notify_fd >= soft_limit(service))
                value_refuse(reading, type, "LimitNOFILE allows no descriptor of that number");
}

/* ---- Signals ---- */

static void check_reload_signal(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *line = settings_get(section, "ReloadSignal");

        if (line && service->reload_signal > 0 && service->reload_signal == service->kill_signal)
                value_refuse(reading, line, "is what asks %s to stop (KillSignal): a reload would end it",
                             service->name);
        else if (line && service->reload_signal > 0 && service->drain_until == DRAIN_NOTIFY &&
                 service->reload_signal == service->drained_signal)
                value_refuse(reading, line, "is what ends %s when it is drained (DrainedSignal)", service->name);
}

/* It is no asking: whoever is stopped by it was killed, and that is what the exit code says. */
static void warn_of_sigkill(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *line = settings_get(section, "KillSignal");

        if (line && service->kill_signal == SIGKILL && service->type != SERVICE_ONESHOT)
                value_warn(reading, line,
                           "no program can finish anything on it: %s is killed whenever it is to stop, and each ending "
                           "has exit code 81; for a short one keep another signal and write TimeoutStopSec=100ms",
                           service->name);
}

/* Who comes is taken by the kernel, and waits for ever. */
static void warn_of_listening_oneshot(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *line = settings_last(section, "Listen");

        if (line && service->n_listens > 0 && service->type == SERVICE_ONESHOT)
                value_warn(reading, line,
                           "%s is a oneshot: when it is done nobody answers on its sockets, and who connects waits",
                           service->name);
}

static void warn_of_watchdog(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *line = settings_get(section, "WatchdogSec");

        if (!line || service->watchdog_usec == USEC_INFINITY)
                return;
        if (service->type == SERVICE_SIMPLE)
                value_warn(reading, line,
                           "unless its program sends WATCHDOG=1 (sd_notify(3)), %s is killed every %s; one that does "
                           "sends READY=1 too: write Type=notify",
                           service->name, SPAN(service->watchdog_usec));
        if (service->type == SERVICE_ONESHOT)
                value_warn(reading, line,
                           "%s is a oneshot: unless its program sends WATCHDOG=1 (sd_notify(3)), it is "
                           "killed after %s",
                           service->name, SPAN(service->watchdog_usec));
}

/* ---- Logs ---- */

static void warn_of_sizes_without_log(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *line = settings_get(section, "LogMaxSize");

        if (!line)
                line = settings_get(section, "LogMaxFiles");
        if (line && service_output(service)->kind != OUTPUT_LOG && service_error(service)->kind != OUTPUT_LOG)
                value_warn(reading, line, "%s has no log to be rotated: write StandardOutput=log:PATH", service->name);
}

/* ---- The terminal ---- */

static void check_terminal(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *line = settings_get(section, "TTY");
        const Setting *output = settings_get(section, "StandardOutput"),
                      *error = settings_get(section, "StandardError");

        if (!service->tty)
                return;
        if (service->instances > 1)
                value_refuse(reading, line, "%s has %u instances, but there is one terminal", service->name,
                             service->instances);
        if (service_output(service)->kind != OUTPUT_INHERIT)
                value_refuse(reading, output, "with TTY=yes the terminal is its output: leave this out");
        if (service_error(service)->kind != OUTPUT_INHERIT)
                value_refuse(reading, error, "with TTY=yes the terminal is its output: leave this out");
        if (!terminal_on_input())
                value_warn(reading, line,
                           "standard input is no terminal here, and where it is none %s runs without one",
                           service->name);
}

void services_check_terminal(Reading *reading) {
        const ServiceConfig *first = NULL;
        const Setting *held = NULL;

        for (size_t i = 0; i < reading->config->n_services; i++) {
                const ServiceConfig *service = &reading->config->services[i];
                const Setting *line = settings_get(reading->services[i], "TTY");
                if (!service->tty)
                        continue;
                if (first)
                        value_refuse(reading, line, "%s has the terminal already, %s:%u: only one service can",
                                     first->name, held->file, held->line);
                else {
                        first = service;
                        held = line;
                }
        }
}

void service_check(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        check_notify_fd(reading, section, service);
        check_reload_signal(reading, section, service);
        check_terminal(reading, section, service);
        warn_of_sizes_without_log(reading, section, service);
        warn_of_watchdog(reading, section, service);
        warn_of_sigkill(reading, section, service);
        warn_of_listening_oneshot(reading, section, service);
}
