/* scribe.h - what a stream of bytes becomes on its way: lines with a name before them, JSON, or lines of a file.
 *
 * What is written waits here until the target takes it: SCRIBE_BACKLOG_MAX for a stream, SCRIBE_BACKLOG_ALL for all of
 * them. When that is full the stream is not read on, until the scribe is told to drop: then lines are left out,
 * counted, and named in the output where they are missing. What is dropped is kept (kept.h) all the same. */
#pragma once
#include "logger/cutter.h"
#include "logger/entry.h"
#include "logger/kept.h"

#define SCRIBE_BACKLOG_MAX (1024 * 1024)
#define SCRIBE_BACKLOG_ALL (32 * 1024 * 1024)
#define SCRIBE_LINE_MAX    (64 * 1024) /* of a file: a longer line may be mixed with those of another stream */

typedef enum ScribeFormat {
        SCRIBE_UNCHANGED, /* the stream passes the bytes on itself; they are only kept */
        SCRIBE_PREFIX,
        SCRIBE_JSON,
        SCRIBE_LINES, /* the bytes as they are, but each line whole, and the last one ended */
} ScribeFormat;

/* Of all scribes together. */
typedef struct ScribeRoom {
        Kept *kept;
        size_t used; /* by backlogs */
} ScribeRoom;

typedef struct Scribe {
        ScribeFormat format;
        bool colour;
        EntrySource source;
        ScribeRoom *room;
        Cutter cutter;
        usec_t wall; /* when the bytes that come now were read */
        char *text;
        size_t from, to, size;
        bool dropping;
        uint64_t untold;  /* lines dropped, not yet told to PID 1 */
        uint64_t missing; /* since the last line that was written: not yet named in the output */
} Scribe;

void scribe_init(Scribe *scribe, ScribeFormat format, const EntrySource *source, ScribeRoom *room);
void scribe_done(Scribe *scribe);

bool scribe_is_full(const Scribe *scribe);
/* How many bytes it took; fewer than all of them when it is full. */
size_t scribe_take(Scribe *scribe, const char *bytes, size_t length);
/* The stream has ended. False: it is full, call again. */
bool scribe_end(Scribe *scribe);

/* What waits to be written; 0: nothing. */
size_t scribe_waiting(const Scribe *scribe, const char **ret);
void scribe_written(Scribe *scribe, size_t n);
/* The target failed: what waits is lost and counted. */
void scribe_lose(Scribe *scribe);
/* From now on lines are dropped instead of waited with, until half of what waits was written. */
void scribe_begin_dropping(Scribe *scribe);
