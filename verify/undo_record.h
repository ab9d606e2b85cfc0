/* undo_record.h - one line of an undo log: what a path was before something may have changed it.
 *
 * Pure but for malloc. A line carries its own checksum: one that a crash has torn is told from a whole one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef enum UndoKind {
        UNDO_ABSENT,    /* there was nothing */
        UNDO_FILE,      /* its content stands in the contents at `offset`, `size` bytes */
        UNDO_DIRECTORY, /* itself; what is in it has lines of its own */
        UNDO_LINK,      /* `target` */
        UNDO_FIFO,
        UNDO_MOVED,  /* it may have been renamed to `target`; dev and inode tell */
        UNDO_TREE,   /* what is below it and has no line here is new */
        UNDO_UNDONE, /* all lines from number `size` on are put back */
        _UNDO_KIND_MAX
} UndoKind;

const char *undo_kind_to_string(UndoKind kind);
int undo_kind_from_string(const char *text);

typedef struct UndoRecord {
        UndoKind kind;
        uint32_t mode, uid, gid;
        uint64_t device, inode, size, offset;
        struct timespec atime, mtime;
        char *path, *target;
        char *attributes; /* "user.x=6162,…": extended ones, values in hexadecimal; NULL: none */
        char *kept;       /* a further name of the file, in the log's folder; NULL: it had one name only */
} UndoRecord;

/* A line with its newline. NULL: out of memory. */
char *undo_record_format(const UndoRecord *record);
/* A line without it. 0; -EBADMSG: torn, or no such line; -ENOMEM. */
int undo_record_parse(const char *line, UndoRecord *ret);
/* Whether an extended attribute of this name is saved and put back: not what only the system sets. */
bool undo_record_holds_attribute(const char *name);
void undo_record_done(UndoRecord *record);
