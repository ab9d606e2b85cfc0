/* undo.c - see undo.h. */
#include "verify/undo.h"
#include "base/take.h"
#include "verify/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define BATCH_MAX      8
#define ATTRIBUTES_MAX 65536

struct Undo {
        UndoLog log;
        char **seen; /* paths that are saved, since a folder was renamed */
        size_t n_seen;
        UndoRecord batch[BATCH_MAX]; /* goes into the log at once */
        size_t n_batch;
        unsigned n_kept;
        char why[PATH_MAX + 128];
};

/* ---- Ends ---- */

int undo_new(Undo **ret, const char *base) {
        Undo *undo = calloc(1, sizeof *undo);
        int r = undo ? undo_log_new(base, &undo->log) : -ENOMEM;

        if (r < 0) {
                free(undo);
                return r;
        }
        *ret = undo;
        return 0;
}

static void forget(Undo *undo) {
        for (size_t i = 0; i < undo->n_seen; i++)
                free(undo->seen[i]);
        undo->n_seen = 0;
}

static void empty_batch(Undo *undo) {
        for (size_t i = 0; i < undo->n_batch; i++)
                undo_record_done(&undo->batch[i]);
        undo->n_batch = 0;
}

Undo *undo_free(Undo *undo) {
        if (!undo)
                return NULL;
        forget(undo);
        empty_batch(undo);
        free(undo->seen);
        undo_log_done(&undo->log);
        free(undo);
        return NULL;
}

UndoLog *undo_log(Undo *undo) {
        return &undo->log;
}

const char *undo_why(void *userdata) {
        Undo *undo = userdata;
        return undo->why[0] ? undo->why : NULL;
}

static int refuse(Undo *undo, int error, const char *call, const char *path, const char *why) {
        snprintf(undo->why, sizeof undo->why, "%s %s was not let happen: %s", call, path, why);
        return error;
}

/* ---- What is known already ---- */

static bool is_seen(const Undo *undo, const char *path) {
        for (size_t i = 0; i < undo->n_seen; i++)
                if (strcmp(undo->seen[i], path) == 0)
                        return true;
        return false;
}

static int see(Undo *undo, const char *path) {
        char **longer = reallocarray(undo->seen, undo->n_seen + 1, sizeof *longer);

        if (!longer)
                return -ENOMEM;
        undo->seen = longer;
        longer[undo->n_seen] = strdup(path);
        return longer[undo->n_seen] ? (undo->n_seen++, 0) : -ENOMEM;
}

static UndoRecord *next(Undo *undo, UndoKind kind, const char *path) {
        UndoRecord *record = undo->n_batch < BATCH_MAX ? &undo->batch[undo->n_batch] : NULL;

        if (!record)
                return NULL;
        *record = (UndoRecord){ .kind = kind, .path = strdup(path) };
        if (!record->path)
                return NULL;
        undo->n_batch++;
        return record;
}

static int write_batch(Undo *undo) {
        int r = undo_log_append(&undo->log, undo->batch, undo->n_batch);

        for (size_t i = 0; r == 0 && i < undo->n_batch; i++)
                if (undo->batch[i].kind != UNDO_MOVED && !is_seen(undo, undo->batch[i].path))
                        r = see(undo, undo->batch[i].path);
        empty_batch(undo);
        return r;
}

/* ---- One path ---- */

/* "user.x=6162,user.y=": those that may be read; what the kernel alone sets is not ours to put back. */
static char *read_attributes(const char *path) {
        char names[8192], *text = NULL;
        unsigned char value[ATTRIBUTES_MAX];
        size_t size;
        ssize_t n = llistxattr(path, names, sizeof names);
        FILE *out = n > 0 ? open_memstream(&text, &size) : NULL;

        for (char *name = names; out && name < names + n; name += strlen(name) + 1) {
                ssize_t length = lgetxattr(path, name, value, sizeof value);
                if (length < 0 || !undo_record_holds_attribute(name))
                        continue;
                fprintf(out, "%s%s=", ftell(out) > 0 ? "," : "", name);
                for (ssize_t i = 0; i < length; i++)
                        fprintf(out, "%02x", value[i]);
        }
        if (out && fclose(out) != 0) {
                free(text);
                return NULL;
        }
        return text;
}

