/* settings.h - reads an INI file and its drop-ins strictly, with inih, against a table of known sections and keys.
 *
 * Knows which sections and keys exist and which are lists; never what a value means. Everything that is wrong becomes a
 * complaint with FILE:LINE, with the nearest known name for a misspelt one: unknown section or key, duplicate section
 * or single-value key in one file, missing `=`, key before any section, a line that inih would cut or split, an
 * indented line, NUL, invalid UTF-8, control character, unreadable or irregular file, unset variable. Values are
 * expanded (base/expand) from the environment. `FILE.d/ *.ini` follow FILE in byte order; a later value replaces an
 * earlier one, list keys add up. A value may be 64 KiB long, whatever inih was compiled with. A line that ends in an
 * odd number of backslashes continues on the next one: the last backslash becomes a blank, the indentation goes; what
 * starts with #, ; or [ must be indented there, so that a comment is never taken for a value. Only settings.c includes
 * ini.h. */
#pragma once
#include "base/arena.h"
#include "base/complaints.h"
#include "base/enumeration.h"
#include "base/expand.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum _one_byte_ SettingsKeyKind {
        SETTINGS_KEY_SINGLE,
        SETTINGS_KEY_LIST,  /* may stand several times; drop-ins add */
        SETTINGS_KEY_LATER, /* in the contract, not yet in this version: an error that says so */
} SettingsKeyKind;

/* The letters and not a pointer to them: the dynamic linker would write each pointer, and PID 1 keep the pages. */
typedef struct SettingsKey {
        char name[31];
        SettingsKeyKind kind;
} SettingsKey;

typedef struct SettingsKind {
        const char *name;        /* "Service" */
        bool named;              /* [Service NAME]; else [Supervisor] */
        bool later;              /* the whole section is not yet in this version */
        const SettingsKey *keys; /* ended by an empty name */
        bool rest;               /* the last kind: any other section, which is none of the caller's business */
} SettingsKind;

typedef struct Setting {
        const char *key; /* points into the table */
        char *value;     /* trimmed, then expanded; "" when empty; as it stands when its expansion failed */
        const char *file;
        unsigned line;
} Setting;

typedef struct SettingsSection {
        const SettingsKind *kind;
        char name[41];    /* "" when the kind has no names */
        const char *file; /* where it stands first */
        unsigned line;
        Setting *items; /* in file order; a replaced value is not in here */
        size_t n_items;
} SettingsSection;

typedef struct Settings {
        Arena arena;               /* has the items of all sections, and their values */
        SettingsSection *sections; /* in the order of first appearance */
        size_t n_sections;
        char **files; /* every file read, main file first */
        size_t n_files;
} Settings;

/* 0 (look at complaints_count() for errors in the text), -ENOMEM, or the error of a file that could not be read at all
 * (which has its complaint too). `kinds` is ended by a NULL name. */
int settings_read(const char *path, const SettingsKind *kinds, ExpandLookup lookup, void *userdata,
                  Complaints *complaints, Settings **ret);
Settings *settings_free(Settings *settings);
void settings_freep(Settings **settings);

const Setting *settings_get(const SettingsSection *section, const char *key);  /* the value of a single key, or NULL */
const Setting *settings_last(const SettingsSection *section, const char *key); /* the last line of a list, or NULL */
