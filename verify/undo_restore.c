/* undo_restore.c - see undo_restore.h. */
#include "verify/undo_restore.h"
#include "base/take.h"
#include "verify/folder.h"
#include "verify/undo_path.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536

/* ---- Content ---- */

static bool has_content(int fd, const UndoLog *log, const UndoRecord *record) {
        _cleanup_(freep) char *is = malloc(PIECE), *was = malloc(PIECE);
        struct stat now;

        if (!is || !was || fstat(fd, &now) < 0 || (uint64_t)now.st_size != record->size)
                return false;
        for (uint64_t at = 0; at < record->size;) {
                size_t most = record->size - at < PIECE ? (size_t)(record->size - at) : PIECE;
                ssize_t n = pread(fd, is, most, (off_t)at);
                if (n <= 0 || pread(log->contents, was, (size_t)n, (off_t)(record->offset + at)) != n ||
                    memcmp(is, was, (size_t)n) != 0)
                        return false;
                at += (uint64_t)n;
        }
        return true;
}

static int write_content(int fd, const UndoLog *log, const UndoRecord *record) {
        _cleanup_(freep) char *bytes = malloc(PIECE);

        if (!bytes)
                return -ENOMEM;
        if (ftruncate(fd, 0) < 0)
                return -errno;
        for (uint64_t at = 0; at < record->size;) {
                size_t most = record->size - at < PIECE ? (size_t)(record->size - at) : PIECE;
                ssize_t n = pread(log->contents, bytes, most, (off_t)(record->offset + at));
                if (n <= 0)
                        return n < 0 ? -errno : -EIO;
                if (pwrite(fd, bytes, (size_t)n, (off_t)at) != n)
                        return errno ? -errno : -EIO;
                at += (uint64_t)n;
        }
        return fsync(fd) == 0 ? 0 : -errno;
}

static bool is_kept_inode(const struct stat *now, const UndoRecord *record) {
        return now->st_dev == record->device && now->st_ino == record->inode;
}

/* Back to the inode that its other names show. */
static int join_name(const UndoLog *log, const UndoRecord *record) {
        char kept[PATH_MAX];
        struct stat now;

        if (!record->kept || (lstat(record->path, &now) == 0 && is_kept_inode(&now, record)))
                return 0;
        int r = undo_path_remove(record->path);
        snprintf(kept, sizeof kept, "%s/%s", log->folder, record->kept);
        if (r == 0 && link(kept, record->path) < 0)
                r = -errno;
        return r;
}

/* Its own inode, and no name of another file that was joined to it. */
static bool is_itself(const struct stat *now, const UndoRecord *record) {
        return S_ISREG(now->st_mode) && is_kept_inode(now, record) && (now->st_nlink == 1 || record->kept);
}

