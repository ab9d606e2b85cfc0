/* undo_path.c - see undo_path.h. */
#include "verify/undo_path.h"
#include "base/take.h"
#include "verify/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- Taking away ---- */

static int remove_at(int folder, const char *name);

static int remove_below(int folder, const char *name) {
        int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *entry;
        int r = 0;

        if (!stream) {
                close_fd(fd);
                return -errno;
        }
        while (r == 0 && (entry = folder_next(stream)))
                r = remove_at(dirfd(stream), entry->d_name);
        closedir(stream);
        return r;
}

/* Everything in a folder that was not there is new, too. */
static int remove_at(int folder, const char *name) {
        if (unlinkat(folder, name, 0) == 0 || errno == ENOENT || errno == ENOTDIR)
                return 0;
        if (errno != EISDIR && errno != EPERM)
                return -errno;
        if (unlinkat(folder, name, AT_REMOVEDIR) == 0)
                return 0;
        if (errno != EACCES && errno != EPERM && errno != ENOTEMPTY && errno != EEXIST)
                return -errno;
        (void)fchmodat(folder, name, 0700, 0); /* the run may have shut us out, and it goes anyway */
        int r = remove_below(folder, name);
        return r < 0 ? r : unlinkat(folder, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

int undo_path_remove(const char *path) {
        return remove_at(AT_FDCWD, path);
}

/* ---- Attributes ---- */

static bool is_listed(const char *attributes, const char *name) {
        size_t length = strlen(name);

        for (const char *at = attributes; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
                if (strncmp(at, name, length) == 0 && at[length] == '=')
                        return true;
        return false;
}

static void remove_new_attributes(const char *path, const char *attributes) {
        char names[8192];
        ssize_t n = llistxattr(path, names, sizeof names);

        for (char *name = names; n > 0 && name < names + n; name += strlen(name) + 1)
                if (!is_listed(attributes, name) && undo_record_holds_attribute(name))
                        (void)lremovexattr(path, name);
}

static void set_attribute(const char *path, char *word) {
        char *value = strchr(word, '=');
        size_t n = 0;

        if (!value)
                return;
        *value++ = 0;
        for (char *at = value; at[0] && at[1]; at += 2) {
                unsigned byte;
                if (sscanf(at, "%2x", &byte) == 1)
                        value[n++] = (char)byte; /* behind what is still to be read */
        }
        (void)lsetxattr(path, word, value, n, 0);
}

static void set_attributes(const char *path, const char *attributes) {
        _cleanup_(freep) char *copy = attributes ? strdup(attributes) : NULL;
        char *rest = copy, *word;

        remove_new_attributes(path, attributes);
        while ((word = strsep(&rest, ",")))
                set_attribute(path, word);
}

static bool is_same_time(struct timespec a, struct timespec b) {
        return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

int undo_path_set_values(const UndoRecord *record) {
        struct timespec times[] = { record->atime, record->mtime };
        struct stat now;

        if (lstat(record->path, &now) < 0)
                return -errno;
        if ((now.st_uid != record->uid || now.st_gid != record->gid) &&
            lchown(record->path, record->uid, record->gid) < 0)
                return -errno;
        if (record->kind != UNDO_LINK) {
                set_attributes(record->path, record->attributes);
                /* again after a chown, which takes set-user-ID away */
                if ((lstat(record->path, &now) < 0 || now.st_mode != record->mode) &&
                    chmod(record->path, record->mode & 07777) < 0)
                        return -errno;
        }
        if (is_same_time(now.st_atim, record->atime) && is_same_time(now.st_mtim, record->mtime))
                return 0;
        return utimensat(AT_FDCWD, record->path, times, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
}
