/* config_service.c - reads the sections [Service NAME], but for After and Requires. */
#include "supervisor/config_service.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/config_builtin.h"
#include "supervisor/config_environment.h"
#include "supervisor/config_keys.h"
#include "supervisor/config_program.h"
#include "supervisor/config_rights.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void value_phase(Reading *reading, const Setting *setting, void *ret_value) {
        int index = reading_find_phase(reading, setting, setting->value);
        *(uint16_t *)ret_value = index < 0 ? CONFIG_NOWHERE : (uint16_t)index;
}

static void add_status(Reading *reading, const Setting *setting, const char *word, ExitSet *set) {
        size_t n_digits = strspn(word, "0123456789");
        int number = 0;

        if (n_digits > 0 && !word[n_digits]) {
                for (size_t i = 0; i < n_digits && number < 256; i++)
                        number = number * 10 + (word[i] - '0');
                if (number < 256) {
                        set->codes[number / 64] |= UINT64_C(1) << (number % 64);
                        return;
                }
        } else {
                number = signal_from_string(word);
                if (number > 0 && number < 64) {
                        set->signals |= UINT64_C(1) << number;
                        return;
                }
        }
        value_refuse(reading, setting, "%.40s is neither an exit code (0 to 255) nor the name of a signal", word);
}

/* Into an ExitSet *, which is made for the first word. */
static void value_exit_set(Reading *reading, const Setting *setting, void *ret_value) {
        _cleanup_(freep) char **words = NULL;
        ExitSet **set = ret_value;
        size_t n = 0;

        if (!value_words(reading, setting, &words, &n))
                return;
        if (n == 0) {
                freep(set);
                *set = NULL;
        } else if (!*set) {
                *set = calloc(1, sizeof **set);
                if (!*set)
                        reading->error = -ENOMEM;
        }
        for (size_t i = 0; *set && i < n; i++)
                add_status(reading, setting, words[i], *set);
}

#define NOTIFY_FD_FIRST 3
#define NOTIFY_FD_MAX   1023 /* who asks for no more descriptors than the usual soft limit has it */

/* Into the ServiceConfig itself: notify-fd:N says two things. */
static void value_type(Reading *reading, const Setting *setting, void *ret_value) {
        static const char prefix[] = "notify-fd:";
        ServiceConfig *service = ret_value;

        if (strncmp(setting->value, prefix, sizeof prefix - 1) != 0) {
                value_service_type(reading, setting, &service->type);
                return;
        }
        const char *digits = setting->value + sizeof prefix - 1;
        int fd = 0;
        for (const char *at = digits; *at && fd <= NOTIFY_FD_MAX; at++)
                fd = *at >= '0' && *at <= '9' ? fd * 10 + (*at - '0') : NOTIFY_FD_MAX + 1;
        if (fd < NOTIFY_FD_FIRST || fd > NOTIFY_FD_MAX) {
                value_refuse(reading, setting, "the descriptor must be a number from %d to %d", NOTIFY_FD_FIRST,
                             NOTIFY_FD_MAX);
                return;
        }
        service->type = SERVICE_NOTIFY_FD;
        service->notify_fd = fd;
}

static const ValueRule service_rules[] = {
        { "Type", value_type, 0 },
        { "Phase", value_phase, offsetof(ServiceConfig, phase) },
        { "Instances", value_instances, offsetof(ServiceConfig, instances) },
        { "Essential", value_bool, offsetof(ServiceConfig, essential) },
        { "Restart", value_restart, offsetof(ServiceConfig, restart) },
        { "RestartSec", value_span, offsetof(ServiceConfig, restart_usec) },
        { "RestartMaxDelaySec", value_span, offsetof(ServiceConfig, restart_max_usec) },
        { "StartLimitBurst", value_count, offsetof(ServiceConfig, start_limit_burst) },
        { "SuccessExitStatus", value_exit_set, offsetof(ServiceConfig, success) },
        { "TimeoutStartSec", value_limit_or_infinity, offsetof(ServiceConfig, timeout_start_usec) },
        { "KillSignal", value_signal, offsetof(ServiceConfig, kill_signal) },
        { "KillMode", value_kill_mode, offsetof(ServiceConfig, kill_mode) },
        { "TimeoutStopSec", value_limit_or_infinity, offsetof(ServiceConfig, timeout_stop_usec) },
        { "DrainUntil", value_drain_until, offsetof(ServiceConfig, drain_until) },
        { "DrainedSignal", value_signal, offsetof(ServiceConfig, drained_signal) },
        { "WorkingDirectory", value_directory, offsetof(ServiceConfig, working_directory) },
        { "StandardOutput", value_standard_output, offsetof(ServiceConfig, outputs) },
        { "StandardError", value_standard_error, offsetof(ServiceConfig, outputs) },
        { "LogMaxSize", value_log_max_size, offsetof(ServiceConfig, outputs) },
        { "LogMaxFiles", value_log_max_files, offsetof(ServiceConfig, outputs) },
        { "WatchdogSec", value_watchdog, offsetof(ServiceConfig, watchdog_usec) },
        { "FileDescriptorStoreMax", value_store_max, offsetof(ServiceConfig, descriptor_store_max) },
        { "ReloadSignal", value_reload_signal, offsetof(ServiceConfig, reload_signal) },
        { "TTY", value_bool, offsetof(ServiceConfig, tty) },
};

