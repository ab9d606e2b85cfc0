/* history.h - reads a journal file, and of it the events of one run.
 *
 * What is torn, or no line of a journal, is passed over and counted. When FILE begins in the middle of its run, the
 * rest of that run is looked for in FILE.1. */
#pragma once
#include "shutdown/event.h"
#include "shutdown/journal_reader.h"
#include <stdbool.h>

typedef struct History {
        Event *events; /* of an unknown kind: _EVENT_MAX */
        EventLine *lines;
        size_t n;
        unsigned run, n_runs; /* which it is of how many, from 1 */
        unsigned n_bad;       /* lines of it that are none */
        bool torn;            /* the last one has no end */
} History;

#define HISTORY_MOST (512U * 1024 * 1024)

/* `run` 0: the last one. 0; -ENODATA: there is no event; -ESRCH: no such run (ret->n_runs says how many); -ENOMEM; or
 * the answers of file_read(). "-" is standard input. */
int history_read(const char *path, unsigned run, History *ret);
void history_done(History *history);
