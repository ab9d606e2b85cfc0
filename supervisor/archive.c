/* archive.c - keeps the journal: the ring in memory, the file beside it, and the readers' places in both. */
#include "supervisor/archive.h"
#include "base/take.h"
#include "shutdown/event.h"
#include "supervisor/archive_file.h"
#include "supervisor/archive_ring.h"
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PIECES_MAX 64 /* of one write: some 16 KiB of lines */

struct Archive {
        ArchiveRing ring;
        ArchiveFile file;
        bool has_file;
        uint64_t unwritten; /* place in the ring of the first line that is not yet in the file */
};

/* A file that rotates before it is so long keeps less than is promised. */
static bool file_keeps_enough(const ArchivePlan *plan) {
        return plan->path && !plan->through_logger && (plan->max_size == 0 || plan->max_size >= ARCHIVE_RING_SIZE);
}

/* Memory takes over from a file that cannot be written. Without memory for that the small ring goes on. */
static void take_over(Archive *archive) {
        if (archive->ring.size < ARCHIVE_RING_SIZE)
                (void)archive_ring_grow(&archive->ring, ARCHIVE_RING_SIZE);
}

int archive_new(Archive **ret, const ArchivePlan *plan) {
        _cleanup_(freep) Archive *archive = calloc(1, sizeof *archive);
        int r = archive ? archive_ring_init(&archive->ring,
                                            file_keeps_enough(plan) ? ARCHIVE_RING_SMALL : ARCHIVE_RING_SIZE)
                        : -ENOMEM;

        if (r < 0)
                return r;
        archive->has_file = plan->path && !plan->through_logger;
        if (archive->has_file)
                r = archive_file_init(&archive->file, plan->path, plan->max_size);
        if (r < 0) {
                archive_ring_done(&archive->ring);
                return r;
        }
        archive_reopen(archive); /* now, while there are descriptors; a failure is told by archive_file_error() */
        *ret = TAKE(archive);
        return 0;
}

/* Writes what is missing in the file, oldest first. When the disk was full for a while this is at most all that the
 * ring holds; what left the ring meanwhile is a gap in the file that the numbers show. */
static void catch_up(Archive *archive) {
        struct iovec pieces[PIECES_MAX];
        uint64_t seq;

        if (!archive_ring_has(&archive->ring, archive->unwritten))
                archive->unwritten = archive->ring.tail;
        for (;;) {
                uint64_t place = archive->unwritten;
                size_t n = archive_ring_point(&archive->ring, &place, pieces, PIECES_MAX, &seq);

                if (n == 0)
                        return;
                if (archive_file_write(&archive->file, seq, pieces, n) < 0) {
                        take_over(archive);
                        return;
                }
                archive->unwritten = place;
        }
}

Archive *archive_free(Archive *archive) {
        if (!archive)
                return NULL;
        if (archive->has_file) {
                catch_up(archive);
                archive_file_done(&archive->file);
        }
        archive_ring_done(&archive->ring);
        free(archive);
        return NULL;
}

bool archive_is_on_tmpfs(const char *path) {
        struct statfs fs;
        char folder[4096];
        const char *slash = strrchr(path, '/');

        if (statfs(path, &fs) < 0) {
                int n = slash ? snprintf(folder, sizeof folder, "%.*s", slash > path ? (int)(slash - path) : 1, path)
                              : snprintf(folder, sizeof folder, ".");
                if (n >= (int)sizeof folder || statfs(folder, &fs) < 0)
                        return false;
        }
        return fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
}

void archive_append(Archive *archive, uint64_t seq, const char *line, size_t length) {
        if (length > EVENT_LINE_MAX)
                return; /* event_write() makes no such line; one that no reader's buffer could take would stop them all
                         */
        archive_ring_put(&archive->ring, seq, line, length);
        /* What waits for a flush must not leave the ring meanwhile. */
        if (archive->ring.head - archive->unwritten > archive->ring.size / 2)
                archive_flush(archive);
}

void archive_flush(Archive *archive) {
        if (archive->has_file)
                catch_up(archive);
}

int archive_file_error(const Archive *archive) {
        return archive->has_file ? archive->file.error : 0;
}

void archive_reopen(Archive *archive) {
        if (!archive->has_file)
                return;
        archive_file_reopen(&archive->file);
        if (archive->file.error != 0)
                take_over(archive);
        catch_up(archive);
}

