/* cgroup_place.c - see cgroup_place.h. */
#include "supervisor/cgroup_place.h"
#include "base/kin.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MEMBERSHIP_MAX                                                                                                 \
        16384   /* of /proc/PID/cgroup: fourteen hierarchies and their paths, of 200 bytes in Kubernetes               \
                 */
#define FOUND 1 /* among ourselves: the answer of a walk that can stop */

/* Whether `word` stands in a list with commas between. */
static bool has_word(const char *list, size_t length, const char *word) {
        size_t n = strlen(word);
        for (const char *at = list, *end = list + length; at < end;) {
                const char *comma = memchr(at, ',', (size_t)(end - at));
                size_t m = (size_t)((comma ? comma : end) - at);
                if (m == n && memcmp(at, word, n) == 0)
                        return true;
                at += m + 1;
        }
        return false;
}

/* HIERARCHY:CONTROLLERS:PATH. That of version 2 is number 0 and names none. */
static bool is_line_of(const char *controllers, size_t length, const char *controller) {
        return controller ? has_word(controllers, length, controller) : length == 0;
}

int cgroup_place_parse_path(const char *text, const char *controller, char *ret_path, size_t size) {
        for (const char *line = text; *line;) {
                size_t length = strcspn(line, "\n");
                const char *controllers = memchr(line, ':', length);
                const char *path =
                        controllers ? memchr(controllers + 1, ':', length - (size_t)(controllers + 1 - line)) : NULL;
                if (path && path[1] == '/' &&
                    is_line_of(controllers + 1, (size_t)(path - controllers - 1), controller)) {
                        size_t n = length - (size_t)(path + 1 - line);
                        if (n >= size)
                                return -ENAMETOOLONG;
                        memcpy(ret_path, path + 1, n);
                        ret_path[n] = '\0';
                        return 0;
                }
                line += length + (line[length] == '\n');
        }
        return -ENOENT;
}

int cgroup_place_path(pid_t pid, const char *controller, char *ret_path, size_t size) {
        char name[32], text[MEMBERSHIP_MAX];
        size_t n = 0;
        if (pid == 0)
                snprintf(name, sizeof name, "/proc/self/cgroup");
        else
                snprintf(name, sizeof name, "/proc/%d/cgroup", (int)pid);
        _cleanup_(closep) int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ESRCH : -errno;
        for (ssize_t m; n < sizeof text - 1 && (m = read(fd, text + n, sizeof text - 1 - n)) != 0; n += (size_t)m)
                if (m < 0)
                        return -errno;
        text[n] = '\0';
        return cgroup_place_parse_path(text, controller, ret_path, size);
}

/* The fields of a line of mountinfo that count here: proc(5). */
typedef struct Mount {
        const char *root, *point, *type, *options; /* of the file system, not of the mount */
        size_t root_length, point_length, type_length, options_length;
} Mount;

static bool next_word(const char **at, const char **ret_word, size_t *ret_length) {
        *at += strspn(*at, " ");
        *ret_word = *at;
        *ret_length = strcspn(*at, " \n");
        *at += *ret_length;
        return *ret_length > 0;
}

static bool split(const char *line, Mount *ret) {
        const char *word;
        size_t length;
        for (int i = 0; i < 3; i++) /* its number, its parent's, the device's */
                if (!next_word(&line, &word, &length))
                        return false;
        if (!next_word(&line, &ret->root, &ret->root_length) || !next_word(&line, &ret->point, &ret->point_length))
                return false;
        do
                if (!next_word(&line, &word, &length))
                        return false;
        while (length != 1 || *word != '-');
        return next_word(&line, &ret->type, &ret->type_length) && next_word(&line, &word, &length) &&
               next_word(&line, &ret->options, &ret->options_length);
}

static bool is_mount_of(const Mount *mount, const char *controller) {
        const char *type = controller ? "cgroup" : "cgroup2";
        return mount->type_length == strlen(type) && memcmp(mount->type, type, mount->type_length) == 0 &&
               (!controller || has_word(mount->options, mount->options_length, controller));
}

/* Blanks, tabs, line breaks and backslashes stand as \ooo. */
static int unescape(const char *text, size_t length, char *ret, size_t size) {
        size_t n = 0;
        for (size_t i = 0; i < length; n++) {
                if (n + 1 >= size)
                        return -ENAMETOOLONG;
                if (text[i] == '\\' && i + 3 < length) {
                        ret[n] = (char)((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 | (text[i + 3] - '0'));
                        i += 4;
                } else
                        ret[n] = text[i++];
        }
        ret[n] = '\0';
        return (int)n;
}

/* What of `path` lies below the mount's root; NULL: it is not there. */
static const char *below(const char *path, const char *root) {
        size_t n = strlen(root);
        if (strcmp(root, "/") == 0)
                return strncmp(path, "/..", 3) == 0 ? NULL : path; /* "/..": above what we may see */
        if (strncmp(path, root, n) != 0 || (path[n] != '/' && path[n] != '\0'))
                return NULL;
        return path + n;
}

int cgroup_place_parse_mount(const char *line, const char *controller, const char *path, char *ret_directory,
                             size_t size) {
        char root[PATH_MAX], point[PATH_MAX];
        Mount mount;
        if (!split(line, &mount) || !is_mount_of(&mount, controller))
                return -ENOENT;
        if (unescape(mount.root, mount.root_length, root, sizeof root) < 0 ||
            unescape(mount.point, mount.point_length, point, sizeof point) < 0)
                return -ENAMETOOLONG;
        const char *rest = below(path, root);
        if (!rest)
                return -ENOENT;
        int n = snprintf(ret_directory, size, "%s%s", point, strcmp(rest, "/") == 0 ? "" : rest);
        return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int is_us(void *userdata, pid_t pid) {
        return pid == *(pid_t *)userdata ? FOUND : 0;
}

/* Mounts may hide one another, and paths be those of a namespace that we left: only the list of who is in it proves
 * that a directory is our group. */
static bool is_our_group(const char *directory) {
        char path[PATH_MAX + 16];
        pid_t us = getpid();
        snprintf(path, sizeof path, "%s/cgroup.procs", directory);
        return kin_list(path, is_us, &us) == FOUND;
}

static void close_filep(FILE **file) {
        if (*file)
                fclose(*file);
}

int cgroup_place_find(const char *controller, CgroupPlace *ret) {
        _cleanup_(close_filep) FILE *file = fopen("/proc/self/mountinfo", "re");
        _cleanup_(freep) char *line = NULL;
        size_t size = 0;
        CgroupPlace place;

        if (!file)
                return -errno;
        int r = cgroup_place_path(0, controller, place.path, sizeof place.path);
        if (r < 0)
                return r;
        r = -ENOENT;
        while (r < 0 && getline(&line, &size, file) >= 0) {
                r = cgroup_place_parse_mount(line, controller, place.path, place.directory, sizeof place.directory);
                if (r == 0 && !is_our_group(place.directory))
                        r = -ENOENT;
        }
        if (r == 0)
                *ret = place;
        return r;
}
