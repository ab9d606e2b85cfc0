/* settings_merge.c - puts the lines of several files together into sections and values.
 *
 * A line in a section that is itself wrong is still checked as far as its kind is known, so that one run finds all. */
#include "base/settings_merge.h"
#include "base/names.h"
#include "base/take.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS_MAX   4096 /* keeps the search for a section, one by one, quick */
#define KNOWN_MAX      128  /* names looked through for the nearest one */
#define NAME_SHOWN_MAX 60   /* of an unknown name in a complaint */

static void complain(SettingsMerge *merge, unsigned line, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static void complain(SettingsMerge *merge, unsigned line, const char *format, ...) {
        _cleanup_(freep) char *message = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&message, format, ap) < 0)
                message = NULL; /* asprintf(3): undefined after a failure */
        va_end(ap);
        complaints_add(merge->complaints, merge->file, line, "%s", message ? message : "out of memory");
}

/* Room for one more is made at powers of two: no field for the capacity, and few calls. */
static bool is_full(size_t n) {
        return (n & (n - 1)) == 0;
}

static void *grow(void *items, size_t n, size_t item_size) {
        if (!is_full(n))
                return items;
        return reallocarray(items, n ? n * 2 : 1, item_size);
}

/* ---- Sections ---- */

static const SettingsKind *find_kind(SettingsMerge *merge, const SettingsLine *line) {
        const char *known[KNOWN_MAX];
        size_t n = 0;

        for (const SettingsKind *kind = merge->kinds; kind->name; kind++) {
                if (kind->rest || strcmp(kind->name, line->name) == 0)
                        return kind;
                if (n < KNOWN_MAX)
                        known[n++] = kind->name;
        }
        const char *nearest = name_nearest(line->name, known, n);
        complain(merge, line->number, "unknown section [%.*s]%s%s%s", NAME_SHOWN_MAX, line->name,
                 nearest ? ", did you mean [" : "", nearest ? nearest : "", nearest ? "]?" : "");
        return NULL;
}

static bool name_fits_kind(SettingsMerge *merge, const SettingsKind *kind, const SettingsLine *line) {
        const char *name = line->value;

        if (!kind->named && *name)
                complain(merge, line->number, "the section [%s] takes no name", kind->name);
        else if (kind->named && !*name)
                complain(merge, line->number, "the section [%s] needs a name: [%s NAME]", kind->name, kind->name);
        else if (kind->named && !name_is_valid(name))
                complain(merge, line->number,
                         "the name of the section [%s %.*s] is not valid: 1 to %d letters of A-Z a-z 0-9 _ . -",
                         kind->name, NAME_SHOWN_MAX, name, NAME_LENGTH_MAX);
        else
                return true;
        return false;
}

static size_t find_section(const Settings *settings, const SettingsKind *kind, const char *name) {
        for (size_t i = 0; i < settings->n_sections; i++)
                if (settings->sections[i].kind == kind && strcmp(settings->sections[i].name, name) == 0)
                        return i;
        return SETTINGS_MERGE_NOWHERE;
}

static int add_section(SettingsMerge *merge, const SettingsKind *kind, const SettingsLine *line, size_t *ret) {
        Settings *settings = merge->settings;
        size_t n = settings->n_sections;

        SettingsSection *sections = grow(settings->sections, n, sizeof *sections);
        if (!sections)
                return -ENOMEM;
        settings->sections = sections;
        unsigned *opened = grow(merge->opened, n, sizeof *opened);
        if (!opened)
                return -ENOMEM;
        merge->opened = opened;
        sections[n] = (SettingsSection){ .kind = kind, .file = merge->file, .line = line->number };
        strcpy(sections[n].name, line->value); /* name_is_valid() */
        opened[n] = 0;
        settings->n_sections++;
        *ret = n;
        return 0;
}

/* Enters the section, which is made when it is new; a second one in the same file is entered for checking only. */
static int enter_section(SettingsMerge *merge, const SettingsKind *kind, const SettingsLine *line) {
        size_t at = find_section(merge->settings, kind, line->value);

        if (at == SETTINGS_MERGE_NOWHERE) {
                int r = add_section(merge, kind, line, &at);
                if (r < 0)
                        return r;
        } else if (merge->opened[at]) {
                complain(merge, line->number, "duplicate section [%s%s%s], first in line %u", kind->name,
                         *line->value ? " " : "", line->value, merge->opened[at]);
                return 0;
        }
        merge->opened[at] = line->number;
        merge->section = at;
        return 0;
}

static int on_section(SettingsMerge *merge, const SettingsLine *line) {
        merge->in_section = true;
        merge->kind = NULL;
        merge->section = SETTINGS_MERGE_NOWHERE;
        if (line->kind == SETTINGS_LINE_BAD_SECTION || merge->full)
                return 0;
        if (merge->settings->n_sections >= SECTIONS_MAX) {
                merge->full = true;
                complain(merge, line->number, "more than %d sections; the rest was not read", SECTIONS_MAX);
                return 0;
        }
        const SettingsKind *kind = find_kind(merge, line);
        if (kind && kind->rest)
                return 0;
        if (kind && kind->later) {
                complain(merge, line->number, "the section [%s] is not in this version yet", kind->name);
                return 0;
        }
        merge->kind = kind;
        if (!kind || !name_fits_kind(merge, kind, line))
                return 0;
        return enter_section(merge, kind, line);
}