uint64_t archive_newest(const Archive *archive) {
        return archive->ring.newest_seq;
}

uint64_t archive_total(const Archive *archive) {
        return archive->ring.head;
}

void archive_cursor_init(ArchiveCursor *cursor, uint64_t since) {
        *cursor = (ArchiveCursor){ .seq = since < UINT64_MAX ? since + 1 : since, .fd = -1 };
}

void archive_cursor_done(ArchiveCursor *cursor) {
        cursor->fd = close_fd(cursor->fd);
        cursor->offset = 0;
}

/* In the ring `offset` is the place of the next line, 0 when it must be looked for. */
static ssize_t read_ring(const ArchiveRing *ring, ArchiveCursor *cursor, char *buffer, size_t size) {
        uint64_t place = cursor->offset, seq;
        size_t length = 0;
        long n;

        if (cursor->fd >= 0 || place == 0 || !archive_ring_has(ring, place)) {
                archive_cursor_done(cursor);
                place = archive_ring_find(ring, cursor->seq);
        }
        while ((n = archive_ring_get(ring, &place, buffer + length, size - length, &seq)) > 0) {
                length += (size_t)n;
                cursor->seq = seq + 1;
        }
        cursor->offset = place;
        return length == 0 && n < 0 ? -ENOBUFS : (ssize_t)length;
}

/* Keeps of `n` bytes the whole lines from cursor->seq on; moves the cursor over all whole lines. */
static size_t keep_wanted(ArchiveCursor *cursor, char *buffer, size_t n) {
        char *end = memrchr(buffer, '\n', n);
        size_t whole = end ? (size_t)(end - buffer) + 1 : 0, begin = 0;
        uint64_t last = cursor->seq;

        cursor->offset += whole;
        for (size_t at = 0; at < whole;) {
                size_t length = (size_t)((char *)memchr(buffer + at, '\n', whole - at) - (buffer + at)) + 1;
                uint64_t seq = archive_line_seq(buffer + at, length);

                at += length;
                if (seq < cursor->seq && last == cursor->seq)
                        begin = at; /* nothing that is wanted came yet */
                else if (seq >= last)
                        last = seq + 1;
        }
        cursor->seq = last;
        memmove(buffer, buffer + begin, whole - begin);
        return whole - begin;
}

/* The generation asked for, or the oldest one after it that is still there. */
static bool open_generation(const Archive *archive, ArchiveCursor *cursor, unsigned generation) {
        unsigned oldest = archive_file_oldest(&archive->file);

        archive_cursor_done(cursor);
        generation = generation < oldest ? oldest : generation;
        int fd = archive_file_open(&archive->file, generation);
        if (fd < 0)
                return false; /* it cannot be read: the ring has what is left */
        cursor->fd = fd;
        cursor->generation = generation;
        cursor->offset = archive_file_find(cursor->fd, cursor->seq);
        return true;
}

/* 0 when the files hold nothing more for this reader. */
static size_t read_files(const Archive *archive, ArchiveCursor *cursor, char *buffer, size_t size) {
        if (cursor->fd < 0 &&
            !open_generation(archive, cursor, archive_file_generation_of(&archive->file, cursor->seq)))
                return 0;
        for (;;) {
                uint64_t before = cursor->offset;
                ssize_t n = pread(cursor->fd, buffer, size, (off_t)before);
                size_t kept = n > 0 ? keep_wanted(cursor, buffer, (size_t)n) : 0;

                if (kept > 0)
                        return kept;
                if (cursor->offset > before)
                        continue; /* lines from before the wanted one */
                if (cursor->generation >= archive->file.generation ||
                    !open_generation(archive, cursor, cursor->generation + 1))
                        return 0;
        }
}

/* Further behind than the ring, and the file, which may be short, is not. */
static bool must_read_files(const Archive *archive, const ArchiveCursor *cursor) {
        if (!archive->has_file || cursor->seq >= archive->ring.oldest_seq)
                return false;
        uint64_t oldest = archive_file_oldest_seq(&archive->file);
        return cursor->fd >= 0 || (oldest > 0 && oldest < archive->ring.oldest_seq);
}

ssize_t archive_read(Archive *archive, ArchiveCursor *cursor, char *buffer, size_t size) {
        if (must_read_files(archive, cursor)) {
                size_t n = read_files(archive, cursor, buffer, size);

                if (n > 0)
                        return (ssize_t)n;
        }
        return read_ring(&archive->ring, cursor, buffer, size);
}
