/* settings.c - reads an INI file and its drop-ins strictly, with inih.
 *
 * What inih may do to a line depends on how it was compiled, and on Debian on variables that anybody in the process can
 * set: it cuts long lines and names, starts comments inside values, takes ":" for "=", joins indented lines. So our own
 * reader (settings_lines) takes the lines apart first, and inih gets "[NUMBER]" and "key=NUMBER", the numbers of our
 * lines: there is nothing in them that it could cut or split. What it hands back goes to settings_merge. */
#include "base/settings.h"
#include "base/settings_lines.h"
#include "base/settings_merge.h"
#include "base/take.h"
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

/* ---- One file, through inih ---- */

typedef struct Feed {
        const SettingsLines *lines;
        size_t next;  /* the line to hand to inih */
        bool entered; /* of a section: "[N]" went out, "section=N" is next; inih does not report empty sections */
        SettingsMerge *merge;
        size_t n_handled;
        int error;
} Feed;

/* The ini_reader: fgets() for our lines. */
static char *on_read(char *text, int size, void *stream) {
        Feed *feed = stream;

        if (feed->next >= feed->lines->n_items || feed->error < 0)
                return NULL;
        size_t at = feed->next;
        if (feed->lines->items[at].kind == SETTINGS_LINE_KEY) {
                snprintf(text, (size_t)size, "key=%zu\n", at);
                feed->next++;
        } else if (!feed->entered) {
                snprintf(text, (size_t)size, "[%zu]\n", at);
                feed->entered = true;
        } else {
                snprintf(text, (size_t)size, "section=%zu\n", at);
                feed->entered = false;
                feed->next++;
        }
        return text;
}

/* The ini_handler. Answers 1, "handled", always: 0 would make inih report, or stop at, a line that is none of its
 * business; our errors wait in the feed. */
static int on_value(void *userdata, const char *section, const char *name, const char *value) {
        Feed *feed = userdata;
        (void)section;

        if (!name || !value) /* an inih that also reports section lines */
                return 1;
        size_t at = strtoul(value, NULL, 10);
        if (feed->error == 0 && at < feed->lines->n_items) {
                feed->error = settings_merge_line(feed->merge, &feed->lines->items[at]);
                feed->n_handled++;
        }
        return 1;
}

static int read_file(SettingsMerge *merge, const char *path) {
        _cleanup_(settings_lines_done) SettingsLines lines = { 0 };

        int r = settings_lines_read(path, merge->complaints, &lines);
        if (r < 0)
                return r;
        settings_merge_begin_file(merge, path);
        Feed feed = { .lines = &lines, .merge = merge };
        r = ini_parse_stream(on_read, &feed, on_value, &feed);
        if (feed.error < 0)
                return feed.error;
        if (r == -2) /* ini.h: memory */
                return -ENOMEM;
        if (r != 0 || feed.n_handled != lines.n_items) {
                complaints_add(merge->complaints, path, 0, "the INI library lost a line (error %d)", r);
                return -EIO;
        }
        return 0;
}

/* ---- All files ---- */

static int add_path(Settings *settings, char *path) {
        char **files = reallocarray(settings->files, settings->n_files + 1, sizeof *files);
        if (!files)
                return -ENOMEM;
        settings->files = files;
        files[settings->n_files++] = path;
        return 0;
}

static int add_main_file(Settings *settings, const char *path) {
        _cleanup_(freep) char *copy = strdup(path);
        int r = copy ? add_path(settings, copy) : -ENOMEM;
        if (r == 0)
                TAKE(copy);
        return r;
}

static int is_drop_in(const struct dirent *entry) {
        size_t length = strlen(entry->d_name);
        return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".ini") == 0;
}

/* Byte order: alphasort() would follow the locale, and the same files would mean something else in another country. */
static int in_byte_order(const struct dirent **a, const struct dirent **b) {
        return strcmp((*a)->d_name, (*b)->d_name);
}

/* Takes the entries. */
static int add_entries(Settings *settings, const char *directory, struct dirent **entries, size_t n) {
        int r = 0;

        for (size_t i = 0; i < n; i++) {
                _cleanup_(freep) char *path = NULL;
                if (r == 0 && asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0) {
                        path = NULL;
                        r = -ENOMEM;
                }
                if (r == 0)
                        r = add_path(settings, path);
                if (r == 0)
                        TAKE(path);
                free(entries[i]);
        }
        free(entries);
        return r;
}

/* No directory is fine: most have none. */
static int add_drop_ins(Settings *settings, const char *path, Complaints *complaints) {
        _cleanup_(freep) char *directory = NULL;
        struct dirent **entries;

        if (asprintf(&directory, "%s.d", path) < 0) {
                directory = NULL;
                return -ENOMEM;
        }
        int n = scandir(directory, &entries, is_drop_in, in_byte_order);
        if (n >= 0)
                return add_entries(settings, directory, entries, (size_t)n);
        int error = -errno;
        if (error == -ENOENT)
                return 0;
        if (error == -ENOTDIR) {
                complaints_warn(complaints, directory, 0, "is not a directory, so it has no drop-ins");
                return 0;
        }
        complaints_add(complaints, directory, 0, "cannot be read: %s", strerrordesc_np(-error));
        return error;
}

/* A drop-in that cannot be read does not hide the errors in the others. */
static int read_drop_ins(SettingsMerge *merge, const char *path) {
        int first_error = add_drop_ins(merge->settings, path, merge->complaints);

        for (size_t i = 1; i < merge->settings->n_files; i++)
                complaints_expect_file(merge->complaints, merge->settings->files[i]);
        for (size_t i = 1; i < merge->settings->n_files && first_error != -ENOMEM; i++) {
                int r = read_file(merge, merge->settings->files[i]);
                if (r < 0 && (first_error == 0 || r == -ENOMEM))
                        first_error = r;
        }
        return first_error;
}

int settings_read(const char *path, const SettingsKind *kinds, ExpandLookup lookup, void *userdata,
                  Complaints *complaints, Settings **ret) {
        _cleanup_(settings_freep) Settings *settings = calloc(1, sizeof *settings);
        if (!settings)
                return -ENOMEM;
        _cleanup_(settings_merge_done) SettingsMerge merge = {
                .kinds = kinds, .lookup = lookup, .userdata = userdata, .complaints = complaints, .settings = settings
        };

        int r = add_main_file(settings, path);
        if (r < 0)
                return r;
        complaints_expect_file(complaints, path);
        r = read_file(&merge, settings->files[0]);
        if (r == 0)
                r = read_drop_ins(&merge, path);
        if (r == 0)
                *ret = TAKE(settings);
        return r;
}

/* ---- What was read ---- */

Settings *settings_free(Settings *settings) {
        if (!settings)
                return NULL;
        for (size_t i = 0; i < settings->n_files; i++)
                free(settings->files[i]);
        free(settings->sections);
        free(settings->files);
        arena_done(&settings->arena);
        free(settings);
        return NULL;
}

void settings_freep(Settings **settings) {
        *settings = settings_free(*settings);
}

const Setting *settings_get(const SettingsSection *section, const char *key) {
        for (size_t i = 0; i < section->n_items; i++)
                if (strcmp(section->items[i].key, key) == 0)
                        return &section->items[i];
        return NULL;
}

const Setting *settings_last(const SettingsSection *section, const char *key) {
        for (size_t i = section->n_items; i-- > 0;)
                if (strcmp(section->items[i].key, key) == 0)
                        return &section->items[i];
        return NULL;
}
