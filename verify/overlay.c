/* overlay.c - see overlay.h. */
#include "verify/overlay.h"
#include "base/take.h"
#include "verify/texts.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The layers and the new root grow on a tmpfs over a folder that every machine has, and that the world gets from a
 * descriptor. */
#define SCRATCH "/sys"
#define ROOT    SCRATCH "/root"

typedef struct Builder {
        const OverlayPlan *plan;
        int scratch_below;  /* what SCRATCH was before, with everything below it: a tree of its own */
        const char *closed; /* nothing below this point is looked at any more */
        Overlay made;
        char **why;
} Builder;

static int fail(Builder *builder, const char *what, const char *path) {
        int r = -errno;

        if (builder->why && asprintf(builder->why, "%s %s failed: %s", what, path, strerrordesc_np(-r)) < 0)
                *builder->why = NULL;
        return r;
}

static int note(Builder *builder, const char *point, const char *what) {
        char *text = NULL;

        if (asprintf(&text, "%s %s", point, what) < 0)
                return -ENOMEM;
        return texts_add(&builder->made.notes, &builder->made.n_notes, text);
}

static void target(const char *point, char ret[static PATH_MAX]) {
        snprintf(ret, PATH_MAX, "%s%s", ROOT, strcmp(point, "/") == 0 ? "" : point);
}

/* The folder or file as the machine has it, also where the scratch lies over it. */
static int source(const Builder *builder, const char *point) {
        size_t length = strlen(SCRATCH);

        if (!path_is_below(point, SCRATCH))
                return open(point, O_PATH | O_CLOEXEC);
        if (!point[length])
                return fcntl(builder->scratch_below, F_DUPFD_CLOEXEC, 3);
        return openat(builder->scratch_below, point + length + 1, O_PATH | O_CLOEXEC);
}

/* ---- One mount ---- */

