/* cgroup_tree.c - see cgroup_tree.h. */
#include "supervisor/cgroup_tree.h"
#include "base/take.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 16  /* of groups that a service made in its own */
#define SWEEP_MAX 256 /* groups that are looked at; the next start finds the rest */

static int open_group(int parent_fd, const char *name) {
        int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* Between its making and its lock a group looks like one that was left, and another start may remove it. */
int cgroup_tree_lock(int parent_fd, const char *name) {
        struct stat ours, there;
        _cleanup_(closep) int fd = open_group(parent_fd, name);
        if (fd < 0)
                return fd;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK ? -EBUSY : -errno;
        if (fstat(fd, &ours) < 0 || fstatat(parent_fd, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        return ours.st_ino == there.st_ino ? TAKE_FD(fd) : -ENOENT;
}

static bool remove_deep(int parent_fd, const char *name, int depth);

/* Calls remove for every group in `fd`, whose offset is its own. */
static void remove_all(int fd, int depth) {
        int copy = open_group(fd, ".");
        DIR *directory = copy < 0 ? NULL : fdopendir(copy);
        if (!directory) {
                if (copy >= 0)
                        close_fd(copy);
                return;
        }
        /* Nobody else reads this stream. */
        for (const struct dirent *entry; (entry = readdir(directory));) // NOLINT(concurrency-mt-unsafe)
                if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
                        (void)remove_deep(fd, entry->d_name, depth);
        closedir(directory);
}

static bool remove_deep(int parent_fd, const char *name, int depth) {
        if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
                return true;
        if (errno != EBUSY || depth == 0)
                return false;
        _cleanup_(closep) int fd = open_group(parent_fd, name);
        if (fd < 0)
                return false;
        remove_all(fd, depth - 1);
        return unlinkat(parent_fd, name, AT_REMOVEDIR) == 0;
}

bool cgroup_tree_remove(int parent_fd, const char *name) {
        return remove_deep(parent_fd, name, DEPTH_MAX);
}

void cgroup_tree_remove_below(int fd) {
        remove_all(fd, DEPTH_MAX);
}

static void sweep_one(int parent_fd, const char *name) {
        _cleanup_(closep) int fd = cgroup_tree_lock(parent_fd, name);
        if (fd >= 0)
                (void)cgroup_tree_remove(parent_fd, name);
}

void cgroup_tree_sweep(const char *directory) {
        DIR *stream = opendir(directory);
        if (!stream)
                return;
        unsigned looked_at = 0;
        /* Nobody else reads this stream. */
        for (const struct dirent *entry;
             looked_at < SWEEP_MAX && (entry = readdir(stream));) // NOLINT(concurrency-mt-unsafe)
                if (entry->d_type == DT_DIR &&
                    strncmp(entry->d_name, CGROUP_TREE_PREFIX, strlen(CGROUP_TREE_PREFIX)) == 0) {
                        looked_at++;
                        sweep_one(dirfd(stream), entry->d_name);
                }
        closedir(stream);
}
