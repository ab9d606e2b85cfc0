/* config_program.c - commands, and where their program is. */
#include "supervisor/config_program.h"
#include "base/take.h"
#include "supervisor/config_strings.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Commands ---- */

static char **pack(Reading *reading, char *const *items, size_t n) {
        char **packed = NULL;
        int r = strings_pack(items, n, &packed);
        if (r < 0)
                reading->error = r;
        return packed;
}

static char **read_shell_command(Reading *reading, const Setting *setting) {
        char shell[] = "/bin/sh", option[] = "-c", *const argv[] = { shell, option, setting->value };

        if (setting->value[strspn(setting->value, " \t")])
                return pack(reading, argv, LENGTH_OF(argv));
        value_refuse_hidden(reading, setting, "the command is empty");
        return NULL;
}

char **program_read(Reading *reading, const Setting *setting, bool shell) {
        _cleanup_(freep) char **words = NULL;
        size_t n = 0;

        if (shell)
                return read_shell_command(reading, setting);
        if (!value_words(reading, setting, &words, &n))
                return NULL;
        if (n > 0 && *words[0])
                return pack(reading, words, n);
        value_refuse_hidden(reading, setting, "the command is empty");
        return NULL;
}

/* ---- Where the program is ---- */

static bool unsets_path(const Inheritance *inheritance) {
        for (size_t i = 0; inheritance && inheritance->unset && inheritance->unset[i]; i++)
                if (strcmp(inheritance->unset[i], "PATH") == 0)
                        return true;
        return false;
}

static const char *path_of_child(const ProgramPlace *place) {
        const char *path = NULL;

        for (size_t i = 0; place->environment && place->environment[i]; i++)
                if (strncmp(place->environment[i], "PATH=", 5) == 0)
                        path = place->environment[i] + 5;
        if (!path && !unsets_path(place->inheritance))
                path = getenv("PATH");
        return path ? path : "/bin:/usr/bin"; /* execvp(3), when there is no PATH */
}

static int may_execute(int directory_fd, const char *path) {
        struct stat about;

        if (fstatat(directory_fd, path, &about, 0) < 0)
                return errno == EACCES ? -EACCES : -ENOENT;
        if (!S_ISREG(about.st_mode))
                return -EACCES;
        return faccessat(directory_fd, path, X_OK, AT_EACCESS) < 0 ? -EACCES : 0;
}

/* As execvp(3): a file that may not be executed is passed over, but remembered. */
static int find_in_path(int directory_fd, const char *program, const char *path, char **ret_path) {
        int result = -ENOENT;

        for (const char *at = path;; at++) {
                size_t length = strcspn(at, ":");
                _cleanup_(freep) char *candidate = NULL;
                if (asprintf(&candidate, "%.*s%s%s", (int)length, at, length ? "/" : "", program) < 0) {
                        candidate = NULL;
                        return -ENOMEM;
                }
                int r = may_execute(directory_fd, candidate);
                if (r == 0 && ret_path)
                        *ret_path = TAKE(candidate);
                if (r == 0)
                        return 0;
                if (r == -EACCES)
                        result = r;
                at += length;
                if (!*at)
                        return result;
        }
}

int program_find(const char *program, const ProgramPlace *place) {
        _cleanup_(closep) int fd = -1;

        if (place->directory) {
                fd = open(place->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (fd < 0)
                        return -ENOENT;
        }
        int base = place->directory ? fd : AT_FDCWD;
        if (strchr(program, '/'))
                return may_execute(base, program);
        return find_in_path(base, program, path_of_child(place), NULL);
}

int program_path(const char *program, const ProgramPlace *place, char **ret) {
        _cleanup_(freep) char *found = NULL;
        char *path = NULL;

        int r = strchr(program, '/') ? 0 : find_in_path(AT_FDCWD, program, path_of_child(place), &found);
        if (r < 0)
                return r;
        const char *name = found ? found : program, *directory = *name == '/' ? NULL : place->directory;
        if (asprintf(&path, "%s%s%s", directory ? directory : "", directory ? "/" : "", name) < 0)
                return -ENOMEM;
        *ret = path;
        return 0;
}
