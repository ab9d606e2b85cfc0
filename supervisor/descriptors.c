/* descriptors.c - opens, places and closes a child's descriptors. */
#include "supervisor/descriptors.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_FREE (STDERR_FILENO + 1)

struct entry64 { /* linux_dirent64 of getdents64(2), which no header declares */
        uint64_t inode;
        int64_t offset;
        uint16_t size;
        uint8_t type;
        char name[];
};

int descriptors_lift(int fd) {
        if (fd > STDERR_FILENO)
                return fd;
        int lifted = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);
        int error = errno;
        close_fd(fd);
        return lifted < 0 ? -error : lifted;
}

static int open_source(const char *path, int flags) {
        int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0644);
        return fd < 0 ? -errno : descriptors_lift(fd);
}

/* A program that finds one of 0 to 2 closed writes its errors into the first file that it opens. */
static int inherit(int fd) {
        if (fcntl(fd, F_GETFD) >= 0)
                return fd;
        return open_source("/dev/null", O_RDWR);
}

static int duplicate(int fd) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);
        return copy < 0 ? -errno : copy;
}

static int output_source(const ChildOutput *output, int target) {
        if (output->null)
                return open_source("/dev/null", O_WRONLY);
        if (output->fd >= 0)
                return duplicate(output->fd);
        if (output->path)
                return open_source(output->path, O_WRONLY | O_CREAT | (output->append ? O_APPEND : O_TRUNC));
        return inherit(target);
}

/* Opened twice, one file would have two offsets, and each stream would overwrite the other. */
static bool is_same_file(const ChildOutput *a, const ChildOutput *b) {
        return !a->null && !b->null && a->fd < 0 && b->fd < 0 && a->path && b->path && a->append == b->append &&
               strcmp(a->path, b->path) == 0;
}

static int input_source(const ChildPlan *plan) {
        if (plan->input_fd > STDIN_FILENO)
                return duplicate(plan->input_fd);
        return plan->inherit_input ? inherit(STDIN_FILENO) : open_source("/dev/null", O_RDONLY);
}

int descriptors_open(const ChildPlan *plan, Descriptors *ret, ChildStep *ret_step) {
        Descriptors opened;

        opened.source[0] = input_source(plan);
        opened.source[1] = output_source(&plan->output, STDOUT_FILENO);
        opened.source[2] = is_same_file(&plan->output, &plan->error) && opened.source[1] >= 0
                                   ? duplicate(opened.source[1])
                                   : output_source(&plan->error, STDERR_FILENO);
        for (int i = 0; i < 3; i++)
                if (opened.source[i] < 0) {
                        *ret_step = CHILD_STEP_INPUT + i;
                        return opened.source[i];
                }
        *ret = opened;
        return 0;
}

static int place(int source, int target) {
        int r = source == target ? fcntl(target, F_SETFD, 0) : dup2(source, target);
        return r < 0 ? -errno : 0;
}

int descriptors_place(const Descriptors *descriptors, ChildStep *ret_step) {
        for (int i = 0; i < 3; i++) {
                int r = place(descriptors->source[i], i);
                if (r < 0) {
                        *ret_step = CHILD_STEP_INPUT + i;
                        return r;
                }
        }
        return 0;
}

/* -1: no number */
static int read_number(const char *text) {
        int value = 0;
        if (!*text)
                return -1;
        for (; *text; text++) {
                if (*text < '0' || *text > '9' || value > (INT_MAX - 9) / 10)
                        return -1;
                value = value * 10 + (*text - '0');
        }
        return value;
}

static void close_listed(const char *entries, long size, int directory_fd, int keep) {
        for (long at = 0; at < size;) {
                const struct entry64 *entry = (const struct entry64 *)(const void *)(entries + at);
                int fd = read_number(entry->name);
                if (fd > STDERR_FILENO && fd != keep && fd != directory_fd)
                        close_fd(fd);
                at += entry->size;
        }
}

/* For kernels before 5.9, and for sandboxes that know no close_range(2). Not a loop to the limit, which may be a
 * thousand million; not readdir(3), which allocates. The listing goes by number, so closing while reading skips none.
 */
static int close_by_listing(int keep) {
        _Alignas(struct entry64) char entries[2048];
        int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        for (;;) {
                long n = syscall(SYS_getdents64, fd, entries, sizeof entries);
                if (n < 0) {
                        int error = errno;
                        close_fd(fd);
                        return -error;
                }
                if (n == 0)
                        break;
                close_listed(entries, n, fd, keep);
        }
        close_fd(fd);
        return 0;
}

int descriptors_close_others(int keep) {
        if (keep > FIRST_FREE && syscall(SYS_close_range, FIRST_FREE, keep - 1, 0) < 0)
                return close_by_listing(keep);
        if (syscall(SYS_close_range, keep + 1, UINT_MAX, 0) < 0)
                return close_by_listing(keep);
        return 0;
}

void descriptors_fill_standard(void) {
        for (int fd = 0; fd <= 2; fd++)
                if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
                        return; /* NOLINT(android-cloexec-open): children shall have it */
}
