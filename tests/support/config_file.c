/* config_file.c - a configuration in a directory of its own. */
#include "tests/support/config_file.h"
#include "base/take.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void config_file_open(ConfigFile *file) {
        *file = (ConfigFile){ .directory = "/tmp/endwell-test-config-XXXXXX" };
        if (!mkdtemp(file->directory))
                abort();
        snprintf(file->path, sizeof file->path, "%s/conf.ini", file->directory);
        unsetenv("ENDWELL_MODE");
        unsetenv("ENDWELL_CONFIG");
}

static void forget(ConfigFile *file) {
        file->config = config_free(file->config);
        file->complaints = complaints_free(file->complaints);
        free(file->printed);
        file->printed = NULL;
}

void config_file_close(ConfigFile *file) {
        char command[96];

        forget(file);
        snprintf(command, sizeof command, "rm -rf %s", file->directory);
        if (system(command) != 0)
                abort();
}

void config_file_write(const ConfigFile *file, const char *name, const char *text) {
        char path[192];
        snprintf(path, sizeof path, "%s/%s", file->directory, name);
        _cleanup_(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
                abort();
}

/* Each complaint without the directory of its file. */
void config_file_print(ConfigFile *file) {
        size_t size, length = strlen(file->directory) + 1;
        const char *name, *message;
        unsigned line;
        bool is_warning;
        free(file->printed);
        FILE *out = open_memstream(&file->printed, &size);

        for (size_t i = 0; complaints_get(file->complaints, i, &name, &line, &message, &is_warning); i++) {
                if (strncmp(name, file->directory, length - 1) == 0)
                        name += length;
                fprintf(out, "%s:%u: %s%s\n", name, line, is_warning ? "warning: " : "", message);
        }
        fclose(out);
}

static void load(ConfigFile *file, const char *path, const char *mode,
                 int (*how)(const char *, const char *, Complaints *, Config **)) {
        forget(file);
        if (complaints_new(&file->complaints) < 0)
                abort();
        file->answer = how(path, mode, file->complaints, &file->config);
        config_file_print(file);
}

void config_file_load_path(ConfigFile *file, const char *path, const char *mode) {
        load(file, path, mode, config_load);
}

void config_file_load(ConfigFile *file, const char *text) {
        config_file_write(file, "conf.ini", text);
        load(file, file->path, NULL, config_load);
}

void config_file_examine(ConfigFile *file, const char *text) {
        config_file_write(file, "conf.ini", text);
        load(file, file->path, NULL, config_examine);
}
