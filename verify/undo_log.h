/* undo_log.h - the log of an undo world on disk: its lines, the contents they speak of, and the lock that says who
 * lives.
 *
 * A folder of its own in a folder of ours. What is appended is on the disk when the call returns. */
#pragma once
#include "verify/undo_record.h"
#include <stdbool.h>

typedef struct UndoLog {
        char *folder;
        int lines, contents, lock; /* the lock tells whether the verifier lives, and then its keeper */
        uint64_t contents_size;
} UndoLog;

#define UNDO_LOG_NAME "name-" /* begins the further names of files that are kept beside the log */

#define UNDO_LOG_CLOSED                                                                                                \
        { .lines = -1, .contents = -1, .lock = -1 }

/* The folder in which the folders of all logs of this user are: `wanted`, or one below /var/tmp. free() it. 0; -EPERM:
 * it belongs to somebody else, or others may write there; or -errno. */
int undo_log_base(const char *wanted, bool make, char **ret);
int undo_log_new(const char *base, UndoLog *ret);
/* Of a verifier that died. 0; -EBUSY: it lives; or -errno. What was torn at the end of the log is cut off. */
int undo_log_open(const char *folder, UndoLog *ret);
void undo_log_done(UndoLog *log);

int undo_log_append(UndoLog *log, const UndoRecord *records, size_t n);
/* Appends the file's content; *ret_size is how much. -EFBIG: more than `most`. */
int undo_log_keep(UndoLog *log, int file, uint64_t most, uint64_t *ret_offset, uint64_t *ret_size);

typedef struct UndoLines {
        UndoRecord *records;
        size_t n;
} UndoLines;

int undo_log_read(const UndoLog *log, UndoLines *ret); /* up to the first torn line */
void undo_lines_done(UndoLines *lines);
/* Of a log that was being made or removed: there is nothing to put back. */
int undo_log_remove_remains(const char *folder);
int undo_log_remove(UndoLog *log); /* the whole folder; the log first, so that nobody replays it */
