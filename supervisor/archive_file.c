/* archive_file.c - writes the journal's lines into a file and rotates it. */
#include "supervisor/archive_file.h"
#include "base/take.h"
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
        *file = (ArchiveFile){ .max_size = max_size, .fd = -1, .generation = 1 };
        file->path = TAKE(copy);
        file->old_path = TAKE(old);
        return 0;
}

void archive_file_done(ArchiveFile *file) {
        file->fd = close_fd(file->fd);
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
        int fd = open_regular(file->path, O_WRONLY | O_CREAT | O_APPEND, &st);
        if (fd < 0)
                return fd;
        file->fd = fd;
        file->size = (uint64_t)st.st_size;
        return 0;
}

static void begin_generation(ArchiveFile *file, bool has_previous) {
        file->fd = close_fd(file->fd);
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

static int write_line(ArchiveFile *file, const char *line, size_t length) {
        ssize_t n = write(file->fd, line, length);

        if (n < 0)
                return -errno;
        if ((size_t)n == length)
                return 0;
        file->torn = (size_t)n;
        (void)mend(file); /* when this fails too it is tried again before the next line */
        return -ENOSPC;
}

int archive_file_write(ArchiveFile *file, uint64_t seq, const char *line, size_t length) {
        int r = make_ready(file, length);

        if (r >= 0)
                r = write_line(file, line, length);
        file->error = -r;
        if (r < 0)
                return r;
        file->size += length;
        if (file->first_seq == 0)
                file->first_seq = seq;
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

unsigned archive_file_generation_of(const ArchiveFile *file, uint64_t seq) {
        bool earlier = file->has_previous && (file->first_seq == 0 || seq < file->first_seq);

        return earlier ? file->generation - 1 : file->generation;
}

int archive_file_open(const ArchiveFile *file, unsigned generation) {
        struct stat st;

        if (generation == file->generation && file->fd >= 0)
                return open_regular(file->path, O_RDONLY, &st);
        if (generation == file->generation - 1 && file->has_previous)
                return open_regular(file->old_path, O_RDONLY, &st);
        return -ENOENT;
}