/* ---- Keys ---- */

static const SettingsKey *find_key(SettingsMerge *merge, const SettingsLine *line) {
        const char *known[KNOWN_MAX];
        size_t n = 0;

        for (const SettingsKey *key = merge->kind->keys; *key->name; key++) {
                if (strcmp(key->name, line->name) == 0)
                        return key;
                if (n < KNOWN_MAX)
                        known[n++] = key->name;
        }
        const char *nearest = name_nearest(line->name, known, n);
        complain(merge, line->number, "unknown key %.*s in a section [%s]%s%s%s", NAME_SHOWN_MAX, line->name,
                 merge->kind->name, nearest ? ", did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        return NULL;
}

static void remove_item(SettingsSection *section, size_t at) {
        section->n_items--;
        memmove(section->items + at, section->items + at + 1, (section->n_items - at) * sizeof *section->items);
}

/* Makes place for a single value: one from an earlier file goes. False when this very file has it already. */
static bool make_single(SettingsMerge *merge, SettingsSection *section, const SettingsKey *key, unsigned line) {
        for (size_t i = 0; i < section->n_items; i++) {
                const Setting *item = &section->items[i];
                if (item->key != key->name)
                        continue;
                if (item->file == merge->file) {
                        complain(merge, line, "duplicate key %s, first in line %u", key->name, item->line);
                        return false;
                }
                remove_item(section, i);
                return true;
        }
        return true;
}

static int keep(SettingsMerge *merge, const char *text, char **ret_value) {
        char *copy = arena_strdup(&merge->settings->arena, text);
        if (!copy)
                return -ENOMEM;
        *ret_value = copy;
        return 0;
}

/* After a complaint the text is kept as it stands: a value that is missing would be complained about once more. */
static int expand(SettingsMerge *merge, const SettingsLine *line, char **ret_value) {
        _cleanup_(freep) char *value = NULL, *problem = NULL;

        int r = expand_text(line->value, merge->lookup, merge->userdata, &value, &problem);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                complain(merge, line->number, "%s: %s", line->name, problem);
        return keep(merge, r < 0 ? line->value : value, ret_value);
}

/* In the arena the old place stays until all is forgotten: at most as much as the new one. */
static int make_room(SettingsMerge *merge, SettingsSection *section) {
        size_t n = section->n_items;
        if (!is_full(n))
                return 0;
        Setting *items = arena_take(&merge->settings->arena, (n ? n * 2 : 1) * sizeof *items);
        if (!items)
                return -ENOMEM;
        if (n > 0)
                memcpy(items, section->items, n * sizeof *items);
        section->items = items;
        return 0;
}

static int add_item(SettingsMerge *merge, SettingsSection *section, const SettingsKey *key, const SettingsLine *line) {
        char *value = NULL;

        int r = expand(merge, line, &value);
        if (r >= 0)
                r = make_room(merge, section);
        if (r < 0)
                return r;
        section->items[section->n_items++] =
                (Setting){ .key = key->name, .value = value, .file = merge->file, .line = line->number };
        return 0;
}

static int on_key(SettingsMerge *merge, const SettingsLine *line) {
        if (!merge->in_section)
                complain(merge, line->number, "the key %.*s stands before any section", NAME_SHOWN_MAX, line->name);
        if (!merge->kind)
                return 0;
        const SettingsKey *key = find_key(merge, line);
        if (!key)
                return 0;
        if (key->kind == SETTINGS_KEY_LATER) {
                complain(merge, line->number, "%s is not in this version yet", key->name);
                return 0;
        }
        if (merge->section == SETTINGS_MERGE_NOWHERE)
                return 0;
        SettingsSection *section = &merge->settings->sections[merge->section];
        if (key->kind == SETTINGS_KEY_SINGLE && !make_single(merge, section, key, line->number))
                return 0;
        return add_item(merge, section, key, line);
}

/* ---- The interface ---- */

void settings_merge_begin_file(SettingsMerge *merge, const char *file) {
        merge->file = file;
        merge->kind = NULL;
        merge->section = SETTINGS_MERGE_NOWHERE;
        merge->in_section = false;
        for (size_t i = 0; i < merge->settings->n_sections; i++)
                merge->opened[i] = 0;
}

int settings_merge_line(SettingsMerge *merge, const SettingsLine *line) {
        return line->kind == SETTINGS_LINE_KEY ? on_key(merge, line) : on_section(merge, line);
}

void settings_merge_done(SettingsMerge *merge) {
        free(merge->opened);
        merge->opened = NULL;
}
