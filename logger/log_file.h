/* log_file.h - a file that services write lines into, rotated at a size; one for all streams that name its path.
 *
 * FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on, only between lines; the oldest goes. A write that the disk
 * takes only in part is taken back, so that the file ends with a whole line. Writes wait for the disk. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_FILES_MAX 1000 /* of one path, the one that is written included */

typedef struct LogFile LogFile;

typedef struct LogFiles {
        LogFile *first;
} LogFiles;

typedef struct LogFilePlan {
        const char *path;  /* copied */
        uint64_t max_size; /* one line may be longer */
        unsigned most;     /* files that are kept, FILE included; 1: it is emptied when it is full */
} LogFilePlan;

/* The one of this path, for one more user; who names it first says how it is rotated. 0 or -ENOMEM. Not yet open. */
int log_files_take(LogFiles *files, const LogFilePlan *plan, LogFile **ret);
/* One user fewer; closed with the last. Takes NULL. */
void log_file_release(LogFile *file);

/* 0 (at once when it is open), -EINVAL: no regular file, or -errno. */
int log_file_open(LogFile *file);
/* Its name may stand for another file now: the next open tells. */
void log_file_close(LogFile *file);
/* Appends all of it, rotating where it must. How many bytes were written; fewer than all of them with the error in
 * *ret_error (-errno), 0 otherwise. */
size_t log_file_append(LogFile *file, const char *bytes, size_t length, int *ret_error);

/* Pure: how many of `length` bytes belong into a file of `size` bytes before it is rotated: whole lines, all that fit;
 * 0: rotate first. An empty file, and one that ends inside a line, takes a line whatever its length. */
size_t log_file_fitting(uint64_t size, uint64_t max_size, bool inside_line, const char *bytes, size_t length);
