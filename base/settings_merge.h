/* settings_merge.h - puts the lines of several files together into sections and values; private to settings.
 *
 * Checks names against the table of kinds, finds duplicates within one file, lets a later file replace or add, expands
 * variables. What is wrong is a complaint; everything else goes on, so that all errors are found in one run. */
#pragma once
#include "base/settings.h"
#include "base/settings_lines.h"

typedef struct SettingsMerge {
        const SettingsKind *kinds;
        ExpandLookup lookup;
        void *userdata;
        Complaints *complaints; /* not ours */
        Settings *settings;     /* not ours; what is filled */

        const char *file;         /* the one being read */
        unsigned *opened;         /* for each section the line that opened it in this file, 0 when none did */
        const SettingsKind *kind; /* of the section we are in; NULL: keys cannot be checked */
        size_t section;           /* index, or SETTINGS_MERGE_NOWHERE: keys are checked and not kept */
        bool in_section;          /* this file has had one */
        bool full;                /* too many sections, and it was said */
} SettingsMerge;

#define SETTINGS_MERGE_NOWHERE ((size_t)-1)

/* `file` must live as long as the settings. */
void settings_merge_begin_file(SettingsMerge *merge, const char *file);

/* 0 or -ENOMEM. */
int settings_merge_line(SettingsMerge *merge, const SettingsLine *line);

void settings_merge_done(SettingsMerge *merge);
