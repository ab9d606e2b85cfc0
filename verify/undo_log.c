/* undo_log.c - see undo_log.h. */
#include "verify/undo_log.h"
#include "base/take.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536

/* ---- Folders ---- */

static int check_base(const char *path) {
        struct stat what;

        if (lstat(path, &what) < 0)
                return -errno;
        if (!S_ISDIR(what.st_mode))
                return -ENOTDIR;
        return what.st_uid == geteuid() && (what.st_mode & 022) == 0 ? 0 : -EPERM;
}

int undo_log_base(const char *wanted, bool make, char **ret) {
        _cleanup_(freep) char *path = NULL;

        if (wanted ? !(path = strdup(wanted)) : asprintf(&path, "/var/tmp/endwell-verify.%u", geteuid()) < 0)
                return -ENOMEM;
        if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
                return -errno;
        int r = check_base(path);
        if (r < 0)
                return r;
        *ret = TAKE(path);
        return 0;
}

static int open_in(const char *folder, const char *name, int flags, int *ret) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
                return -ENAMETOOLONG;
        *ret = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
        return *ret < 0 ? -errno : 0;
}

/* A record lock is the process's own, and ends with the verifier; the other kind lives on in its keeper, which dies
 * with it, but a moment later: that is waited for. */
static int take_locks(int fd) {
        struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        if (fcntl(fd, F_SETLK, &whole) < 0)
                return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
        while (flock(fd, LOCK_EX) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}

static int open_files(UndoLog *log, int flags) {
        int r = open_in(log->folder, "lock", O_RDWR | flags, &log->lock);

        if (r == 0)
                r = take_locks(log->lock);
        if (r == 0)
                r = open_in(log->folder, "contents", O_RDWR | flags, &log->contents);
        if (r == 0)
                r = open_in(log->folder, "log", O_RDWR | O_APPEND | flags, &log->lines);
        return r;
}

static void sync_folder(const char *path) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0)
                (void)fsync(fd);
        close_fd(fd);
}

int undo_log_new(const char *base, UndoLog *ret) {
        UndoLog log = UNDO_LOG_CLOSED;

        if (asprintf(&log.folder, "%s/world-XXXXXX", base) < 0)
                return -ENOMEM;
        int r = mkdtemp(log.folder) ? open_files(&log, O_CREAT | O_EXCL) : -errno;
        if (r < 0) {
                undo_log_done(&log);
                return r;
        }
        sync_folder(log.folder);
        sync_folder(base);
        *ret = log;
        return 0;
}

void undo_log_done(UndoLog *log) {
        close_fd(log->lines);
        close_fd(log->contents);
        close_fd(log->lock);
        free(log->folder);
        *log = (UndoLog)UNDO_LOG_CLOSED;
}

/* ---- Writing ---- */

static int write_all(int fd, const char *bytes, size_t size) {
        while (size > 0) {
                ssize_t n = write(fd, bytes, size);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                bytes += n;
                size -= (size_t)n;
        }
        return 0;
}

int undo_log_append(UndoLog *log, const UndoRecord *records, size_t n) {
        for (size_t i = 0; i < n; i++) {
                _cleanup_(freep) char *line = undo_record_format(&records[i]);
                int r = line ? write_all(log->lines, line, strlen(line)) : -ENOMEM;
                if (r < 0)
                        return r;
        }
        return n == 0 || fdatasync(log->lines) == 0 ? 0 : -errno;
}

/* Where the file system can share blocks it does. */
static ssize_t copy_piece(int from, int to, loff_t *at, size_t most) {
        char bytes[PIECE];
        loff_t begin = *at;
        ssize_t n = copy_file_range(from, &begin, to, NULL, most, 0);

        if (n < 0 || (n == 0 && begin == 0)) {
                n = pread(from, bytes, most < sizeof bytes ? most : sizeof bytes, *at);
                if (n > 0 && write_all(to, bytes, (size_t)n) < 0)
                        return -errno;
        }
        if (n > 0)
                *at += n;
        return n < 0 ? -errno : n;
}

