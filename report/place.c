/* place.c - see place.h. */
#include "report/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/complaints.h"
#include "base/settings.h"
#include "base/take.h"

#define NAME "journal.jsonl"

static int join(const char *directory, int length, char **ret) {
        char *path;
        if (asprintf(&path, "%.*s/" NAME, length, directory) < 0)
                return -ENOMEM;
        *ret = path;
        return 0;
}

static int beside(const char *socket, char **ret) {
        const char *slash = strrchr(socket, '/');
        return slash ? join(socket, (int)(slash - socket), ret) : join(".", 1, ret);
}

/* As supervisor/runtime has them. */
static int in_default(char **ret) {
        const char *session = getenv("XDG_RUNTIME_DIR");
        char directories[4][200] = { "/run/endwell" };
        unsigned uid = (unsigned)geteuid();
        if (session && session[0] == '/')
                snprintf(directories[1], sizeof directories[1], "%.180s/endwell", session);
        snprintf(directories[2], sizeof directories[2], "/dev/shm/endwell-%u", uid);
        snprintf(directories[3], sizeof directories[3], "/tmp/endwell-%u", uid);
        for (unsigned i = 0; i < 4; i++) {
                _cleanup_(freep) char *path = NULL;
                int r = directories[i][0] ? join(directories[i], (int)strlen(directories[i]), &path) : 0;
                if (r < 0)
                        return r;
                if (path && access(path, R_OK) == 0) {
                        *ret = TAKE(path);
                        return 0;
                }
        }
        return -ENOENT;
}

static const char *from_environment(void *userdata, const char *name) {
        (void)userdata;
        return getenv(name);
}

/* Only what says where the journal is: whatever else is wrong with the file is endwell's to say. */
static int by_config(const char *file, char **ret) {
        static const SettingsKey keys[] = { { "JournalFile", SETTINGS_KEY_SINGLE },
                                            { "RuntimeDirectory", SETTINGS_KEY_SINGLE },
                                            { .name = "" } };
        static const SettingsKind kinds[] = { { .name = "Supervisor", .keys = keys },
                                              { .name = "*", .rest = true },
                                              { 0 } };
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        _cleanup_(settings_freep) Settings *settings = NULL;

        int r = complaints_new(&complaints);
        if (r >= 0)
                r = settings_read(file, kinds, from_environment, NULL, complaints, &settings);
        if (r < 0)
                return r;
        const SettingsSection *section = settings->n_sections > 0 ? settings->sections : NULL;
        const Setting *journal = section ? settings_get(section, "JournalFile") : NULL;
        const Setting *directory = section ? settings_get(section, "RuntimeDirectory") : NULL;
        if (journal) {
                char *path = strdup(journal->value);
                *ret = path ? path : *ret;
                return path ? 0 : -ENOMEM;
        }
        return directory ? join(directory->value, (int)strlen(directory->value), ret) : in_default(ret);
}

int place_find(const char *socket, const char *config, char **ret_journal) {
        const char *inherited = getenv("ENDWELL_SOCKET");
        if (socket)
                return beside(socket, ret_journal);
        if (inherited && inherited[0])
                return beside(inherited, ret_journal);
        return config ? by_config(config, ret_journal) : in_default(ret_journal);
}
