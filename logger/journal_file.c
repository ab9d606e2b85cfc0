/* journal_file.c - opens, repairs, appends to and rotates the journal's file. */
#include "logger/journal_file.h"
#include "base/log.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TAIL_MAX (16 * 1024) /* several times the longest line */

static const char first_word[] = "{\"seq\":"; /* of each line */
#define FIRST_WORD_LENGTH (sizeof first_word - 1)

typedef struct Tail {
        char text[TAIL_MAX];
        size_t length;
} Tail;

void journal_file_init(JournalFile *file, const char *path, uint64_t max_size) {
        *file = (JournalFile){ .path = path, .max_size = max_size, .rotate_at = max_size, .fd = -1 };
}

void journal_file_close(JournalFile *file) {
        file->fd = close_fd(file->fd);
}

int journal_file_sync(JournalFile *file) {
        return file->fd >= 0 && fsync(file->fd) < 0 ? -errno : 0;
}

static int read_tail(int fd, uint64_t size, Tail *ret) {
        size_t length = size < TAIL_MAX ? (size_t)size : TAIL_MAX;
        ssize_t n = pread(fd, ret->text, length, (off_t)(size - length));

        if (n < 0)
                return -errno;
        ret->length = (size_t)n;
        return 0;
}

static size_t whole_lines(const char *text, size_t length) {
        const char *newline = length > 0 ? memrchr(text, '\n', length) : NULL;
        return newline ? (size_t)(newline - text) + 1 : 0;
}

/* Cuts off, or else ends, a last line that is not whole. */
static int repair(JournalFile *file) {
        Tail tail;

        if (file->size == 0)
                return 0;
        int r = read_tail(file->fd, file->size, &tail);
        if (r < 0)
                return r;
        size_t whole = whole_lines(tail.text, tail.length), torn = tail.length - whole;
        if (torn == 0)
                return 0;
        bool ours = strncmp(tail.text + whole, first_word, torn < FIRST_WORD_LENGTH ? torn : FIRST_WORD_LENGTH) == 0;
        if (ours && ftruncate(file->fd, (off_t)(file->size - torn)) == 0) {
                file->size -= torn;
                return 0;
        }
        if (write(file->fd, "\n", 1) != 1)
                return -errno;
        file->size++;
        return 0;
}

int journal_file_open(JournalFile *file) {
        struct stat st;

        if (file->fd >= 0)
                return 0;
        /* O_NONBLOCK: a FIFO of that name must not hold us up before we see that it is none of ours. */
        _cleanup_(closep) int fd =
                open(file->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -EINVAL;
        file->fd = fd;
        file->size = (uint64_t)st.st_size;
        int r = repair(file);
        file->fd = -1;
        if (r < 0)
                return r;
        file->fd = TAKE_FD(fd);
        file->rotate_at = file->max_size;
        return 0;
}

static int rotated_name(const JournalFile *file, char ret_name[static PATH_MAX]) {
        return snprintf(ret_name, PATH_MAX, "%s.1", file->path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* 0, or the error of opening the new file. When the old one cannot be moved it grows on: better long than lost. */
static int rotate(JournalFile *file) {
        char name[PATH_MAX];
        int r = rotated_name(file, name);

        if (r == 0 && rename(file->path, name) < 0)
                r = -errno;
        if (r < 0) {
                log_warning("the journal %s could not be rotated: %s; it grows on", file->path, strerror(-r));
                file->rotate_at = file->size + file->max_size;
                return 0;
        }
        journal_file_close(file);
        return journal_file_open(file);
}

/* As many whole lines as fit before the next rotation, at least one. */
static size_t fitting_lines(const JournalFile *file, const char *lines, size_t length) {
        uint64_t room = file->rotate_at > file->size ? file->rotate_at - file->size : 0;

        if (length <= room)
                return length;
        size_t whole = whole_lines(lines, (size_t)room);
        if (whole > 0)
                return whole;
        const char *newline = memchr(lines, '\n', length);
        return newline ? (size_t)(newline - lines) + 1 : length;
}

/* How much of it is in the file now. A disk that fills up takes a part: whole lines stay, what is torn is undone. */
static size_t write_lines(JournalFile *file, const char *lines, size_t length, int *ret_error) {
        ssize_t n;

        do
                n = write(file->fd, lines, length);
        while (n < 0 && errno == EINTR);
        *ret_error = n == (ssize_t)length ? 0 : n < 0 ? -errno : -ENOSPC;
        if (n <= 0)
                return 0;
        size_t whole = n == (ssize_t)length ? length : whole_lines(lines, (size_t)n);
        file->size += whole;
        if (whole < (size_t)n && ftruncate(file->fd, (off_t)file->size) < 0)
                log_debug("a torn line stays in the journal %s until it is opened again: %m", file->path);
        return whole;
}

size_t journal_file_append(JournalFile *file, const char *lines, size_t length, int *ret_error) {
        size_t done = 0;
        int r = journal_file_open(file);

        while (r == 0 && done < length) {
                size_t piece = fitting_lines(file, lines + done, length - done);
                if (file->size > 0 && file->size + piece > file->rotate_at)
                        r = rotate(file);
                else
                        done += write_lines(file, lines + done, piece, &r);
        }
        if (r < 0)
                journal_file_close(file);
        *ret_error = r;
        return done;
}

uint64_t journal_line_seq(const char *line, size_t length) {
        uint64_t seq = 0;

        if (length <= FIRST_WORD_LENGTH || memcmp(line, first_word, FIRST_WORD_LENGTH) != 0)
                return 0;
        for (size_t i = FIRST_WORD_LENGTH; i < length && line[i] >= '0' && line[i] <= '9'; i++)
                seq = seq * 10 + (uint64_t)(line[i] - '0');
        return seq;
}

static uint64_t last_seq_of(const char *path) {
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;
        Tail tail;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || read_tail(fd, (uint64_t)st.st_size, &tail) < 0)
                return 0;
        size_t whole = whole_lines(tail.text, tail.length);
        if (whole == 0)
                return 0;
        size_t before = whole_lines(tail.text, whole - 1);
        return journal_line_seq(tail.text + before, whole - before);
}

uint64_t journal_file_last_seq(const JournalFile *file) {
        char name[PATH_MAX];
        uint64_t seq = last_seq_of(file->path);

        return seq > 0 || rotated_name(file, name) < 0 ? seq : last_seq_of(name);
}