static void set_values(UndoRecord *record, const struct stat *what) {
        record->mode = what->st_mode;
        record->uid = what->st_uid;
        record->gid = what->st_gid;
        record->device = what->st_dev;
        record->inode = what->st_ino;
        record->atime = what->st_atim;
        record->mtime = what->st_mtim;
        record->attributes = S_ISLNK(what->st_mode) ? NULL : read_attributes(record->path);
}

static bool takes_name_away(const char *call) {
        return strncmp(call, "unlink", 6) == 0 || strncmp(call, "rename", 6) == 0 || strncmp(call, "rmdir", 5) == 0;
}

/* A name in the log's folder keeps the inode, which the file's other names go on to show. */
static int keep_name(Undo *undo, UndoRecord *record, const char *call) {
        char path[PATH_MAX];

        if (asprintf(&record->kept, UNDO_LOG_NAME "%u", ++undo->n_kept) < 0) {
                record->kept = NULL;
                return -ENOMEM;
        }
        if (snprintf(path, sizeof path, "%s/%s", undo->log.folder, record->kept) >= (int)sizeof path)
                return -ENAMETOOLONG;
        if (link(record->path, path) == 0)
                return 0;
        free(TAKE(record->kept));
        if (!takes_name_away(call))
                return 0;
        return refuse(
                undo, -EXDEV, call, record->path,
                "the file has further names, which could not be joined again (the log lies on another file system)");
}

