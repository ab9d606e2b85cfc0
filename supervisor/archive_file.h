/* archive_file.h - writes the journal's lines into a file, rotates it, and finds a line in it again.
 *
 * A line stands in the file whole or not at all: what a full disk cut is taken back before the next one is written.
 * Every failure is an answer, never the end: the caller keeps the line and comes again. Only for file systems that
 * cannot block (a tmpfs). A generation is one file: the present one is FILE, the one before it FILE.1.
 * The present one, and the one before it until the present one is as long as what PID 1 promises to remember
 * (ARCHIVE_RING_SIZE), are read by their descriptors: whoever moves or removes a file takes nothing from a reader. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

typedef struct ArchiveFile {
        char *path, *old_path;
        uint64_t max_size; /* 0: never rotated */
        uint64_t size;
        uint64_t first_seq;     /* of the first line in the present generation; 0: none yet */
        uint64_t old_first_seq; /* the same of the one before */
        size_t torn;            /* bytes at the end that belong to no whole line */
        int fd;
        int old_fd;          /* of the generation before, while the present one is short; -1 */
        int error;           /* positive errno of the last failure, 0 after a success */
        unsigned generation; /* from 1; one more with each new file */
        bool has_previous;   /* FILE.1 is this run's generation before the present one */
        bool begun;          /* an earlier run's file is out of the way */
} ArchiveFile;

int archive_file_init(ArchiveFile *file, const char *path, uint64_t max_size); /* -ENOMEM */
void archive_file_done(ArchiveFile *file);

/* Whole lines, of which the first has the number `seq`, in at most IOV_MAX pieces. 0, or -errno and then none of them
 * is in the file. */
int archive_file_write(ArchiveFile *file, uint64_t seq, const struct iovec *pieces, size_t n);
/* After somebody moved the file away: goes on in a new one. */
void archive_file_reopen(ArchiveFile *file);

/* The oldest generation that can be read, and the number of its first line; 0: there is no line. */
unsigned archive_file_oldest(const ArchiveFile *file);
uint64_t archive_file_oldest_seq(const ArchiveFile *file);
/* The generation in which the line `seq` would be. */
unsigned archive_file_generation_of(const ArchiveFile *file, uint64_t seq);
/* A descriptor to read it, or -errno; -ENOENT when it is no longer kept. */
int archive_file_open(const ArchiveFile *file, unsigned generation);

/* A place in the file from which fewer than some thousand bytes come before the first line with a number of at least
 * `seq`: the beginning of a line. By bisection, so that a large file costs a few reads. */
uint64_t archive_file_find(int fd, uint64_t seq);
/* The number of a journal line; 0 when it has none. */
uint64_t archive_line_seq(const char *line, size_t length);
