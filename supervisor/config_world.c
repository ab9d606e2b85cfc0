/* config_world.c - the readers of values that must fit the machine: paths, directories, outputs. */
#include "base/take.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_FILES_MAX 1000

/* With the ids that the process really uses; access(2) would ask with others. 0 or -errno. */
static int may_access(const char *path, int how) {
        return faccessat(AT_FDCWD, path, how, AT_EACCESS) < 0 ? -errno : 0;
}

static void set_text(Reading *reading, char **field, const char *text) {
        char *copy = strdup(text);
        if (!copy) {
                reading->error = -ENOMEM;
                return;
        }
        free(*field);
        *field = copy;
}

static bool path_is_absolute(Reading *reading, const Setting *setting, const char *path) {
        if (*path == '/')
                return true;
        value_refuse(reading, setting, "must be an absolute path (one that begins with /)");
        return false;
}

void value_path(Reading *reading, const Setting *setting, void *ret_value) {
        if (path_is_absolute(reading, setting, setting->value))
                set_text(reading, ret_value, setting->value);
}

void value_directory(Reading *reading, const Setting *setting, void *ret_value) {
        const char *path = setting->value;
        struct stat about;

        if (!path_is_absolute(reading, setting, path))
                return;
        int r = stat(path, &about) < 0 ? -errno : 0;
        if (r == 0 && !S_ISDIR(about.st_mode))
                r = -ENOTDIR;
        if (r == 0)
                r = may_access(path, X_OK);
        if (r < 0)
                value_refuse(reading, setting, "cannot be a working directory: %s", strerrordesc_np(-r));
        else
                set_text(reading, ret_value, path);
}

/* ---- Outputs ---- */

/* What opening `path` for writing would say; nothing is made. */
static int may_write_file(const char *path, bool *ret_folder_is_bad) {
        struct stat about;

        *ret_folder_is_bad = false;
        if (stat(path, &about) == 0)
                return S_ISDIR(about.st_mode) ? -EISDIR : may_access(path, W_OK);
        if (errno != ENOENT)
                return -errno;
        *ret_folder_is_bad = true;
        _cleanup_(freep) char *folder = strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
        if (!folder)
                return -ENOMEM;
        return may_access(folder, W_OK | X_OK);
}

static void read_output_path(Reading *reading, const Setting *setting, OutputKind kind, const char *path,
                             Output *output) {
        bool folder_is_bad = false;
        struct stat about;

        if (!path_is_absolute(reading, setting, path))
                return;
        int r = may_write_file(path, &folder_is_bad);
        if (r == 0 && kind == OUTPUT_LOG && stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
                value_refuse(reading, setting, "is no regular file, which could be rotated: write append:%s", path);
                return;
        }
        if (r == -ENOMEM)
                reading->error = r;
        else if (r < 0)
                value_refuse(reading, setting, "%s cannot be written: %s", folder_is_bad ? "its folder" : "the file",
                             strerrordesc_np(-r));
        if (r == 0) {
                set_text(reading, &output->path, path);
                output->kind = kind;
        }
}

static void read_output(Reading *reading, const Setting *setting, Output *output) {
        static const struct {
                const char *word; /* with a colon at its end: a path follows */
                OutputKind kind;
        } words[] = {
                { "inherit", OUTPUT_INHERIT }, { "null", OUTPUT_NULL },  { "prefix", OUTPUT_PREFIX },
                { "json", OUTPUT_JSON },       { "file:", OUTPUT_FILE }, { "append:", OUTPUT_APPEND },
                { "log:", OUTPUT_LOG },
        };
        const char *text = setting->value;

        for (size_t i = 0; i < LENGTH_OF(words); i++) {
                size_t n = strlen(words[i].word);
                if (words[i].word[n - 1] == ':' && strncmp(text, words[i].word, n) == 0) {
                        read_output_path(reading, setting, words[i].kind, text + n, output);
                        return;
                }
                if (strcmp(text, words[i].word) == 0) {
                        output->kind = words[i].kind;
                        return;
                }
        }
        if (strcmp(text, "journal") == 0)
                value_refuse(reading, setting, "this output is not in this version yet");
        else
                value_refuse(reading, setting,
                             "must be inherit, null, prefix, json, file:PATH, append:PATH or log:PATH");
}

/* Those of a service, made for the first of the two that is given; NULL: without memory. */
static Outputs *own_outputs(Reading *reading, Outputs **outputs) {
        if (!*outputs)
                *outputs = calloc(1, sizeof **outputs);
        if (!*outputs)
                reading->error = -ENOMEM;
        return *outputs;
}

void value_standard_output(Reading *reading, const Setting *setting, void *ret_value) {
        Outputs *outputs = own_outputs(reading, ret_value);
        if (outputs)
                read_output(reading, setting, &outputs->standard_output);
}

void value_standard_error(Reading *reading, const Setting *setting, void *ret_value) {
        Outputs *outputs = own_outputs(reading, ret_value);
        if (outputs)
                read_output(reading, setting, &outputs->standard_error);
}

void value_log_max_size(Reading *reading, const Setting *setting, void *ret_value) {
        Outputs *outputs = own_outputs(reading, ret_value);
        if (outputs)
                value_size(reading, setting, &outputs->log_max_size);
}

void value_log_max_files(Reading *reading, const Setting *setting, void *ret_value) {
        Outputs *outputs = own_outputs(reading, ret_value);
        int number;
        if (outputs && value_integer(reading, setting, 1, LOG_FILES_MAX, &number))
                outputs->log_max_files = (unsigned)number;
}
