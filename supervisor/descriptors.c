/* descriptors.c - opens, places and closes a child's descriptors. */
#include "supervisor/descriptors.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Takes `fd`; the new number, at least `floor`, or -errno. */
static int lift(int fd, int floor) {
        if (fd >= floor)
                return fd;
        int lifted = fcntl(fd, F_DUPFD_CLOEXEC, floor);
        int error = errno;
        close_fd(fd);
        return lifted < 0 ? -error : lifted;
}

int descriptors_lift(int fd) {
        return lift(fd, FIRST_FREE);
}

static int open_source(const char *path, int flags, int floor) {
        int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0644);
        return fd < 0 ? -errno : lift(fd, floor);
}

/* A program that finds one of 0 to 2 closed writes its errors into the first file that it opens. */
static int inherit(int fd, int floor) {
        if (fcntl(fd, F_GETFD) >= 0)
                return fd;
        return open_source("/dev/null", O_RDWR, floor);
}

static int duplicate(int fd, int floor) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, floor);
        return copy < 0 ? -errno : copy;
}

static int output_source(const ChildOutput *output, int target, int floor) {
        if (output->null)
                return open_source("/dev/null", O_WRONLY, floor);
        if (output->fd >= 0)
                return duplicate(output->fd, floor);
        if (output->path)
                return open_source(output->path, O_WRONLY | O_CREAT | (output->append ? O_APPEND : O_TRUNC), floor);
        return inherit(target, floor);
}

/* Opened twice, one file would have two offsets, and each stream would overwrite the other. */
static bool is_same_file(const ChildOutput *a, const ChildOutput *b) {
        return !a->null && !b->null && a->fd < 0 && b->fd < 0 && a->path && b->path && a->append == b->append &&
               strcmp(a->path, b->path) == 0;
}

static int input_source(const ChildPlan *plan, int floor) {
        if (plan->input_fd > STDIN_FILENO)
                return duplicate(plan->input_fd, floor);
        return plan->inherit_input ? inherit(STDIN_FILENO, floor) : open_source("/dev/null", O_RDONLY, floor);
}

static int open_standard(const ChildPlan *plan, int floor, Descriptors *opened, ChildStep *ret_step) {
        opened->source[0] = input_source(plan, floor);
        opened->source[1] = output_source(&plan->output, STDOUT_FILENO, floor);
        opened->source[2] = is_same_file(&plan->output, &plan->error) && opened->source[1] >= 0
                                    ? duplicate(opened->source[1], floor)
                                    : output_source(&plan->error, STDERR_FILENO, floor);
        for (int i = 0; i < 3; i++)
                if (opened->source[i] < 0) {
                        *ret_step = CHILD_STEP_INPUT + i;
                        return opened->source[i];
                }
        return 0;
}

/* The first number above all that the plan names. */
static int floor_of(const ChildPlan *plan) {
        int floor = FIRST_FREE;
        for (size_t i = 0; i < plan->n_descriptors; i++)
                if (plan->descriptors[i].target >= floor)
                        floor = plan->descriptors[i].target + 1;
        return floor;
}

/* The original of each stays, as two may have the same. How many there are has no bound that would fit on a stack, and
 * malloc's locks are not ours here. */
static int open_promised(const ChildPlan *plan, int floor, Descriptors *opened) {
        size_t n = plan->n_descriptors;
        int *sources =
                mmap(NULL, (n + 1) * 2 * sizeof *sources, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (sources == MAP_FAILED)
                return -errno;
        for (size_t i = 0; i < n; i++) {
                int fd = plan->descriptors[i].fd;
                sources[i] = fd >= floor ? fd : duplicate(fd, floor);
                if (sources[i] < 0)
                        return sources[i];
        }
        opened->promised = sources;
        opened->kept = sources + n;
        return 0;
}

int descriptors_open(const ChildPlan *plan, Descriptors *descriptors, ChildStep *ret_step) {
        int floor = floor_of(plan), r = 0;
        *ret_step = CHILD_STEP_DESCRIPTORS;
        if (descriptors->failure_fd < floor) {
                r = duplicate(descriptors->failure_fd, floor);
                if (r < 0)
                        return r;
                descriptors->failure_fd = r;
        }
        descriptors->kept = &descriptors->failure_fd;
        if (plan->n_descriptors > 0)
                r = open_promised(plan, floor, descriptors);
        return r < 0 ? r : open_standard(plan, floor, descriptors, ret_step);
}

static int place(int source, int target) {
        int r = source == target ? fcntl(target, F_SETFD, 0) : dup2(source, target);
        return r < 0 ? -errno : 0;
}

/* Upwards. They come in order nearly always. */
static void sort(int *numbers, size_t n) {
        for (size_t i = 1; i < n; i++) {
                int number = numbers[i];
                size_t at = i;
                for (; at > 0 && numbers[at - 1] > number; at--)
                        numbers[at] = numbers[at - 1];
                numbers[at] = number;
        }
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

static int compare(const void *a, const void *b) {
        return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

static void close_listed(const char *entries, long size, int directory_fd, const int *kept, size_t n_kept) {
        for (long at = 0; at < size;) {
                const struct entry64 *entry = (const struct entry64 *)(const void *)(entries + at);
                int fd = read_number(entry->name);
                if (fd > STDERR_FILENO && fd != directory_fd && !bsearch(&fd, kept, n_kept, sizeof *kept, compare))
                        close_fd(fd);
                at += entry->size;
        }
}

/* For kernels before 5.9, and for sandboxes that know no close_range(2). Not a loop to the limit, which may be a
 * thousand million; not readdir(3), which allocates. The listing goes by number, so closing while reading skips none.
 */
static int close_by_listing(const int *kept, size_t n_kept) {
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
                close_listed(entries, n, fd, kept, n_kept);
        }
        close_fd(fd);
        return 0;
}

/* Everything from 3 on but `kept`, which is sorted. */
static int close_others(const int *kept, size_t n_kept) {
        int from = FIRST_FREE;
        for (size_t i = 0; i < n_kept; from = kept[i++] + 1)
                if (kept[i] > from && syscall(SYS_close_range, from, kept[i] - 1, 0) < 0)
                        return close_by_listing(kept, n_kept);
        return syscall(SYS_close_range, from, UINT_MAX, 0) < 0 ? close_by_listing(kept, n_kept) : 0;
}

int descriptors_place(const ChildPlan *plan, const Descriptors *descriptors, ChildStep *ret_step) {
        size_t n = plan->n_descriptors;
        for (int i = 0; i < 3; i++) {
                int r = place(descriptors->source[i], i);
                if (r < 0) {
                        *ret_step = CHILD_STEP_INPUT + i;
                        return r;
                }
        }
        *ret_step = CHILD_STEP_DESCRIPTORS;
        for (size_t i = 0; i < n; i++) {
                int r = place(descriptors->promised[i], plan->descriptors[i].target);
                if (r < 0)
                        return r;
                descriptors->kept[i] = plan->descriptors[i].target;
        }
        descriptors->kept[n] = descriptors->failure_fd; /* above them all */
        sort(descriptors->kept, n);
        /* Ours are close-on-exec: only those that were given to us are still there after exec. */
        return plan->inherit_others ? 0 : close_others(descriptors->kept, n + 1);
}

void descriptors_fill_standard(void) {
        for (int fd = 0; fd <= 2; fd++)
                if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
                        return; /* NOLINT(android-cloexec-open): children shall have it */
}
