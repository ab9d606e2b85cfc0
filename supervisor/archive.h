/* archive.h - keeps the journal: the last 256 KiB at hand, in a ring in memory and in a file.
 *
 * The ring is small while the file has the rest (docs/decisions/0008). PID 1 writes the file itself only on a tmpfs;
 * else the lines go, without blocking, to the logger process. A full disk or an unwritable directory costs the file,
 * never the supervisor. The file is rotated at a size, two generations kept (FILE, FILE.1). Readers have a cursor: they
 * read whole lines from the ring, or from the file when they are further behind and it is on a tmpfs. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARCHIVE_RING_SIZE  (256 * 1024) /* what is promised: so much can be read again, whatever happens to the file */
#define ARCHIVE_RING_SMALL (64 * 1024)  /* so much is in memory while the file has the rest */

typedef struct Archive Archive;

typedef struct ArchivePlan {
        const char *path; /* NULL: memory only */
        uint64_t max_size;
        bool through_logger; /* never touch the file here: only keep the ring, the logger reads by a cursor */
} ArchivePlan;

int archive_new(Archive **ret, const ArchivePlan *plan);
Archive *archive_free(Archive *archive);

/* True when `path` (which need not exist; its folder must) is on a tmpfs. */
bool archive_is_on_tmpfs(const char *path);

/* One line with its newline, into the ring. Never fails. */
void archive_append(Archive *archive, uint64_t seq, const char *line, size_t length);
/* Writes what was appended into the file, in one piece: at the end of each turn of the event loop. When it cannot be
 * written the lines stay in the ring, and archive_file_error() tells why (a positive errno, 0 while all is well). */
void archive_flush(Archive *archive);
int archive_file_error(const Archive *archive);
void archive_reopen(Archive *archive);
uint64_t archive_newest(const Archive *archive); /* number of the newest line; 0: none */
uint64_t archive_total(const Archive *archive);  /* bytes appended so far: how fast the journal grows */

typedef struct ArchiveCursor {
        uint64_t seq; /* of the next line to read */
        int fd;       /* file being read, or -1 */
        uint64_t offset;
        unsigned generation;
} ArchiveCursor;

/* Begins after the line `since` (0: from the oldest line that is kept). */
void archive_cursor_init(ArchiveCursor *cursor, uint64_t since);
void archive_cursor_done(ArchiveCursor *cursor);
/* Copies whole lines into `buffer` (at least 4096 bytes). Their length, 0 (nothing new), or -errno. Lines that are no
 * longer kept anywhere are passed over. */
ssize_t archive_read(Archive *archive, ArchiveCursor *cursor, char *buffer, size_t size);
