/* config_environment.c - see config_environment.h. */
#include "supervisor/config_environment.h"
#include "base/file.h"
#include "base/take.h"
#include "supervisor/config_environment_file.h"
#include "supervisor/config_strings.h"
#include "supervisor/config_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX (256u << 10)
#define VARIABLES_MAX 4096

/* ---- Names ---- */

/* The length of the name that stands in front of the end or of a =; 0: there is none. */
static size_t name_length(const char *word) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
        size_t length = strspn(word, letters);
        return *word >= '0' && *word <= '9' ? 0 : length;
}

/* To look each of them up among all others takes its time. */
static bool has_room(Reading *reading, const Setting *setting, const Strings *strings) {
        if (strings->n < VARIABLES_MAX)
                return true;
        value_refuse_hidden(reading, setting, "with it there are more than %d variables", VARIABLES_MAX);
        return false;
}

static void read_names_of(Reading *reading, const Setting *setting, Strings *names) {
        _cleanup_(freep) char **words = NULL;
        size_t n = 0;

        if (!value_words(reading, setting, &words, &n))
                return;
        if (n == 0)
                strings_clear(names);
        for (size_t i = 0; i < n && reading->error == 0 && has_room(reading, setting, names); i++) {
                size_t length = name_length(words[i]);
                if (length > 0 && !words[i][length])
                        reading->error = strings_set(names, words[i]);
                else if (length > 0 && words[i][length] == '=') /* its value may be a secret */
                        value_refuse_hidden(reading, setting, "word %zu has a value: write only the name, %.*s", i + 1,
                                            (int)(length < 60 ? length : 60), words[i]);
                else
                        value_refuse_hidden(reading, setting, "word %zu is no name (A-Z, a-z, 0-9 and _)", i + 1);
        }
}

static void read_names(Reading *reading, const SettingsSection *section, const char *key, Strings *names) {
        for (size_t i = 0; i < section->n_items && reading->error == 0; i++)
                if (strcmp(section->items[i].key, key) == 0)
                        read_names_of(reading, &section->items[i], names);
}

static char **pack(Reading *reading, const Strings *strings) {
        char **packed = NULL;

        if (strings->n > 0 && reading->error == 0)
                reading->error = strings_pack(strings->items, strings->n, &packed);
        return packed;
}

/* ---- Environment ---- */

static void read_assignments(Reading *reading, const Setting *setting, Strings *environment, char *const *inherited) {
        _cleanup_(freep) char **words = NULL;
        size_t n = 0;
        int r = 0;

        if (!value_words(reading, setting, &words, &n))
                return;
        if (n == 0) /* an empty value takes back what stood before */
                strings_clear(environment);
        for (size_t i = 0; n == 0 && inherited && inherited[i] && r == 0; i++)
                r = strings_set(environment, inherited[i]);
        for (size_t i = 0; i < n && r == 0 && has_room(reading, setting, environment); i++) {
                size_t length = name_length(words[i]);
                if (length > 0 && words[i][length] == '=')
                        r = strings_set(environment, words[i]);
                else /* which word, but not the word: it may be the rest of a password with a blank in it */
                        value_refuse_hidden(reading, setting,
                                            "word %zu is no NAME=VALUE (quote values that have blanks: \"NAME=a b\")",
                                            i + 1);
        }
        if (r < 0)
                reading->error = r;
}

/* ---- Files ---- */

typedef struct FileSink {
        Reading *reading;
        const Setting *setting;
        const char *path;
        Strings *environment;
} FileSink;

static int on_assignment(void *userdata, const char *assignment) {
        FileSink *sink = userdata;
        if (sink->environment->n >= VARIABLES_MAX)
                return -E2BIG;
        return strings_set(sink->environment, assignment);
}

static void on_refused(void *userdata, unsigned line, const char *sentence) {
        FileSink *sink = userdata;
        complaints_add(sink->reading->complaints, sink->path, line, "%s (an EnvironmentFile, named at %s:%u)", sentence,
                       sink->setting->file, sink->setting->line);
}

static void read_file(Reading *reading, const Setting *setting, const char *path, bool may_be_missing,
                      Strings *environment) {
        FileSink file = { reading, setting, path, environment };
        const EnvironmentSink sink = { .assign = on_assignment, .refuse = on_refused, .userdata = &file };
        _cleanup_(freep) char *text = NULL;
        size_t length = 0;

        int r = file_read(path, FILE_SIZE_MAX, &text, &length);
        if (r == -ENOENT && may_be_missing)
                return;
        if (r == -EFBIG)
                value_refuse(reading, setting, "the file is larger than 256 KiB");
        else if (r == -ENOENT)
                value_refuse(reading, setting, "cannot be read: %s (if it may be missing, write -%s)", file_problem(r),
                             path);
        else if (r < 0 && r != -ENOMEM)
                value_refuse(reading, setting, "cannot be read: %s", file_problem(r));
        if (r == 0)
                r = environment_file_parse(text, length, &sink);
        if (r == -E2BIG)
                (void)has_room(reading, setting, environment);
        if (r == -ENOMEM)
                reading->error = r;
}

/* One file a line, as systemd has it: the value is its path, with its blanks. */
static void read_files(Reading *reading, const SettingsSection *section, Strings *environment) {
        size_t first = 0;

        for (size_t i = 0; i < section->n_items; i++)
                if (strcmp(section->items[i].key, "EnvironmentFile") == 0 && !*section->items[i].value)
                        first = i + 1;
        for (size_t i = first; i < section->n_items && reading->error == 0; i++) {
                const Setting *setting = &section->items[i];
                bool may_be_missing = *setting->value == '-';
                const char *path = setting->value + may_be_missing;
                if (strcmp(setting->key, "EnvironmentFile") != 0)
                        continue;
                if (*path == '/')
                        read_file(reading, setting, path, may_be_missing, environment);
                else
                        value_refuse(reading, setting, "must be an absolute path (one that begins with /)%s",
                                     may_be_missing ? " behind the -" : "");
        }
}

/* ---- Together ---- */

char **environment_read(Reading *reading, const SettingsSection *section, char *const *inherited, char *const *unset) {
        _cleanup_(strings_clear) Strings environment = { 0 };

        for (size_t i = 0; inherited && inherited[i] && reading->error == 0; i++)
                reading->error = strings_set(&environment, inherited[i]);
        for (size_t i = 0; i < section->n_items && reading->error == 0; i++)
                if (strcmp(section->items[i].key, "Environment") == 0)
                        read_assignments(reading, &section->items[i], &environment, inherited);
        read_files(reading, section, &environment);
        for (size_t i = 0; unset && unset[i]; i++)
                strings_remove(&environment, unset[i]);
        return pack(reading, &environment);
}

Inheritance *inheritance_read(Reading *reading, const SettingsSection *section) {
        _cleanup_(strings_clear) Strings passed = { 0 }, unwanted = { 0 };

        read_names(reading, section, "PassEnvironment", &passed);
        read_names(reading, section, "UnsetEnvironment", &unwanted);
        if (passed.n == 0 && unwanted.n == 0)
                return NULL;
        Inheritance *inheritance = calloc(1, sizeof *inheritance);
        if (!inheritance) {
                reading->error = -ENOMEM;
                return NULL;
        }
        inheritance->passes_some = passed.n > 0;
        inheritance->pass = pack(reading, &passed);
        inheritance->unset = pack(reading, &unwanted);
        return inheritance;
}

Inheritance *inheritance_free(Inheritance *inheritance) {
        if (inheritance) {
                free(inheritance->pass);
                free(inheritance->unset);
                free(inheritance);
        }
        return NULL;
}
