/* observe_undo.h - which files differ from what an undo log says of them. */
#pragma once
#include "verify/state.h"
#include "verify/undo_log.h"

/* 0; -ENOMEM; or -errno. */
int observe_undo(const UndoLog *log, State *state);
