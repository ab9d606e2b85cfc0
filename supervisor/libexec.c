/* libexec.c - where the built-in programs are. */
#include "supervisor/libexec.h"
#include "base/take.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The folder that this program was started from, without a slash at its end. */
static int own_directory(char ret_directory[static PATH_MAX]) {
        ssize_t n = readlink("/proc/self/exe", ret_directory, PATH_MAX);

        if (n < 0)
                return -errno;
        char *slash = memrchr(ret_directory, '/', (size_t)n);
        if (!slash) /* not a path: an executable in memory */
                return -ENOENT;
        *slash = '\0';
        return 0;
}

/* Most programs have a room of their own, which has their name. */
static const char *room_of(const char *name) {
        static const struct Guest {
                const char *name, *room;
        } guests[] = { { "database", "ledger" }, { "jobs", "ledger" } };

        for (size_t i = 0; i < LENGTH_OF(guests); i++)
                if (strcmp(guests[i].name, name) == 0)
                        return guests[i].room;
        return name;
}

int libexec_find(const char *name, char ret_path[static PATH_MAX]) {
        char directory[PATH_MAX], path[PATH_MAX];

        int r = own_directory(directory);
        if (r < 0)
                return r;
        int n = snprintf(path, sizeof path, "%s/../libexec/endwell/endwell-%s", directory, name);
        if (n >= PATH_MAX || access(path, X_OK) < 0)
                n = snprintf(path, sizeof path, "%s/../%s/endwell-%s", directory, room_of(name), name);
        if (n >= PATH_MAX || access(path, X_OK) < 0)
                return -ENOENT;
        strcpy(ret_path, path);
        return 0;
}
