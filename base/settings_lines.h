/* settings_lines.h - reads one file and takes it apart into logical lines; private to settings.
 *
 * Knows what a line may look like, never which sections and keys exist. Whatever is wrong with a line is a complaint
 * and the line is left out; a bad section line stays, marked, because the keys below it are not those of the section
 * above. */
#pragma once
#include "base/complaints.h"
#include <stddef.h>

typedef enum SettingsLineKind {
        SETTINGS_LINE_SECTION,     /* name, and value: the second word, "" without one */
        SETTINGS_LINE_BAD_SECTION, /* neither */
        SETTINGS_LINE_KEY,         /* name and value, both trimmed */
} SettingsLineKind;

typedef struct SettingsLine {
        SettingsLineKind kind;
        unsigned number;          /* of its first physical line, from 1 */
        const char *name, *value; /* point into the text */
} SettingsLine;

typedef struct SettingsLines {
        char *text;
        SettingsLine *items;
        size_t n_items;
} SettingsLines;

/* 0, -ENOMEM, or the error of the file, which has its complaint: not there, not regular (-EISDIR, -EINVAL), over 16 MiB
 * (-EFBIG). */
int settings_lines_read(const char *path, Complaints *complaints, SettingsLines *ret);
void settings_lines_done(SettingsLines *lines);
