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

        if (!path_is_absolute(reading, setting, path))
                return;
        int r = may_write_file(path, &folder_is_bad);
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

static bool output_is_later(const char *text) {
        static const char *const later[] = { "journal", "prefix", "json" };

        for (size_t i = 0; i < LENGTH_OF(later); i++)
                if (strcmp(text, later[i]) == 0)
                        return true;
        return strncmp(text, "log:", 4) == 0;
}

static void read_output(Reading *reading, const Setting *setting, Output *output) {
        const char *text = setting->value;

        if (strcmp(text, "inherit") == 0)
                output->kind = OUTPUT_INHERIT;
        else if (strcmp(text, "null") == 0)
                output->kind = OUTPUT_NULL;
        else if (strncmp(text, "file:", 5) == 0)
                read_output_path(reading, setting, OUTPUT_FILE, text + 5, output);
        else if (strncmp(text, "append:", 7) == 0)
                read_output_path(reading, setting, OUTPUT_APPEND, text + 7, output);
        else if (output_is_later(text))
                value_refuse(reading, setting, "this output is not in this version yet");
        else
                value_refuse(reading, setting, "must be inherit, null, file:PATH or append:PATH");
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
