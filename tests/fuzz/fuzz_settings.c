/* fuzz_settings.c - any bytes as a configuration: no crash, and what is accepted can stand as it is. */
#include "base/names.h"
#include "base/settings.h"
#include "base/take.h"
#include "tests/fuzz/must.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static const SettingsKey supervisor_keys[] = { { "GraceSec", SETTINGS_KEY_SINGLE }, { 0 } };
static const SettingsKey service_keys[] = {
        { "ExecStart", SETTINGS_KEY_SINGLE },
        { "Environment", SETTINGS_KEY_LIST },
        { "ReadinessProbe", SETTINGS_KEY_LATER },
        { 0 },
};
static const SettingsKind kinds[] = {
        { "Supervisor", false, false, supervisor_keys },
        { "Service", true, false, service_keys },
        { "Database", false, true, supervisor_keys },
        { 0 },
};

static const char *look_up(void *userdata, const char *name) {
        (void)userdata;
        return *name == 'A' ? "value" : NULL;
}

static void check_section(const Settings *settings, const SettingsSection *section) {
        must(section->kind->named == (section->name[0] != '\0'));
        must(!section->kind->named || name_is_valid(section->name));
        must(section->line > 0 && section->file == settings->files[0]);
        for (size_t i = 0; i < section->n_items; i++) {
                must(section->items[i].line > section->line);
                must(section->items[i].file == settings->files[0]);
                must(strlen(section->items[i].value) <= 2 * 65536);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(closep) int fd = memfd_create("conf.ini", MFD_CLOEXEC);
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        _cleanup_(settings_freep) Settings *settings = NULL;
        char path[64];

        must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        must(complaints_new(&complaints) == 0);
        must(settings_read(path, kinds, look_up, NULL, complaints, &settings) == 0);
        for (size_t i = 0; i < settings->n_sections; i++)
                check_section(settings, &settings->sections[i]);
        return 0;
}
