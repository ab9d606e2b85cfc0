/* control_groups.c - see control_groups.h. */
#include "supervisor/control_groups.h"
#include "base/clock.h"
#include "base/kin.h"
#include "base/take.h"
#include "supervisor/cgroup_tree.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define LEAF_MAX    96 /* of a leaf's name, and of a file's in it */
#define NAMES_TRIED 8
#define BUSY_MAX    8 /* leaves that a tidying finds still in use, before it leaves the rest for the next one */

typedef struct Leaf {
        bool made, retired, listed; /* the last: in the list of the retired */
} Leaf;

struct ControlGroups {
        const Crew *crew;
        char *directory, *path; /* of the group that holds the leaves; the second as /proc/PID/cgroup has it */
        char *leaf_directory;   /* room for the answer of control_groups_leaf() */
        size_t leaf_size;
        int fd; /* of the directory; its lock says that we live */
        uint32_t n_members, n_retired, next_tidied;
        Leaf *leaves;
        uint32_t *retired; /* numbers of members */
};

/* ---- Birth ---- */

static bool has_attribute(const char *directory, const char *name) {
        char value[8];
        return getxattr(directory, name, value, sizeof value) >= 0 || errno == ERANGE;
}

/* systemd writes on the groups of its units which run they are of, and whether they were handed over: Delegate=yes. In
 * those that were not, it alone makes groups. */
static bool is_systemds_own(const char *directory) {
        bool is_unit =
                has_attribute(directory, "user.invocation_id") || has_attribute(directory, "trusted.invocation_id");
        return is_unit && !has_attribute(directory, "user.delegate") && !has_attribute(directory, "trusted.delegate");
}

static uint32_t random_number(void) {
        uint32_t number;
        if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number)
                return number;
        return (uint32_t)(clock_now_usec() * 2654435761U) ^ (uint32_t)getpid(); /* one that is taken is tried again */
}

/* A new group in `parent` that is locked by us. Its descriptor, or -errno. Another start may take it for one that was
 * left, and be about to remove it. */
static int make_group(const char *parent, char ret_name[static LEAF_MAX]) {
        _cleanup_(closep) int parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = parent_fd < 0 ? -errno : -EEXIST;
        for (int i = 0; i < NAMES_TRIED && (r == -EEXIST || r == -ENOENT || r == -EBUSY); i++) {
                snprintf(ret_name, LEAF_MAX, CGROUP_TREE_PREFIX "%08x", random_number());
                r = mkdirat(parent_fd, ret_name, 0755) < 0 ? -errno : cgroup_tree_lock(parent_fd, ret_name);
        }
        return r;
}

