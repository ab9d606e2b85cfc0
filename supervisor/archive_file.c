/* archive_file.c - writes the journal's lines into a file and rotates it. */
#include "supervisor/archive_file.h"
#include "base/take.h"
#include "supervisor/archive.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

int archive_file_init(ArchiveFile *file, const char *path, uint64_t max_size) {
        _cleanup_(freep) char *copy = strdup(path), *old = NULL;

        if (!copy || asprintf(&old, "%s.1", path) < 0)
                return -ENOMEM;
        *file = (ArchiveFile){ .max_size = max_size, .fd = -1, .old_fd = -1, .generation = 1 };
        file->path = TAKE(copy);
        file->old_path = TAKE(old);
        return 0;
}

void archive_file_done(ArchiveFile *file) {
        file->fd = close_fd(file->fd);
        file->old_fd = close_fd(file->old_fd);
        free(file->path);
        free(file->old_path);
        file->path = file->old_path = NULL;
}

/* O_NONBLOCK keeps a FIFO from holding us up; whatever is not a regular file is refused. */
static int open_regular(const char *path, int flags, struct stat *ret) {
        _cleanup_(closep) int fd = open(path, flags | OPEN_FLAGS, 0644);

        if (fd < 0 || fstat(fd, ret) < 0)
                return -errno;
        if (!S_ISREG(ret->st_mode))
                return -ENOTSUP;
        return TAKE_FD(fd);
}

/* An earlier run's file becomes FILE.1: a run begins a new file, and its numbers begin at 1. An empty file is no reason
 * to lose the FILE.1 that is there. */
static int put_aside(const ArchiveFile *file) {
        struct stat st;

        if (lstat(file->path, &st) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (S_ISREG(st.st_mode) && st.st_size == 0)
                return 0;
        return rename(file->path, file->old_path) < 0 ? -errno : 0;
}

static int ensure_open(ArchiveFile *file) {
        struct stat st;

        if (file->fd >= 0)
                return 0;
        if (!file->begun) {
                int r = put_aside(file);
                if (r < 0)
                        return r;
                file->begun = true;
        }
        int fd = open_regular(file->path, O_RDWR | O_CREAT | O_APPEND, &st);
        if (fd < 0)
                return fd;
        file->fd = fd;
        file->size = (uint64_t)st.st_size;
        return 0;
}

static void begin_generation(ArchiveFile *file, bool has_previous) {
        close_fd(file->old_fd);
        file->old_fd = TAKE_FD(file->fd);
        file->old_first_seq = file->first_seq;
        file->size = file->first_seq = file->torn = 0;
        file->has_previous = has_previous;
        file->generation++;
}

/* When the name cannot be moved nothing more is written: a file that grows without end on a tmpfs eats the memory of
 * all. */
static int rotate(ArchiveFile *file) {
        bool moved = rename(file->path, file->old_path) == 0;

        if (!moved && errno != ENOENT)
                return -errno;
        begin_generation(file, moved);
        return ensure_open(file);
}

/* Takes back the bytes of a line that did not fit. The end is asked for, not remembered: somebody may have cut the
 * file. */
static int mend(ArchiveFile *file) {
        if (file->torn == 0)
                return 0;
        off_t end = lseek(file->fd, 0, SEEK_END);
        if (end < 0)
                return -errno;
        if (end >= (off_t)file->torn && ftruncate(file->fd, end - (off_t)file->torn) < 0)
                return -errno;
        file->torn = 0;
        return 0;
}

static int make_ready(ArchiveFile *file, size_t length) {
        int r = ensure_open(file);

        if (r >= 0)
                r = mend(file);
        if (r >= 0 && file->max_size > 0 && file->size > 0 && file->size + length > file->max_size)
                r = rotate(file);
        return r;
}

static size_t length_of(const struct iovec *pieces, size_t n) {
        size_t length = 0;

        for (size_t i = 0; i < n; i++)
                length += pieces[i].iov_len;
        return length;
}

static int write_lines(ArchiveFile *file, const struct iovec *pieces, size_t n_pieces, size_t length) {
        ssize_t n = writev(file->fd, pieces, (int)n_pieces);

        if (n < 0)
                return -errno;
        if ((size_t)n == length)
                return 0;
        file->torn = (size_t)n;
        (void)mend(file); /* when this fails too it is tried again before the next line */
        return -ENOSPC;
}

int archive_file_write(ArchiveFile *file, uint64_t seq, const struct iovec *pieces, size_t n) {
        size_t length = length_of(pieces, n);
        int r = make_ready(file, length);

        if (r >= 0)
                r = write_lines(file, pieces, n, length);
        file->error = -r;
        if (r < 0)
                return r;
        file->size += length;
        if (file->first_seq == 0)
                file->first_seq = seq;
        if (file->size >= ARCHIVE_RING_SIZE) /* a file that somebody removed must not hold its memory for ever */
                file->old_fd = close_fd(file->old_fd);
        return 0;
}

void archive_file_reopen(ArchiveFile *file) {
        struct stat ours, there;
        bool same = file->fd >= 0 && fstat(file->fd, &ours) == 0 && lstat(file->path, &there) == 0 &&
                    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;

        if (same)
                return;
        if (file->fd >= 0)
                begin_generation(file, false);
        file->error = -ensure_open(file);
}

unsigned archive_file_oldest(const ArchiveFile *file) {
        return file->generation - (file->has_previous || file->old_fd >= 0 ? 1 : 0);
}

uint64_t archive_file_oldest_seq(const ArchiveFile *file) {
        bool has_old = archive_file_oldest(file) < file->generation && file->old_first_seq > 0;

        return has_old ? file->old_first_seq : file->first_seq;
}

unsigned archive_file_generation_of(const ArchiveFile *file, uint64_t seq) {
        bool earlier = file->first_seq == 0 || seq < file->first_seq;

        return earlier ? archive_file_oldest(file) : file->generation;
}

static int duplicate(int fd) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return copy < 0 ? -errno : copy;
}

int archive_file_open(const ArchiveFile *file, unsigned generation) {
        struct stat st;
        int fd = generation == file->generation ? file->fd : generation == file->generation - 1 ? file->old_fd : -1;

        if (fd >= 0)
                return duplicate(fd);
        if (generation == file->generation - 1 && file->has_previous)
                return open_regular(file->old_path, O_RDONLY, &st);
        return -ENOENT;
}
