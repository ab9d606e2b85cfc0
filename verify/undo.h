/* undo.h - saves what a path is before a call may change it.
 *
 * The first save of a path counts, until a folder is renamed: from then on paths mean something else. What cannot be
 * put back is refused before it happens: sockets, devices, kernel settings, files of more than UNDO_FILE_MAX bytes, a
 * file with further names on another file system. undo_restore.h puts back. */
#pragma once
#include "verify/undo_log.h"

#define UNDO_FILE_MAX ((uint64_t)64 * 1024 * 1024)

typedef struct Undo Undo;

int undo_new(Undo **ret, const char *base); /* 0 or -errno */
Undo *undo_free(Undo *undo);                /* the log stays */
UndoLog *undo_log(Undo *undo);

/* tracer_save_t, with an Undo. 0; or -errno, and undo_why(). */
int undo_save(void *userdata, const char *call, const char *path, const char *other);
const char *undo_why(void *userdata); /* NULL: nothing was refused yet */
/* Everything below `path` as it is; what appears there later is new. */
int undo_save_tree(Undo *undo, const char *path);
