/* config_advice.c - warns of programs that cannot be found or that their user may not execute, and has each service
 * looked at for what ends it badly. */
#include "base/take.h"
#include "supervisor/config_capabilities.h"
#include "supervisor/config_program.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void warn_if_missing(Reading *reading, const Setting *setting, const char *program, const ProgramPlace *place) {
        int r = program_find(program, place);

        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                complaints_warn(reading->complaints, setting->file, setting->line, "%s: the program %.200s %s",
                                setting->key, program, r == -EACCES ? "may not be executed" : "cannot be found");
}

/* ---- Another user ---- */

static bool is_in_group(const Rights *rights, gid_t gid) {
        for (size_t i = 0; i < rights->n_groups; i++)
                if (rights->groups[i] == gid)
                        return true;
        return gid == rights->gid;
}

/* By the bits of the mode alone; a list for access control may say otherwise, so this only warns. */
static bool may_enter(const Rights *rights, const struct stat *about) {
        if (rights->uid == 0 || rights->ambient & CAPABILITY(CAP_DAC_OVERRIDE))
                return true;
        if (about->st_uid == rights->uid)
                return about->st_mode & S_IXUSR;
        return about->st_mode & (is_in_group(rights, about->st_gid) ? S_IXGRP : S_IXOTH);
}

/* Cuts an absolute path behind the first part that this user may not enter or execute; false: there is none. */
static bool cut_at_obstacle(const Rights *rights, char *path) {
        for (char *at = path; *path == '/'; at++) {
                char end = *at;
                if (end && end != '/')
                        continue;
                struct stat about;
                if (at > path)
                        *at = '\0';
                bool bad = stat(at > path ? path : "/", &about) == 0 && !may_enter(rights, &about);
                if (bad)
                        return true;
                *at = end;
                if (!end)
                        break;
        }
        return false;
}

static void warn_if_closed(Reading *reading, const Setting *setting, const char *path, const Rights *rights) {
        if (!setting || !rights || rights->uid == (uid_t)-1)
                return;
        _cleanup_(freep) char *copy = strdup(path);
        if (!copy)
                reading->error = -ENOMEM;
        else if (cut_at_obstacle(rights, copy))
                complaints_warn(reading->complaints, setting->file, setting->line,
                                "%s: the user %.40s may not %s %.200s", setting->key, rights->user,
                                strcmp(copy, path) == 0 && strcmp(setting->key, "WorkingDirectory") != 0 ? "execute"
                                                                                                         : "enter",
                                copy);
}

/* ---- Programs ---- */

static void check_program(Reading *reading, const Setting *setting, const char *program, const ProgramPlace *place,
                          const Rights *rights) {
        _cleanup_(freep) char *path = NULL;

        warn_if_missing(reading, setting, program, place);
        int r = program_path(program, place, &path);
        if (r == -ENOMEM)
                reading->error = r;
        else if (r == 0)
                warn_if_closed(reading, setting, path, rights);
}

static void check_service(Reading *reading, size_t i) {
        static const char *const keys[_PROBE_KIND_MAX] = {
                [PROBE_STARTUP] = "StartupProbe",
                [PROBE_LIVENESS] = "LivenessProbe",
                [PROBE_READINESS] = "ReadinessProbe",
        };
        const ServiceConfig *service = &reading->config->services[i];
        const SettingsSection *section = reading->services[i];
        const ProgramPlace place = { .environment = service->environment,
                                     .inheritance = service->inheritance,
                                     .directory = service->working_directory };

        for (int kind = 0; service->probes && kind < _PROBE_KIND_MAX; kind++)
                if (service->probes[kind].argv)
                        check_program(reading, settings_get(section, keys[kind]), service->probes[kind].argv[0], &place,
                                      service->rights);
        if (service->working_directory)
                warn_if_closed(reading, settings_get(section, "WorkingDirectory"), service->working_directory,
                               service->rights);
        if (!service->argv)
                return;
        check_program(reading, settings_get(section, "ExecStart"), service->argv[0], &place, service->rights);
        config_advise_service(reading, i);
}

static void check_hook(Reading *reading, size_t i) {
        const HookConfig *hook = &reading->config->hooks[i];
        const ServiceConfig *service = hook->service < 0 ? NULL : &reading->config->services[hook->service];
        const ProgramPlace place = { .environment = hook->environment,
                                     .inheritance = service ? service->inheritance : NULL,
                                     .directory = hook->working_directory };

        if (hook->argv)
                check_program(reading, settings_get(reading->hooks[i], "Exec"), hook->argv[0], &place, hook->rights);
}

void config_check_programs(Reading *reading) {
        for (size_t i = 0; i < reading->n_written && reading->error == 0; i++)
                check_service(reading, i);
        for (size_t i = 0; i < reading->n_hooks_written && reading->error == 0; i++)
                check_hook(reading, i);
}
