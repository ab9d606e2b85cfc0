/* undo_path.h - what is done to one path when it is put back: it is taken away, or gets its owner, mode, times again.
 */
#pragma once
#include "verify/undo_record.h"

int undo_path_remove(const char *path); /* a folder with all that is in it; 0, also when it was not there, or -errno */
int undo_path_set_values(const UndoRecord *record); /* 0 or -errno */