void config_service_defaults(ServiceConfig *service) {
        *service = (ServiceConfig){
                .instances = 1,
                .type = SERVICE_SIMPLE,
                .restart = RESTART_ON_FAILURE,
                .kill_mode = KILL_MIXED,
                .drain_until = DRAIN_EXIT,
                .essential = true,
                .kill_signal = SIGTERM,
                .drained_signal = SIGTERM,
                .start_limit_burst = 5,
                .restart_usec = 500 * USEC_PER_MSEC,
                .restart_max_usec = 30 * USEC_PER_SEC,
                .timeout_start_usec = 90 * USEC_PER_SEC,
                .timeout_stop_usec = USEC_UNSET,
                .watchdog_usec = USEC_INFINITY,
                .notify_fd = -1,
                .depth = 1,
        };
}

static void read_command(Reading *reading, const SettingsSection *section, ServiceConfig *service) {
        const Setting *command = settings_get(section, "ExecStart"), *shell = settings_get(section, "Shell");
        bool by_shell = false;

        if (shell)
                value_bool(reading, shell, &by_shell);
        if (command)
                service->argv = program_read(reading, command, by_shell);
        else
                complaints_add(reading->complaints, section->file, section->line,
                               "the service %s has no ExecStart: what shall it run?", service->name);
}

/* The default of the one must not contradict what was written for the other. */
static void fit_delays(Reading *reading, const SettingsSection *section, ServiceConfig *service) {
        const Setting *most = settings_get(section, "RestartMaxDelaySec");

        if (service->restart_max_usec >= service->restart_usec)
                return;
        if (most)
                value_refuse(reading, most, "is less than RestartSec, with which the delays begin");
        else
                service->restart_max_usec = service->restart_usec;
}

/* Who ends a foreground program from its terminal (Ctrl-C, Ctrl-\, closing the window) meant that: it did not fail. A
 * shell says the same of its last command by 128 and the number. */
static void accept_what_is_typed(Reading *reading, ServiceConfig *service) {
        static const int typed[] = { SIGHUP, SIGINT, SIGQUIT };

        if (!service->tty)
                return;
        if (!service->success)
                service->success = calloc(1, sizeof *service->success);
        if (!service->success) {
                reading->error = -ENOMEM;
                return;
        }
        for (size_t i = 0; i < LENGTH_OF(typed); i++) {
                int code = 128 + typed[i];
                service->success->signals |= UINT64_C(1) << typed[i];
                service->success->codes[code / 64] |= UINT64_C(1) << (code % 64);
        }
}

static void warn_of_settings(Reading *reading, const SettingsSection *section, const ServiceConfig *service) {
        const Setting *burst = settings_get(section, "StartLimitBurst");
        const Setting *drained = settings_get(section, "DrainedSignal");

        if (burst && service->start_limit_burst == 0)
                value_warn(reading, burst, "%s would be restarted for ever, however often it fails", service->name);
        if (drained && service->drain_until != DRAIN_NOTIFY)
                value_warn(reading, drained, "is only used with DrainUntil=notify");
}

/* AutoStart=no: only a person starts it. Whoever starts by himself cannot require it: that is said where it stands. */
static void read_auto_start(Reading *reading, const SettingsSection *section, ServiceConfig *service) {
        const Setting *setting = settings_get(section, "AutoStart");
        bool yes = true;

        if (setting)
                value_bool(reading, setting, &yes);
        service->by_hand = !yes;
}

static void read_service(Reading *reading, size_t i) {
        ServiceConfig *service = &reading->config->services[i];
        const SettingsSection *section = reading->services[i];

        builtin_refuse_name(reading, section);
        values_read(reading, section, service_rules, LENGTH_OF(service_rules), service);
        read_auto_start(reading, section, service);
        read_command(reading, section, service);
        service->rights = rights_read(reading, section);
        service->inheritance = inheritance_read(reading, section);
        service->environment =
                environment_read(reading, section, NULL, service->inheritance ? service->inheritance->unset : NULL);
        service_read_listens(reading, section, service);
        service_read_probes(reading, section, service);
        fit_delays(reading, section, service);
        accept_what_is_typed(reading, service);
        service_check(reading, section, service);
        warn_of_settings(reading, section, service);
}

/* If any service names a phase, all must: else a forgotten line would move a database into the first phase. */
static void check_phases_named(Reading *reading) {
        size_t n_named = 0, n = reading->n_written;

        for (size_t i = 0; i < n; i++)
                n_named += settings_get(reading->services[i], "Phase") != NULL;
        for (size_t i = 0; n_named > 0 && n_named < n && i < n; i++)
                if (!settings_get(reading->services[i], "Phase"))
                        complaints_add(reading->complaints, reading->services[i]->file, reading->services[i]->line,
                                       "the service %s names no Phase, but others do: then each one must",
                                       reading->services[i]->name);
}

static void count_members(Reading *reading) {
        Config *config = reading->config;

        for (size_t i = 0; i < config->n_services; i++) {
                const ServiceConfig *service = &config->services[i];
                bool fitted = config->n_members <= MEMBERS_MAX;
                config->n_members += service->instances;
                if (fitted && config->n_members > MEMBERS_MAX)
                        complaints_add(reading->complaints, service->file, service->line,
                                       "with the %u instances of %s there are more than %d in all", service->instances,
                                       service->name, MEMBERS_MAX);
        }
}

void config_read_services(Reading *reading) {
        for (size_t i = 0; i < reading->n_written && reading->error == 0; i++)
                read_service(reading, i);
        if (reading->n_written < reading->config->n_services && reading->error == 0)
                builtin_finish(reading);
        check_phases_named(reading);
        count_members(reading);
        services_check_sockets(reading);
        services_check_terminal(reading);
        if (reading->config->n_services == 0 && !reading_has_errors(reading))
                complaints_add(reading->complaints, reading->config->path, 0,
                               "there is no [Service NAME] in it: nothing would run");
}
