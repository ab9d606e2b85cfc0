/* log_file.c - appends lines to a file and passes the full ones down the row. */
#include "logger/log_file.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct LogFile {
        LogFiles *files;
        LogFile *next;
        char *path;
        uint64_t max_size, size;
        uint64_t rotate_at; /* later than max_size where a rotation failed: not tried again with each line */
        unsigned most, users;
        int fd;           /* -1: closed */
        bool inside_line; /* the last byte was no newline */
};

/* ---- One for each path ---- */

int log_files_take(LogFiles *files, const LogFilePlan *plan, LogFile **ret) {
        for (LogFile *file = files->first; file; file = file->next)
                if (strcmp(file->path, plan->path) == 0) {
                        file->users++;
                        *ret = file;
                        return 0;
                }
        LogFile *made = calloc(1, sizeof *made);
        char *path = strdup(plan->path);
        if (!made || !path) {
                free(made);
                free(path);
                return -ENOMEM;
        }
        *made = (LogFile){ .files = files,
                           .next = files->first,
                           .path = path,
                           .max_size = plan->max_size,
                           .rotate_at = plan->max_size,
                           .most = plan->most,
                           .users = 1,
                           .fd = -1 };
        files->first = made;
        *ret = made;
        return 0;
}

void log_file_release(LogFile *file) {
        if (!file || --file->users > 0)
                return;
        for (LogFile **link = &file->files->first; *link; link = &(*link)->next)
                if (*link == file) {
                        *link = file->next;
                        break;
                }
        close_fd(file->fd);
        free(file->path);
        free(file);
}

/* ---- Open ---- */

static bool ends_inside_line(int fd, uint64_t size) {
        char last;
        return size > 0 && pread(fd, &last, 1, (off_t)size - 1) == 1 && last != '\n';
}

int log_file_open(LogFile *file) {
        struct stat about;

        if (file->fd >= 0)
                return 0;
        /* O_NONBLOCK: a FIFO is found out without a wait. */
        int fd = open(file->path, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666);
        if (fd < 0)
                return -errno;
        int r = fstat(fd, &about) < 0 ? -errno : S_ISREG(about.st_mode) ? 0 : -EINVAL;
        if (r < 0) {
                close_fd(fd);
                return r;
        }
        file->fd = fd;
        file->size = (uint64_t)about.st_size;
        file->rotate_at = file->max_size;
        file->inside_line = false;
        /* What an earlier run left without a newline is not continued by what comes now. */
        if (ends_inside_line(fd, file->size) && write(fd, "\n", 1) == 1)
                file->size++;
        return 0;
}

void log_file_close(LogFile *file) {
        file->fd = close_fd(file->fd);
}

/* ---- Rotation ---- */

static int move(const LogFile *file, unsigned from, unsigned to) {
        char *old = NULL, *new = NULL;
        int r = 0;

        if ((from == 0 ? asprintf(&old, "%s", file->path) : asprintf(&old, "%s.%u", file->path, from)) < 0)
                return -ENOMEM;
        if (asprintf(&new, "%s.%u", file->path, to) < 0)
                new = NULL, r = -ENOMEM;
        if (r == 0 && rename(old, new) < 0 && errno != ENOENT)
                r = -errno;
        free(old);
        free(new);
        return r;
}

static int pass_down(const LogFile *file) {
        for (unsigned n = file->most - 1; n > 0; n--) {
                int r = move(file, n - 1, n);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Where it cannot be renamed it grows: a log that is too large is better than none. */
static int rotate(LogFile *file) {
        if (file->most == 1) {
                if (ftruncate(file->fd, 0) < 0)
                        return -errno;
                file->size = 0;
                return 0;
        }
        if (pass_down(file) < 0) {
                file->rotate_at = file->size + file->max_size;
                return 0;
        }
        log_file_close(file);
        return log_file_open(file);
}

size_t log_file_fitting(uint64_t size, uint64_t max_size, bool inside_line, const char *bytes, size_t length) {
        uint64_t room = size < max_size ? max_size - size : 0;
        const char *end = NULL;

        if (length <= room)
                return length;
        if (room > 0)
                end = memrchr(bytes, '\n', (size_t)room);
        if (!end && (size == 0 || inside_line))
                end = memchr(bytes + room, '\n', length - (size_t)room);
        else if (!end)
                return 0;
        return end ? (size_t)(end - bytes) + 1 : length;
}

/* ---- Lines ---- */

/* All or nothing, where the disk can be told to take it back. */
static int write_whole(LogFile *file, const char *bytes, size_t length) {
        size_t done = 0;

        while (done < length) {
                ssize_t n = write(file->fd, bytes + done, length - done);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        int r = n < 0 ? -errno : -EIO;
                        if (done > 0 && ftruncate(file->fd, (off_t)file->size) < 0)
                                file->size += done;
                        return r;
                }
                done += (size_t)n;
        }
        file->size += length;
        file->inside_line = bytes[length - 1] != '\n';
        return 0;
}

size_t log_file_append(LogFile *file, const char *bytes, size_t length, int *ret_error) {
        size_t done = 0;
        int r = log_file_open(file);

        while (r == 0 && done < length) {
                size_t fits =
                        log_file_fitting(file->size, file->rotate_at, file->inside_line, bytes + done, length - done);
                r = fits == 0 ? rotate(file) : write_whole(file, bytes + done, fits);
                if (r == 0)
                        done += fits;
        }
        *ret_error = r;
        return done;
}
