/* embedded_folder.c - see embedded_folder.h. */
#include "ledger/embedded_folder.h"
#include "base/log.h"
#include "base/take.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_MODE 0711 /* whoever may connect must get at the socket; the cluster in it is 0700 */

static int say(char *problem, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int say(char *problem, int error, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        vsnprintf(problem, EMBEDDED_PROBLEM_MAX, format, ap);
        va_end(ap);
        return -error;
}

/* ---- What is in it ---- */

static bool is_ours(const char *name) {
        static const char *const ours[] = { ".",        "..",           "cluster",    "cluster.new",    "lock",
                                            "hba.conf", "hba.conf.new", "ident.conf", "ident.conf.new", "lost+found" };

        for (size_t i = 0; i < LENGTH_OF(ours); i++)
                if (strcmp(name, ours[i]) == 0)
                        return true;
        return strncmp(name, ".s.PGSQL.", 9) == 0;
}

/* The first entry that `may_be` does not allow; "": there is none. 0 or -errno. */
static int find_other(int folder, bool (*may_be)(const char *name), char ret_name[static NAME_MAX + 1]) {
        int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *entries = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;

        if (!entries) {
                int error = errno;
                close_fd(fd);
                return -error;
        }
        *ret_name = '\0';
        while (!*ret_name && (entry = readdir(entries)))
                if (!may_be(entry->d_name))
                        snprintf(ret_name, NAME_MAX + 1, "%s", entry->d_name);
        closedir(entries);
        return 0;
}

static bool is_nothing(const char *name) {
        return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "lost+found") == 0;
}

/* ---- Made by root ---- */

static int make_above(const char *path, char *problem) {
        _cleanup_(freep) char *copy = strdup(path);

        if (!copy)
                return say(problem, ENOMEM, "could not make %s: no memory", path);
        for (char *at = copy + 1; (at = strchr(at, '/')); *at++ = '/') {
                *at = '\0';
                if (mkdir(copy, 0755) < 0 && errno != EEXIST) /* EROFS, where it is there, comes after EEXIST */
                        return say(problem, errno, "could not make the folder %s: %s", copy, strerrordesc_np(errno));
        }
        return 0;
}

static int give(int fd, const char *path, uid_t uid, gid_t gid, char *problem) {
        if (fchown(fd, uid, gid) < 0 || fchmod(fd, FOLDER_MODE) < 0)
                return say(problem, errno, "could not give the folder %s to the database's user, uid %u: %s", path, uid,
                           strerrordesc_np(errno));
        log_notice("gave the folder %s to the database's user, uid %u", path, uid);
        return 0;
}

int embedded_prepare_folder(const char *path, uid_t uid, gid_t gid, char ret_problem[static EMBEDDED_PROBLEM_MAX]) {
        char other[NAME_MAX + 1];
        struct stat about;

        int r = make_above(path, ret_problem);
        if (r < 0)
                return r;
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return say(ret_problem, errno, "could not make the folder %s: %s", path, strerrordesc_np(errno));
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &about) < 0)
                return say(ret_problem, errno, "could not open the folder %s: %s", path, strerrordesc_np(errno));
        if (about.st_uid == uid)
                return 0;
        r = find_other(fd, is_nothing, other);
        if (r < 0)
                return say(ret_problem, -r, "could not read the folder %s: %s", path, strerrordesc_np(-r));
        if (*other || about.st_uid != 0)
                return say(ret_problem, EPERM,
                           "the folder %s belongs to uid %u, and the database runs as uid %u: give it to that "
                           "(chown -R %u:%u), or name another user (User=); it was not touched",
                           path, about.st_uid, uid, uid, gid);
        return give(fd, path, uid, gid, ret_problem);
}

/* ---- Opened by the database's user ---- */