/* In place where it is still the same file: who has it open goes on with it. */
static int restore_file(const UndoLog *log, const UndoRecord *record) {
        struct stat now;
        int r = join_name(log, record);

        if (r == 0 && lstat(record->path, &now) == 0 && !is_itself(&now, record))
                r = undo_path_remove(record->path);
        if (r < 0)
                return r;
        _cleanup_(closep) int fd = open(record->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
        if (fd < 0 && errno == EACCES && chmod(record->path, 0600) == 0)
                fd = open(record->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return errno == ETXTBSY ? 0 : -errno; /* a program that runs cannot have been written to */
        return has_content(fd, log, record) ? 0 : write_content(fd, log, record);
}

/* ---- One line ---- */

static int restore_other(const UndoRecord *record) {
        char target[PATH_MAX];
        struct stat now;
        bool there = lstat(record->path, &now) == 0;

        if (there && (now.st_mode & S_IFMT) == (record->mode & S_IFMT)) {
                if (record->kind != UNDO_LINK)
                        return 0;
                ssize_t n = readlink(record->path, target, sizeof target - 1);
                if (n >= 0 && (target[n] = 0, strcmp(target, record->target) == 0))
                        return 0;
        }
        int r = there ? undo_path_remove(record->path) : 0;
        if (r < 0)
                return r;
        if (record->kind == UNDO_DIRECTORY)
                r = mkdir(record->path, 0700);
        else if (record->kind == UNDO_LINK)
                r = symlink(record->target, record->path);
        else
                r = mkfifo(record->path, 0600);
        return r < 0 ? -errno : 0;
}

static int restore(const UndoLog *log, const UndoRecord *record) {
        int r;

        switch (record->kind) {
        case UNDO_ABSENT: return undo_path_remove(record->path);
        case UNDO_FILE: r = restore_file(log, record); break;
        case UNDO_DIRECTORY:
        case UNDO_LINK:
        case UNDO_FIFO: r = restore_other(record); break;
        case UNDO_MOVED: /* see move_back() */
        case UNDO_TREE:
        case UNDO_UNDONE:
        case _UNDO_KIND_MAX:
        default: return 0;
        }
        return r < 0 ? r : undo_path_set_values(record);
}

static bool was_folder(const UndoLines *lines, const char *path) {
        for (size_t i = 0; i < lines->n; i++)
                if (lines->records[i].kind == UNDO_DIRECTORY && strcmp(lines->records[i].path, path) == 0)
                        return true;
        return false;
}

static bool is_known(const UndoLines *lines, const char *path) {
        for (size_t i = 0; i < lines->n; i++)
                if (strcmp(lines->records[i].path, path) == 0)
                        return true;
        return false;
}

/* A folder that is gone has its line before the lines of what was in it, and that is put back later. The same holds for
 * its mode, where the run has taken our own rights away. */
static int make_folder(const UndoLines *lines, const char *path) {
        struct stat now;

        if (lstat(path, &now) < 0)
                return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
        if (S_ISDIR(now.st_mode)) {
                if ((now.st_mode & 0700) != 0700 && now.st_uid == geteuid() && is_known(lines, path))
                        (void)chmod(path, (now.st_mode & 07777) | 0700);
                return 0;
        }
        if (S_ISLNK(now.st_mode) && !was_folder(lines, path))
                return 0;
        int r = undo_path_remove(path);
        return r < 0 ? r : mkdir(path, 0700) == 0 ? 0 : -errno;
}

static int make_parents(const UndoLines *lines, const char *path) {
        _cleanup_(freep) char *copy = strdup(path);
        int r = copy ? 0 : -ENOMEM;

        for (char *slash = copy; r == 0 && *slash && (slash = strchr(slash + 1, '/')); *slash = '/') {
                *slash = 0;
                r = make_folder(lines, copy);
        }
        return r;
}

/* It may not have happened: the inode tells. */
static int move_back(const UndoLines *lines, const UndoRecord *record) {
        struct stat now;

        if (lstat(record->target, &now) < 0 || !is_kept_inode(&now, record))
                return 0;
        int r = make_parents(lines, record->path);
        if (r < 0)
                return r;
        if (lstat(record->path, &now) == 0) {
                if (is_kept_inode(&now, record)) /* two names of one file: rename does nothing then */
                        return 0;
                return renameat2(AT_FDCWD, record->target, AT_FDCWD, record->path, RENAME_EXCHANGE) == 0 ? 0 : -errno;
        }
        return rename(record->target, record->path) == 0 ? 0 : -errno;
}

/* All folders above were folders when the line was written: where a link stands in for one now, what it leads to is
 * somebody else's. What is to be taken out of a folder whose mode the run has changed needs our rights back. */
static bool open_parents(const UndoLines *lines, const char *path) {
        _cleanup_(freep) char *copy = strdup(path);
        bool folders = copy;
        struct stat now;

        for (char *slash = copy; folders && *slash && (slash = strchr(slash + 1, '/')); *slash = '/') {
                *slash = 0;
                folders = lstat(copy, &now) == 0 && S_ISDIR(now.st_mode);
                if (folders)
                        (void)make_folder(lines, copy);
        }
        return folders;
}

/* ---- A tree that was saved as a whole ---- */

static bool has_line(const UndoLines *lines, const char *path) {
        for (size_t i = 0; i < lines->n; i++)
                if (strcmp(lines->records[i].path, path) == 0 && lines->records[i].kind != UNDO_ABSENT)
                        return true;
        return false;
}

static int remove_new(const UndoLines *lines, const char *path) {
        DIR *folder = opendir(path);
        struct dirent *entry;
        int r = 0;

        while (folder && r == 0 && (entry = folder_next(folder))) {
                char below[PATH_MAX];
                snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
                r = !has_line(lines, below)   ? undo_path_remove(below)
                    : entry->d_type == DT_DIR ? remove_new(lines, below)
                                              : 0;
        }
        if (folder)
                closedir(folder);
        return r;
}

/* ---- All of them ---- */

static size_t first_not_undone(const UndoLines *lines) {
        size_t at = lines->n;

        for (size_t i = 0; i < lines->n; i++)
                if (lines->records[i].kind == UNDO_UNDONE && lines->records[i].size < at)
                        at = lines->records[i].size;
        return at;
}

/* Before names move back, all that was said of the new names is over. */
static int mark_undone(UndoLog *log, size_t from) {
        char none[] = "";
        UndoRecord record = { .kind = UNDO_UNDONE, .size = from, .path = none };
        return undo_log_append(log, &record, 1);
}

/* What was put back into a folder has changed it again. The first line of a folder comes last, and counts; but a line
 * from after a move speaks of what was there then. */
static int restore_folders(const UndoLines *lines, size_t from, size_t to) {
        struct stat now;
        int r = 0;

        for (size_t i = to; r == 0 && i-- > from;) {
                const UndoRecord *record = &lines->records[i];
                if (record->kind == UNDO_DIRECTORY && lstat(record->path, &now) == 0 && S_ISDIR(now.st_mode))
                        r = undo_path_set_values(record);
        }
        return r;
}

static int restore_line(UndoLog *log, const UndoLines *lines, size_t number, size_t *end) {
        const UndoRecord *record = &lines->records[number];
        int r = 0;

        if (record->kind == UNDO_MOVED && S_ISDIR(record->mode)) { /* from here on paths mean something else */
                r = restore_folders(lines, number + 1, *end);
                if (r == 0)
                        r = mark_undone(log, number + 1);
                *end = number;
        }
        if (r == 0 && record->kind == UNDO_TREE)
                r = remove_new(lines, record->path);
        if (r == 0 && record->kind != UNDO_ABSENT && record->kind < UNDO_MOVED)
                r = make_parents(lines, record->path);
        if (r == 0 && record->kind == UNDO_ABSENT && !open_parents(lines, record->path))
                return 0;
        if (r == 0 && record->kind == UNDO_MOVED)
                r = move_back(lines, record);
        return r < 0 ? r : restore(log, record);
}

int undo_restore(UndoLog *log, char **ret_why) {
        UndoLines lines = { 0 };
        int r = undo_log_read(log, &lines);
        size_t end = r == 0 ? first_not_undone(&lines) : 0;

        for (size_t i = end; r == 0 && i-- > 0;) {
                r = restore_line(log, &lines, i, &end);
                if (r < 0 && ret_why &&
                    asprintf(ret_why, "%s could not be put back as it was: %s; how it was stands in %s",
                             lines.records[i].path, strerrordesc_np(-r), log->folder) < 0)
                        *ret_why = NULL;
        }
        if (r == 0)
                r = restore_folders(&lines, 0, end);
        if (r == 0)
                r = undo_log_remove(log);
        undo_lines_done(&lines);
        return r;
}
