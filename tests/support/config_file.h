/* config_file.h - a configuration in a directory of its own, loaded, with what was complained about as one text. */
#pragma once
#include "supervisor/config.h"

typedef struct ConfigFile {
        char directory[64], path[96];
        Complaints *complaints;
        Config *config;
        int answer;    /* of config_load() */
        char *printed; /* every complaint, "conf.ini:3: …" (the directory is cut off) */
} ConfigFile;

void config_file_open(ConfigFile *file);
void config_file_close(ConfigFile *file); /* removes the directory */
void config_file_write(const ConfigFile *file, const char *name, const char *text);
/* Writes conf.ini and loads it; what an earlier call loaded is gone. */
void config_file_load(ConfigFile *file, const char *text);
/* As `endwell check` does it: scripts and the like are read, too. */
void config_file_examine(ConfigFile *file, const char *text);
void config_file_print(ConfigFile *file); /* `printed` anew, of what `complaints` has now */
void config_file_load_path(ConfigFile *file, const char *path, const char *mode);