static int check_owner(int fd, const char *path, char *problem) {
        struct stat about;

        if (fstat(fd, &about) < 0)
                return say(problem, errno, "could not look at the folder %s: %s", path, strerrordesc_np(errno));
        if (about.st_uid != geteuid())
                return say(problem, EPERM,
                           "the folder %s belongs to uid %u, and the database runs as uid %u: give it to that, or name "
                           "another user (User=)",
                           path, about.st_uid, geteuid());
        if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
                return say(problem, errno, "cannot write into the folder %s: %s", path, strerrordesc_np(errno));
        if ((about.st_mode & 07777) != FOLDER_MODE && fchmod(fd, FOLDER_MODE) < 0)
                return say(problem, errno, "could not let others get at the socket in %s: %s", path,
                           strerrordesc_np(errno));
        return 0;
}

static int check_content(int fd, const char *path, char *problem) {
        char other[NAME_MAX + 1];

        int r = find_other(fd, is_ours, other);
        if (r < 0)
                return say(problem, -r, "could not read the folder %s: %s", path, strerrordesc_np(-r));
        if (*other == '\0')
                return 0;
        if (faccessat(fd, "PG_VERSION", F_OK, 0) == 0)
                return say(problem, ENOTEMPTY,
                           "the folder %s is itself a PostgreSQL cluster that endwell did not make: name a folder of "
                           "its own and restore a dump into it; nothing was touched",
                           path);
        return say(problem, ENOTEMPTY,
                   "the folder %s has something else in it (%s): name a folder of its own; nothing was touched", path,
                   other);
}

static int read_version(int folder, const char *path, unsigned *ret, char *problem) {
        char text[16] = "", *end;

        *ret = 0;
        if (faccessat(folder, "cluster", F_OK, 0) < 0 && errno == ENOENT)
                return 0;
        _cleanup_(closep) int fd = openat(folder, "cluster/PG_VERSION", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
                return say(problem, EINVAL,
                           "%s/cluster is no PostgreSQL cluster: it has no PG_VERSION that can be read", path);
        unsigned long version = strtoul(text, &end, 10);
        if (end == text || version < 1 || version > 999 || (*end && *end != '\n'))
                return say(problem, EINVAL, "%s/cluster was made by a PostgreSQL that nobody knows: %.8s", path, text);
        *ret = (unsigned)version;
        return 0;
}

int embedded_open_folder(const char *path, EmbeddedFolder *ret, char ret_problem[static EMBEDDED_PROBLEM_MAX]) {
        if (mkdir(path, FOLDER_MODE) < 0 && errno != EEXIST)
                return say(ret_problem, errno, "could not make the folder %s: %s", path, strerrordesc_np(errno));
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return say(ret_problem, errno, "could not open the folder %s: %s", path, strerrordesc_np(errno));
        int r = check_owner(fd, path, ret_problem);
        if (r == 0)
                r = check_content(fd, path, ret_problem);
        if (r == 0)
                r = read_version(fd, path, &ret->version, ret_problem);
        if (r == 0)
                ret->fd = TAKE_FD(fd);
        return r;
}

/* A pid in a file says nothing across containers: each counts its own. */
int embedded_lock_folder(const EmbeddedFolder *folder) {
        int fd =
                openat(folder->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600); /* not close-on-exec: see the header */

        if (fd < 0)
                return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                int error = errno;
                close_fd(fd);
                return -error;
        }
        return fd;
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
        (void)about, (void)kind, (void)place;
        return remove(path) < 0 ? -errno : 0;
}

int embedded_remove(const EmbeddedFolder *folder, const char *path, const char *name) {
        _cleanup_(freep) char *whole = NULL;

        if (faccessat(folder->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (asprintf(&whole, "%s/%s", path, name) < 0) {
                whole = NULL; /* else undefined */
                return -ENOMEM;
        }
        int r = nftw(whole, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        return r < 0 ? r : 0;
}

int embedded_write(const EmbeddedFolder *folder, const char *name, const char *text) {
        char fresh[64];
        size_t length = strlen(text);

        snprintf(fresh, sizeof fresh, "%s.new", name);
        _cleanup_(closep) int fd =
                openat(folder->fd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        ssize_t n = write(fd, text, length);
        if (n < 0 || fsync(fd) < 0)
                return -errno;
        if ((size_t)n < length)
                return -ENOSPC;
        return renameat(folder->fd, fresh, folder->fd, name) < 0 ? -errno : 0;
}