static int save_file(Undo *undo, UndoRecord *record, const struct stat *what, const char *call) {
        _cleanup_(closep) int fd = open(record->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOATIME);

        if (fd < 0 && errno == EPERM)
                fd = open(record->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return refuse(undo, -errno, call, record->path, "it may not be read, so it could not be put back");
        int r = undo_log_keep(&undo->log, fd, UNDO_FILE_MAX, &record->offset, &record->size);
        if (r == -EFBIG)
                return refuse(undo, r, call, record->path, "it is larger than 64 MiB, which is the most that is saved");
        if (r < 0)
                return refuse(undo, r, call, record->path, "its content could not be saved");
        return what->st_nlink > 1 ? keep_name(undo, record, call) : 0;
}

static int save_link(UndoRecord *record) {
        char target[PATH_MAX];
        ssize_t n = readlink(record->path, target, sizeof target - 1);

        if (n < 0)
                return -errno;
        record->target = strndup(target, (size_t)n);
        return record->target ? 0 : -ENOMEM;
}

static int save_known(Undo *undo, const char *path, const struct stat *what, const char *call) {
        static const UndoKind kinds[16] = { [S_IFREG >> 12] = UNDO_FILE,
                                            [S_IFDIR >> 12] = UNDO_DIRECTORY,
                                            [S_IFLNK >> 12] = UNDO_LINK,
                                            [S_IFIFO >> 12] = UNDO_FIFO };

        if (S_ISCHR(what->st_mode) && !takes_name_away(call))
                return 0; /* /dev/null */
        if (S_ISSOCK(what->st_mode) || S_ISCHR(what->st_mode) || S_ISBLK(what->st_mode))
                return refuse(undo, -EOPNOTSUPP, call, path, "a socket or device cannot be put back");
        UndoRecord *record = next(undo, kinds[(what->st_mode & S_IFMT) >> 12], path);
        if (!record)
                return -ENOMEM;
        set_values(record, what);
        if (S_ISREG(what->st_mode))
                return save_file(undo, record, what, call);
        return S_ISLNK(what->st_mode) ? save_link(record) : 0;
}

static int save_path(Undo *undo, const char *path, const char *call) {
        struct stat what;

        if (is_seen(undo, path))
                return 0;
        if (lstat(path, &what) == 0)
                return save_known(undo, path, &what, call);
        if (errno == ENOENT)
                return next(undo, UNDO_ABSENT, path) ? 0 : -ENOMEM;
        bool leads_nowhere = errno == ENOTDIR || errno == ELOOP || errno == ENAMETOOLONG; /* the call fails, too */
        return leads_nowhere ? 0 : refuse(undo, -errno, call, path, strerrordesc_np(errno));
}

/* Its times change with what is in it. Where there is no folder the call fails. */
static int save_parent(Undo *undo, const char *path, const char *call) {
        const char *slash = strrchr(path, '/');
        _cleanup_(freep) char *parent = slash > path ? strndup(path, (size_t)(slash - path)) : strdup("/");
        struct stat what;

        if (!parent)
                return -ENOMEM;
        return lstat(parent, &what) == 0 && S_ISDIR(what.st_mode) ? save_path(undo, parent, call) : 0;
}

/* A process's own files below /proc go with it. */
static int judge_place(Undo *undo, const char *call, const char *path, bool *ret_skip) {
        *ret_skip = false;
        if (strncmp(path, "/sys/", 5) == 0)
                return refuse(undo, -EROFS, call, path, "what the kernel is told cannot be put back");
        if (strncmp(path, "/proc/", 6) != 0)
                return 0;
        *ret_skip = (path[6] >= '0' && path[6] <= '9') || strncmp(path + 6, "self/", 5) == 0 ||
                    strncmp(path + 6, "thread-self/", 12) == 0;
        return *ret_skip ? 0 : refuse(undo, -EROFS, call, path, "what the kernel is told cannot be put back");
}

/* ---- A call ---- */

static int save_move(Undo *undo, const char *path, const char *other, bool *ret_folder) {
        struct stat what;

        *ret_folder = false;
        if (lstat(path, &what) < 0)
                return 0;
        UndoRecord *record = next(undo, UNDO_MOVED, path);
        if (!record)
                return -ENOMEM;
        set_values(record, &what);
        *ret_folder = S_ISDIR(what.st_mode);
        record->target = strdup(other);
        return record->target ? 0 : -ENOMEM;
}

static int save_both(Undo *undo, const char *call, const char *path, const char *other) {
        bool rename = other && strncmp(call, "rename", 6) == 0, folder = false;
        int r = save_parent(undo, path, call);

        if (r == 0)
                r = save_path(undo, path, call);
        if (r == 0 && other) /* put back first: a new name of a file is gone when the file is looked at */
                r = save_parent(undo, other, call);
        if (r == 0 && other)
                r = save_path(undo, other, call);
        if (r == 0 && rename)
                r = save_move(undo, path, other, &folder);
        if (r == 0)
                r = write_batch(undo);
        if (r == 0 && folder)
                forget(undo);
        return r;
}

int undo_save(void *userdata, const char *call, const char *path, const char *other) {
        Undo *undo = userdata;
        bool skip, skip_other = false;
        int r = judge_place(undo, call, path, &skip);

        if (r == 0 && other)
                r = judge_place(undo, call, other, &skip_other);
        if (r < 0 || skip || skip_other)
                return r;
        r = save_both(undo, call, path, other);
        if (r < 0) {
                empty_batch(undo);
                if (!undo->why[0])
                        return refuse(undo, r, call, path, strerrordesc_np(-r));
        }
        return r;
}

/* ---- A tree ---- */

static int save_below(Undo *undo, const char *path) {
        DIR *folder = opendir(path);
        struct dirent *entry;
        int r = folder ? 0 : -errno;

        while (r == 0 && (entry = folder_next(folder))) {
                char below[PATH_MAX];
                if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= (int)sizeof below)
                        r = -ENAMETOOLONG;
                if (r == 0)
                        r = save_path(undo, below, "State=");
                bool is_folder = r == 0 && undo->n_batch > 0 && undo->batch[undo->n_batch - 1].kind == UNDO_DIRECTORY;
                if (r == 0)
                        r = write_batch(undo);
                if (is_folder && r == 0)
                        r = save_below(undo, below);
        }
        if (folder)
                closedir(folder);
        return r;
}

/* That it is whole is said last: what has no line would be taken for new. */
int undo_save_tree(Undo *undo, const char *path) {
        struct stat what;
        int r = save_parent(undo, path, "State=");

        if (r == 0)
                r = save_path(undo, path, "State=");
        if (r == 0)
                r = write_batch(undo);
        if (r == 0 && lstat(path, &what) == 0 && S_ISDIR(what.st_mode))
                r = save_below(undo, path);
        if (r == 0 && !next(undo, UNDO_TREE, path))
                r = -ENOMEM;
        return r < 0 ? r : write_batch(undo);
}