/* A whiteout in the layer: a hook must not get at a disk past its file system. */
static void hide_block_devices(int below, const char *upper) {
        int fd = openat(below, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
        char path[PATH_MAX];
        struct dirent *entry;

        while (folder && (entry = readdir(folder)))
                if (entry->d_type == DT_BLK && snprintf(path, sizeof path, "%s/%s", upper, entry->d_name) > 0)
                        (void)mknod(path, S_IFCHR, makedev(0, 0));
        if (folder)
                closedir(folder);
}

static int bind_tree(Builder *builder, int from, const char *point) {
        struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
        char path[PATH_MAX], descriptor[64];

        target(point, path);
        snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", from);
        bool top = strcmp(point, "/") == 0; /* what lies below it is looked at by itself */
        if (strcmp(point, SCRATCH) == 0 ? move_mount(from, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0
                                        : mount(descriptor, path, NULL, MS_BIND | (top ? 0 : MS_REC), NULL) < 0)
                return fail(builder, "binding", point);
        if (mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &read_only, sizeof read_only) < 0)
                return fail(builder, "making read-only (Linux 5.12) the mount", point);
        builder->closed = top ? NULL : point;
        return 0;
}

static void copy_attributes(int from, const char *upper) {
        struct stat was;

        if (fstat(from, &was) < 0)
                return;
        (void)!chown(upper, was.st_uid, was.st_gid);
        (void)!chmod(upper, was.st_mode & 07777);
}

static int add_overlay(Builder *builder, int from, const char *point) {
        char path[PATH_MAX], upper[64], work[64], options[256];
        size_t n = builder->made.n_points;

        snprintf(upper, sizeof upper, SCRATCH "/upper/%zu", n);
        snprintf(work, sizeof work, SCRATCH "/spare/%zu", n);
        snprintf(options, sizeof options, "lowerdir=.,upperdir=%s,workdir=%s,redirect_dir=on,index=off,metacopy=off",
                 upper, work);
        target(point, path);
        if (mkdir(upper, 0755) < 0 || mkdir(work, 0755) < 0 || fchdir(from) < 0)
                return fail(builder, "making a layer for", point);
        copy_attributes(from, upper);
        if (strcmp(point, "/dev") == 0)
                hide_block_devices(from, upper);
        int r = mount("overlay", path, "overlay", 0, options);
        if (r < 0)
                r = -errno;
        if (chdir(SCRATCH) < 0)
                return fail(builder, "leaving", point);
        if (r < 0 && strcmp(point, "/") != 0) {
                r = bind_tree(builder, from, point);
                return r < 0 ? r : note(builder, point, "is read-only: overlayfs refuses its file system");
        }
        if (r < 0) {
                errno = -r;
                return fail(builder, "an overlay over", point);
        }
        return texts_add(&builder->made.points, &builder->made.n_points, strdup(point));
}

/* Kernel settings are nobody's world: they are the machine's. */
static int close_knobs(Builder *builder) {
        static const char *const knobs[] = { "sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi" };
        struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
        char path[PATH_MAX];

        for (size_t i = 0; i < LENGTH_OF(knobs); i++) {
                snprintf(path, sizeof path, ROOT "/proc/%s", knobs[i]);
                if (mount(path, path, NULL, MS_BIND, NULL) < 0) {
                        if (errno == ENOENT)
                                continue;
                        return fail(builder, "binding", path);
                }
                if (mount_setattr(AT_FDCWD, path, 0, &read_only, sizeof read_only) < 0)
                        return fail(builder, "making read-only", path);
        }
        return 0;
}

/* Another first pid in each world: a number that differs is seen to be noise. */
static void set_first_pid(unsigned first) {
        int fd = first ? open(ROOT "/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC) : -1;

        if (fd >= 0)
                (void)!dprintf(fd, "%u", first);
        close_fd(fd);
}

static int add_fresh(Builder *builder, Layer layer, const char *point) {
        static const struct {
                const char *type, *options;
        } kinds[LAYER_NONE + 1] = { [LAYER_PROC] = { "proc", NULL },
                                    [LAYER_PTS] = { "devpts", "newinstance,ptmxmode=0666,mode=0620" },
                                    [LAYER_QUEUE] = { "mqueue", NULL } };
        char path[PATH_MAX];

        target(point, path);
        builder->closed = point;
        if (mount(kinds[layer].type, path, kinds[layer].type, MS_NOSUID | MS_NOEXEC, kinds[layer].options) < 0)
                return fail(builder, "a fresh mount on", point);
        if (layer != LAYER_PROC)
                return 0;
        set_first_pid(builder->plan->first_pid);
        return close_knobs(builder);
}

static int add(Builder *builder, const char *point, Layer layer) {
        struct stat what;

        if (layer == LAYER_NONE) {
                builder->closed = point;
                return 0;
        }
        if (layer == LAYER_PROC || layer == LAYER_PTS || layer == LAYER_QUEUE)
                return add_fresh(builder, layer, point);
        _cleanup_(closep) int from = source(builder, point);
        if (from < 0 && errno == ENOENT) /* it was unmounted since the table was read */
                return 0;
        if (from < 0 || fstat(from, &what) < 0)
                return errno == EACCES ? note(builder, point, "is left out: it may not be looked at")
                                       : fail(builder, "opening", point);
        if (layer == LAYER_OVERLAY && S_ISDIR(what.st_mode))
                return add_overlay(builder, from, point);
        int r = bind_tree(builder, from, point);
        return r == 0 && layer == LAYER_OVERLAY ? note(builder, point, "is read-only: it is a file that was bound") : r;
}

/* ---- All of them ---- */

static int by_point(const void *a, const void *b) {
        return path_compare((*(const Mount *const *)a)->point, (*(const Mount *const *)b)->point);
}

static int add_mounts(Builder *builder) {
        const Mounts *mounts = builder->plan->mounts;
        _cleanup_(freep) const Mount **order = calloc(mounts->n + 1, sizeof *order);
        size_t n = 0;
        int r = 0;

        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < mounts->n; i++)
                if (mounts_is_visible(mounts, &mounts->items[i]))
                        order[n++] = &mounts->items[i];
        qsort(order, n, sizeof *order, by_point);
        if (n == 0 || strcmp(order[0]->point, "/") != 0)
                r = add(builder, "/", LAYER_OVERLAY);
        for (size_t i = 0; r == 0 && i < n; i++)
                if (!builder->closed || !path_is_below(order[i]->point, builder->closed))
                        r = add(builder, order[i]->point, mount_layer(order[i]));
        return r;
}

static int bind_sockets(Builder *builder) {
        char path[PATH_MAX];
        struct stat what;

        for (char *const *socket = builder->plan->sockets; socket && *socket; socket++) {
                target(*socket, path);
                if (lstat(*socket, &what) < 0 || !S_ISSOCK(what.st_mode) || lstat(path, &what) < 0)
                        continue;
                if (mount(*socket, path, NULL, MS_BIND, NULL) < 0 && errno != ENOENT) /* it may be gone by now */
                        return fail(builder, "binding", *socket);
        }
        return 0;
}

static int begin(Builder *builder) {
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return fail(builder, "making private the mounts below", "/");
        builder->scratch_below = open_tree(AT_FDCWD, SCRATCH, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
        if (builder->scratch_below < 0)
                return fail(builder, "taking over", SCRATCH);
        if (mount("endwell-world", SCRATCH, "tmpfs", MS_NOSUID, "mode=0700") < 0)
                return fail(builder, "mounting a tmpfs on", SCRATCH);
        if (mkdir(ROOT, 0755) < 0 || mkdir(SCRATCH "/upper", 0700) < 0 || mkdir(SCRATCH "/spare", 0700) < 0)
                return fail(builder, "making folders in", SCRATCH);
        builder->made.layers = open(SCRATCH, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return builder->made.layers < 0 ? fail(builder, "opening", SCRATCH) : 0;
}

/* The old root lies over the new one at the same point for a moment, and goes from there (pivot_root(2)). */
static int move_in(Builder *builder) {
        if (chdir(ROOT) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
                return fail(builder, "moving into", ROOT);
        if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
                return fail(builder, "leaving", "the machine's own root");
        builder->made.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return builder->made.root < 0 ? fail(builder, "opening", "/") : 0;
}

int overlay_build(const OverlayPlan *plan, Overlay *ret, char **ret_why) {
        Builder builder = { .plan = plan, .scratch_below = -1, .made = { .root = -1, .layers = -1 }, .why = ret_why };
        mode_t mask = umask(0);
        int r = begin(&builder);

        if (r == 0)
                r = add_mounts(&builder);
        if (r == 0)
                r = bind_sockets(&builder);
        if (r == 0)
                r = move_in(&builder);
        umask(mask);
        close_fd(builder.scratch_below);
        if (r < 0) {
                overlay_done(&builder.made);
                return r;
        }
        *ret = builder.made;
        return 0;
}

void overlay_done(Overlay *overlay) {
        texts_free(overlay->points);
        texts_free(overlay->notes);
        close_fd(overlay->root);
        close_fd(overlay->layers);
        *overlay = (Overlay){ .root = -1, .layers = -1 };
}
