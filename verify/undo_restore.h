/* undo_restore.h - puts back what an undo log says, last line first; again as often as it takes.
 *
 * Killed at any point and begun anew it comes to the same end: a line says what a path was, not what to do. */
#pragma once
#include "verify/undo_log.h"

/* 0, and the log's folder is gone; or -errno, and *ret_why says which path could not be put back: the log stays. */
int undo_restore(UndoLog *log, char **ret_why);