int undo_log_keep(UndoLog *log, int file, uint64_t most, uint64_t *ret_offset, uint64_t *ret_size) {
        off_t begin = lseek(log->contents, 0, SEEK_END);
        loff_t at = 0;
        ssize_t n = 1;

        while (n > 0 && (uint64_t)at <= most)
                n = copy_piece(file, log->contents, &at, PIECE * 16);
        if (n < 0)
                return (int)n;
        if ((uint64_t)at > most)
                return -EFBIG;
        if (at > 0 && fdatasync(log->contents) < 0)
                return -errno;
        *ret_offset = (uint64_t)begin;
        *ret_size = (uint64_t)at;
        return 0;
}

/* ---- Reading ---- */

static int add_line(UndoLines *lines, const char *text) {
        UndoRecord *longer = reallocarray(lines->records, lines->n + 1, sizeof *longer);

        if (!longer)
                return -ENOMEM;
        lines->records = longer;
        int r = undo_record_parse(text, &longer[lines->n]);
        lines->n += r == 0;
        return r;
}

static int read_lines(FILE *file, UndoLines *lines, off_t *ret_good) {
        _cleanup_(freep) char *line = NULL;
        size_t room = 0;
        ssize_t n;
        int r = 0;

        *ret_good = 0;
        while (r == 0 && (n = getline(&line, &room, file)) > 0 && line[n - 1] == '\n') {
                line[n - 1] = 0;
                r = add_line(lines, line);
                *ret_good += r == 0 ? n : 0;
        }
        return r == -EBADMSG ? 0 : r;
}

static int read_all(const UndoLog *log, UndoLines *ret, off_t *ret_good) {
        int fd = fcntl(log->lines, F_DUPFD_CLOEXEC, 3);
        FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

        if (!file) {
                close_fd(fd);
                return -errno;
        }
        rewind(file);
        int r = read_lines(file, ret, ret_good);
        (void)fclose(file);
        return r;
}

int undo_log_read(const UndoLog *log, UndoLines *ret) {
        UndoLines lines = { 0 };
        off_t good;
        int r = read_all(log, &lines, &good);

        if (r < 0) {
                undo_lines_done(&lines);
                return r;
        }
        *ret = lines;
        return 0;
}

void undo_lines_done(UndoLines *lines) {
        for (size_t i = 0; i < lines->n; i++)
                undo_record_done(&lines->records[i]);
        free(lines->records);
        *lines = (UndoLines){ 0 };
}

int undo_log_open(const char *folder, UndoLog *ret) {
        UndoLog log = UNDO_LOG_CLOSED;
        UndoLines lines = { 0 };
        off_t good;

        log.folder = strdup(folder);
        int r = log.folder ? open_files(&log, 0) : -ENOMEM;
        if (r == 0)
                r = read_all(&log, &lines, &good);
        undo_lines_done(&lines);
        if (r == 0 && ftruncate(log.lines, good) < 0)
                r = -errno;
        if (r < 0) {
                undo_log_done(&log);
                return r;
        }
        *ret = log;
        return 0;
}

/* ---- Going ---- */

/* Also of files whose line was never written. */
static void remove_names(const char *path) {
        DIR *folder = opendir(path);
        struct dirent *entry;

        while (folder && (entry = readdir(folder)))
                if (strncmp(entry->d_name, UNDO_LOG_NAME, strlen(UNDO_LOG_NAME)) == 0)
                        (void)unlinkat(dirfd(folder), entry->d_name, 0);
        if (folder)
                closedir(folder);
}

int undo_log_remove_remains(const char *folder) {
        static const char *const names[] = { "log", "contents", "lock" };
        char path[PATH_MAX];

        snprintf(path, sizeof path, "%s/lock", folder);
        if (access(path, F_OK) < 0) /* somebody makes it just now, or died over it: it is empty */
                return rmdir(folder) < 0 && errno != ENOENT ? -errno : 0;
        remove_names(folder);
        for (size_t i = 0; i < LENGTH_OF(names); i++) {
                snprintf(path, sizeof path, "%s/%s", folder, names[i]);
                if (unlink(path) < 0 && errno != ENOENT)
                        return -errno;
        }
        return rmdir(folder) < 0 && errno != ENOENT ? -errno : 0;
}

int undo_log_remove(UndoLog *log) {
        return undo_log_remove_remains(log->folder);
}
