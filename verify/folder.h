/* folder.h - the names in a folder, without itself and the one above it. */
#pragma once
#include <dirent.h>
#include <string.h>

/* NULL: no more; readdir(3). */
static inline struct dirent *folder_next(DIR *folder) {
        struct dirent *entry;

        do
                entry = readdir(folder);
        while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
        return entry;
}
