/* runtime.c - finds, makes and locks the runtime directory. */
#include "supervisor/runtime.h"
#include "base/take.h"
#include "supervisor/archive.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME    "lock"
#define CONTROL_NAME "control.sock"
#define N_CANDIDATES 4

/* 0, -ENOENT: there is no such candidate here, -ENAMETOOLONG. */
static int candidate(unsigned i, char *ret_directory, size_t size) {
        const char *session = getenv("XDG_RUNTIME_DIR");
        unsigned uid = (unsigned)geteuid();
        int n;

        if (i == 0)
                n = snprintf(ret_directory, size, "/run/endwell");
        else if (i == 1 && session && session[0] == '/')
                n = snprintf(ret_directory, size, "%s/endwell", session);
        else if (i == 2)
                n = snprintf(ret_directory, size, "/dev/shm/endwell-%u", uid);
        else if (i == 3)
                n = snprintf(ret_directory, size, "/tmp/endwell-%u", uid);
        else
                return -ENOENT;
        return n < (int)size ? 0 : -ENAMETOOLONG;
}

/* A directory that is ours and that nobody else can put anything into: /tmp and /dev/shm are everybody's. A descriptor,
 * or -errno; -EPERM when it is somebody else's or open to others. */
static int open_ours(const char *directory) {
        _cleanup_(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
                return -EPERM;
        return TAKE_FD(fd);
}

static int make_ours(const char *directory) {
        if (mkdir(directory, 0711) < 0 && errno != EEXIST)
                return -errno;
        _cleanup_(closep) int fd = open_ours(directory);
        if (fd < 0)
                return fd;
        if (fchmod(fd, 0711) < 0) /* whatever the umask left of it: services of other uids must come through */
                return -errno;
        return TAKE_FD(fd);
}

static pid_t read_holder(int lock_fd) {
        char text[16] = "";

        return pread(lock_fd, text, sizeof text - 1, 0) > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

/* The lock is the open file, so it ends with us however we end. The pid in it is for people; when it cannot be written
 * (a full disk) the lock holds all the same. */
static int take_lock(int directory_fd, pid_t *ret_holder) {
        _cleanup_(closep) int fd = openat(directory_fd, LOCK_NAME,
                                          O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644);

        if (fd < 0)
                return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                if (errno != EWOULDBLOCK)
                        return -errno;
                *ret_holder = read_holder(fd);
                return -EBUSY;
        }
        if (ftruncate(fd, 0) == 0)
                (void)dprintf(fd, "%d\n", (int)getpid());
        return TAKE_FD(fd);
}

/* Unlinks the sockets that a dead run left; the lock being ours, nobody listens on them. Instances have theirs one
 * folder deeper. Takes over the descriptor. What cannot be unlinked is the business of whoever binds there. */
static void sweep(int directory_fd, int depth) {
        DIR *directory = fdopendir(directory_fd);
        struct dirent *entry;

        if (!directory) {
                close_fd(directory_fd);
                return;
        }
        while ((entry = readdir(directory))) {
                struct stat st;

                if (entry->d_name[0] == '.' || fstatat(directory_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (S_ISSOCK(st.st_mode))
                        (void)unlinkat(directory_fd, entry->d_name, 0);
                else if (S_ISDIR(st.st_mode) && depth > 0)
                        sweep(openat(directory_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                              depth - 1);
        }
        closedir(directory);
}

static int open_one(const char *directory, Runtime *ret, pid_t *ret_holder) {
        _cleanup_(closep) int fd = make_ours(directory);

        if (fd < 0)
                return fd;
        int lock_fd = take_lock(fd, ret_holder);
        if (lock_fd < 0 && lock_fd != -EBUSY)
                return lock_fd;
        snprintf(ret->directory, sizeof ret->directory, "%s", directory);
        ret->lock_fd = lock_fd < 0 ? -1 : lock_fd;
        if (lock_fd < 0)
                return lock_fd;
        sweep(TAKE_FD(fd), 1);
        return 0;
}

int runtime_open(const char *configured, Runtime *ret, pid_t *ret_holder) {
        char directory[sizeof ret->directory];
        int r = -ENOENT;

        *ret_holder = 0;
        if (configured && strlen(configured) >= sizeof directory)
                return -ENAMETOOLONG;
        if (configured)
                return open_one(configured, ret, ret_holder);
        for (unsigned i = 0; i < N_CANDIDATES; i++) {
                if (candidate(i, directory, sizeof directory) < 0 || (i == 0 && !archive_is_on_tmpfs(directory)))
                        continue;
                r = open_one(directory, ret, ret_holder);
                if (r == 0 || r == -EBUSY)
                        return r;
        }
        return r;
}

/* It is there and ours, or its folder would let us make it. What a mode forbids in a directory of ours is mended when
 * it is opened; what a read-only file system forbids is not. */
static int try_one(const char *directory) {
        _cleanup_(closep) int fd = open_ours(directory);
        char folder[sizeof((Runtime *)NULL)->directory];

        if (fd >= 0)
                return faccessat(fd, ".", W_OK, AT_EACCESS) < 0 && errno == EROFS ? -EROFS : 0;
        if (fd != -ENOENT)
                return fd;
        snprintf(folder, sizeof folder, "%s", directory);
        for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
                folder[n - 1] = '\0';
        char *slash = strrchr(folder, '/');
        if (!slash)
                return -EINVAL;
        slash[slash == folder] = '\0';
        return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

int runtime_try(const char *configured) {
        char directory[sizeof((Runtime *)NULL)->directory];
        int r = -ENOENT;

        if (configured && strlen(configured) >= sizeof directory)
                return -ENAMETOOLONG;
        if (configured)
                return try_one(configured);
        for (unsigned i = 0; i < N_CANDIDATES && r != 0; i++)
                if (candidate(i, directory, sizeof directory) == 0 && (i > 0 || archive_is_on_tmpfs(directory)))
                        r = try_one(directory);
        return r;
}

/* The files stay: the journal is there to be read, and an unlinked lock would be one that two can hold. */
void runtime_close(Runtime *runtime) {
        runtime->lock_fd = close_fd(runtime->lock_fd);
}

/* In a directory that is somebody else's a socket could be anybody's. */
static int has_control_socket(const char *directory) {
        _cleanup_(closep) int fd = open_ours(directory);
        struct stat st;

        return fd >= 0 && fstatat(fd, CONTROL_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
}

int runtime_find(char *ret_directory, size_t size) {
        char directory[sizeof((Runtime *)NULL)->directory];

        for (unsigned i = 0; i < N_CANDIDATES; i++)
                if (candidate(i, directory, sizeof directory) == 0 && has_control_socket(directory) &&
                    strlen(directory) < size) {
                        strcpy(ret_directory, directory);
                        return 0;
                }
        return -ENOENT;
}