/* In a group of which we may list nobody new, no child can be put into another one either. */
static int may_use(const char *directory, const char **ret_problem) {
        char path[PATH_MAX + 16];
        *ret_problem = "systemd has not handed our group over (Delegate=yes)";
        if (is_systemds_own(directory))
                return -EPERM;
        snprintf(path, sizeof path, "%s/cgroup.procs", directory);
        *ret_problem = "our group cannot be written";
        return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static int name_all(ControlGroups *groups, const CgroupPlace *place, const char *name) {
        if (asprintf(&groups->directory, "%s/%s", place->directory, name) < 0)
                groups->directory = NULL;
        if (asprintf(&groups->path, "%s/%s/", strcmp(place->path, "/") == 0 ? "" : place->path, name) < 0)
                groups->path = NULL;
        if (!groups->directory || !groups->path)
                return -ENOMEM;
        groups->leaf_size = strlen(groups->directory) + LEAF_MAX;
        groups->leaf_directory = malloc(groups->leaf_size);
        groups->leaves = calloc(groups->n_members + 1UL, sizeof *groups->leaves);
        groups->retired = calloc(groups->n_members + 1UL, sizeof *groups->retired);
        return groups->leaf_directory && groups->leaves && groups->retired ? 0 : -ENOMEM;
}

static void groups_freep(ControlGroups **groups) {
        control_groups_free(*groups);
}

int control_groups_new(ControlGroups **ret, const Crew *crew, const CgroupPlace *ours, const char **ret_problem) {
        char name[LEAF_MAX];

        int r = may_use(ours->directory, ret_problem);
        if (r < 0)
                return r;
        *ret_problem = "a group in ours cannot be made";
        cgroup_tree_sweep(ours->directory);
        _cleanup_(groups_freep) ControlGroups *groups = calloc(1, sizeof *groups);
        if (!groups)
                return -ENOMEM;
        *groups = (ControlGroups){ .crew = crew, .n_members = (uint32_t)crew_size(crew) };
        groups->fd = make_group(ours->directory, name);
        if (groups->fd < 0)
                return groups->fd;
        r = name_all(groups, ours, name);
        if (r < 0)
                return r;
        *ret = TAKE(groups);
        return 0;
}

ControlGroups *control_groups_free(ControlGroups *groups) {
        if (!groups)
                return NULL;
        if (groups->fd >= 0)
                cgroup_tree_remove_below(groups->fd);
        if (groups->directory)
                (void)rmdir(groups->directory); /* somebody lives on in it: the next endwell here removes it */
        close_fd(groups->fd);
        free(groups->directory);
        free(groups->path);
        free(groups->leaf_directory);
        free(groups->leaves);
        free(groups->retired);
        free(groups);
        return NULL;
}

const char *control_groups_directory(const ControlGroups *groups) {
        return groups->directory;
}

/* ---- Leaves ---- */

/* NUMBER.NAME, and a file in it: numbers are found fast, names are for people, and together they are no name that the
 * kernel has for a file of its own. */
static void name_leaf(const ControlGroups *groups, uint32_t member, const char *file, char ret_name[static LEAF_MAX]) {
        char name[64];
        crew_name(groups->crew, member, name, sizeof name);
        snprintf(ret_name, LEAF_MAX, "%u.%s%s", (unsigned)member, name, file);
}

int control_groups_leaf(ControlGroups *groups, uint32_t member, const char **ret_directory) {
        Leaf *leaf = &groups->leaves[member];
        char name[LEAF_MAX];
        name_leaf(groups, member, "", name);
        bool used = leaf->made && !cgroup_tree_remove(groups->fd, name);
        if (!used && mkdirat(groups->fd, name, 0755) < 0)
                return -errno;
        leaf->made = true;
        leaf->retired = false;
        snprintf(groups->leaf_directory, groups->leaf_size, "%s/%s", groups->directory, name);
        *ret_directory = groups->leaf_directory;
        return used ? CONTROL_GROUPS_USED : 0;
}

uint32_t control_groups_owner_of(const ControlGroups *groups, pid_t pid) {
        char path[PATH_MAX], *end;
        size_t length = strlen(groups->path);
        if (cgroup_place_path(pid, NULL, path, sizeof path) < 0 || strncmp(path, groups->path, length) != 0)
                return CREW_NOBODY;
        unsigned long member = strtoul(path + length, &end, 10);
        return *end == '.' && end > path + length && member < groups->n_members ? (uint32_t)member : CREW_NOBODY;
}

int control_groups_each(ControlGroups *groups, uint32_t member, int (*each)(void *userdata, pid_t pid),
                        void *userdata) {
        char name[LEAF_MAX];
        if (!groups->leaves[member].made)
                return -ENOENT;
        name_leaf(groups, member, "/cgroup.procs", name);
        snprintf(groups->leaf_directory, groups->leaf_size, "%s/%s", groups->directory, name);
        return kin_list(groups->leaf_directory, each, userdata);
}

int control_groups_kill(ControlGroups *groups, uint32_t member) {
        char name[LEAF_MAX];
        if (!groups->leaves[member].made)
                return -ENOENT;
        name_leaf(groups, member, "/cgroup.kill", name);
        _cleanup_(closep) int fd = openat(groups->fd, name, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return write(fd, "1", 1) < 0 ? -errno : 0;
}

void control_groups_retire(ControlGroups *groups, uint32_t member) {
        Leaf *leaf = &groups->leaves[member];
        if (!leaf->made || leaf->retired)
                return;
        leaf->retired = true;
        if (!leaf->listed)
                groups->retired[groups->n_retired++] = member;
        leaf->listed = true;
}

/* True: nothing more is to be done about it. */
static bool tidy_leaf(ControlGroups *groups, uint32_t member) {
        char name[LEAF_MAX];
        if (!groups->leaves[member].retired)
                return true; /* its next run has begun meanwhile */
        name_leaf(groups, member, "", name);
        if (!cgroup_tree_remove(groups->fd, name))
                return false;
        groups->leaves[member].made = groups->leaves[member].retired = false;
        return true;
}

void control_groups_tidy(ControlGroups *groups) {
        unsigned busy = 0;
        for (uint32_t n = groups->n_retired; n > 0 && busy < BUSY_MAX; n--) {
                uint32_t i = groups->next_tidied++ % groups->n_retired, member = groups->retired[i];
                if (!tidy_leaf(groups, member)) {
                        busy++;
                        continue;
                }
                groups->leaves[member].listed = false;
                groups->retired[i] = groups->retired[--groups->n_retired];
        }
}
