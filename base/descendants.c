/* descendants.c - walks the tree below a process: kin_descendants() of kin.h.
 *
 * Breadth first with a list, so that depth costs no stack, and with a table of the pids that were seen, so that a
 * process that gets a new parent during the walk is told once and a pid that is used again cannot make a circle. */
#include "base/kin.h"
#include "base/take.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_CAPACITY 32
#define PATH_TEXT_MAX  64
#define MOST_EVER      (4U << 20) /* the kernel's own limit of pids */
#define FULL           (-ENOBUFS) /* among ourselves: no error, only the end of the walk */

typedef struct Walk {
        pid_t *found; /* parents before children */
        pid_t *table; /* the same by hash, twice the capacity; 0: free */
        size_t n, capacity, most;
        int (*each)(void *userdata, const KinProcess *process);
        void *userdata;
        size_t told;
        pid_t task_of; /* whose threads are being looked at */
} Walk;

static void walk_done(Walk *walk) {
        free(walk->found);
        free(walk->table);
}

static pid_t *walk_place(const Walk *walk, pid_t pid) {
        size_t mask = walk->capacity * 2 - 1, i = (size_t)pid * 2654435761U & mask;
        while (walk->table[i] != 0 && walk->table[i] != pid)
                i = (i + 1) & mask;
        return &walk->table[i];
}

static int walk_grow(Walk *walk) {
        size_t capacity = walk->capacity ? walk->capacity * 2 : FIRST_CAPACITY;
        _cleanup_(freep) pid_t *table = calloc(capacity * 2, sizeof *table);
        pid_t *found = table ? realloc(walk->found, capacity * sizeof *found) : NULL;
        if (!found)
                return -ENOMEM;
        free(walk->table);
        walk->found = found;
        walk->table = TAKE(table);
        walk->capacity = capacity;
        for (size_t i = 0; i < walk->n; i++)
                *walk_place(walk, found[i]) = found[i];
        return 0;
}

/* The number of processes below the root that are remembered is bounded: `most` that are told, and as many again that
 * are dead and not yet collected. */
static bool walk_is_full(const Walk *walk) {
        return walk->told >= walk->most || walk->n >= (walk->most + FIRST_CAPACITY) * 2;
}

static bool walk_knows(const Walk *walk, pid_t pid) {
        return pid > 0 && *walk_place(walk, pid) == pid;
}

static int walk_add(void *userdata, pid_t pid) {
        Walk *walk = userdata;
        if (walk_is_full(walk))
                return FULL;
        if (walk->n == walk->capacity) {
                int r = walk_grow(walk);
                if (r < 0)
                        return r;
        }
        pid_t *place = walk_place(walk, pid);
        if (*place == 0) {
                *place = pid;
                walk->found[walk->n++] = pid;
        }
        return 0;
}

static int walk_tell(Walk *walk, const KinProcess *process) {
        if (!kin_is_living(process))
                return 0;
        if (walk->told >= walk->most)
                return FULL;
        walk->told++;
        return walk->each(walk->userdata, process);
}

static int add_children_of_thread(void *userdata, pid_t thread) {
        Walk *walk = userdata;
        char path[PATH_TEXT_MAX];
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)walk->task_of, (int)thread);
        int r = kin_list(path, walk_add, walk);
        return r == -ENOENT || r == -ESRCH ? 0 : r; /* the thread is gone; its children have another parent now */
}

static int add_children(Walk *walk, pid_t pid) {
        char path[PATH_TEXT_MAX];
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        walk->task_of = pid;
        int r = kin_each_number(path, add_children_of_thread, walk);
        /* Full: those that are in the list are still told. */
        return r == -ENOENT || r == -ESRCH || r == FULL ? 0 : r;
}

static int walk_lists(Walk *walk) {
        for (size_t i = 0; i < walk->n; i++) {
                KinProcess process;
                pid_t pid = walk->found[i];
                /* The root itself is not told. One that is gone, or that we may not see, is passed over. */
                int r = i > 0 && kin_read(pid, &process) >= 0 ? walk_tell(walk, &process) : 0;
                if (r != 0)
                        return r;
                r = add_children(walk, pid);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* One pass over all processes: those whose parent is known are told and known. */
static int scan_one(void *userdata, pid_t pid) {
        Walk *walk = userdata;
        KinProcess process;
        if (walk_knows(walk, pid) || kin_read(pid, &process) < 0 || !walk_knows(walk, process.parent))
                return 0;
        int r = walk_add(walk, pid);
        return r != 0 ? r : walk_tell(walk, &process);
}

/* Pids mostly grow from parent to child, and /proc lists them in their order, so two passes are the rule. */
static int walk_scans(Walk *walk) {
        for (size_t before = 0; before != walk->n && !walk_is_full(walk);) {
                before = walk->n;
                int r = kin_each_number("/proc", scan_one, walk);
                if (r != 0)
                        return r;
        }
        return 0;
}

static int walk(pid_t root, size_t most, int (*each)(void *userdata, const KinProcess *process), void *userdata,
                int (*how)(Walk *below)) {
        _cleanup_(walk_done) Walk below = {
                .most = most < MOST_EVER ? most : MOST_EVER,
                .each = each,
                .userdata = userdata,
        };
        KinProcess process;
        int r = kin_read(root, &process);
        if (r >= 0)
                r = walk_add(&below, root);
        if (r >= 0)
                r = how(&below);
        return r == FULL ? 0 : r;
}

int kin_descendants_by_scan(pid_t root, size_t most, int (*each)(void *userdata, const KinProcess *process),
                            void *userdata) {
        return walk(root, most, each, userdata, walk_scans);
}

int kin_descendants(pid_t root, size_t most, int (*each)(void *userdata, const KinProcess *process), void *userdata) {
        bool has_lists = access("/proc/thread-self/children", F_OK) == 0;
        return walk(root, most, each, userdata, has_lists ? walk_lists : walk_scans);
}
