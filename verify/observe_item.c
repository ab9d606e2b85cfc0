/* observe_item.c - see observe_item.h. */
#include "verify/observe_item.h"
#include "base/take.h"
#include "verify/digest.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PIECE 65536

static void itemp(Item *item) {
        item_done(item);
}

static int add_line(Item *item, const char *text, size_t length) {
        char **lines = reallocarray(item->lines, item->n_lines + 1, sizeof *lines);

        if (!lines)
                return -ENOMEM;
        item->lines = lines;
        lines[item->n_lines] = strndup(text, length);
        return lines[item->n_lines] ? (item->n_lines++, 0) : -ENOMEM;
}

/* ---- Attributes ---- */

static bool is_of_programs(const char *attribute) {
        return strncmp(attribute, "user.", 5) == 0 || strcmp(attribute, "security.capability") == 0 ||
               strncmp(attribute, "system.posix_acl", 16) == 0;
}

static void put_attribute(FILE *out, const char *name, const unsigned char *value, size_t n) {
        fprintf(out, " %s=", name);
        for (size_t i = 0; i < n; i++)
                fprintf(out, value[i] > ' ' && value[i] < 127 ? "%c" : "\\x%02x", value[i]);
}

static void write_attribute(FILE *out, const char *path, const char *name) {
        unsigned char value[4096];
        ssize_t n = getxattr(path, name, value, sizeof value);

        put_attribute(out, name, value, n > 0 ? (size_t)n : 0);
}

/* Names come in the order in which they were set, which says nothing. */
static int by_name(const void *a, const void *b) {
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static void write_attributes(FILE *out, int fd) {
        char path[64], names[8192], *sorted[256];
        size_t n_sorted = 0;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = fd >= 0 ? listxattr(path, names, sizeof names) : 0;
        for (char *name = names; n > 0 && name < names + n && n_sorted < LENGTH_OF(sorted); name += strlen(name) + 1)
                if (is_of_programs(name))
                        sorted[n_sorted++] = name;
        qsort(sorted, n_sorted, sizeof *sorted, by_name);
        for (size_t i = 0; i < n_sorted; i++)
                write_attribute(out, path, sorted[i]);
}

static int set_attributes(Item *item, const struct stat *what, int fd) {
        size_t size = 0;
        FILE *out = open_memstream(&item->attributes, &size);

        if (!out)
                return -ENOMEM;
        fprintf(out, "%04o %u:%u", what->st_mode & 07777, what->st_uid, what->st_gid);
        write_attributes(out, fd);
        return fclose(out) == 0 ? 0 : -ENOMEM;
}

/* ---- Content ---- */

/* Of a file, or of a part of one. */
typedef struct Content {
        int fd;
        off_t offset;
        uint64_t size; /* at most */
} Content;

static ssize_t read_at(const Content *content, uint64_t at, char *bytes, size_t most) {
        if (at >= content->size)
                return 0;
        return pread(content->fd, bytes, content->size - at < most ? (size_t)(content->size - at) : most,
                     content->offset + (off_t)at);
}

static int set_digest(Item *item, const Content *content) {
        char bytes[PIECE], text[DIGEST_TEXT_MAX];
        Digest *digest = digest_new();
        ssize_t n;

        for (uint64_t at = 0; digest && (n = read_at(content, at, bytes, sizeof bytes)) > 0; at += (uint64_t)n)
                digest_add(digest, bytes, (size_t)n);
        digest_end(digest, text);
        item->kind = ITEM_BINARY;
        return add_line(item, text, strlen(text));
}

static int set_lines(Item *item, const char *text, size_t size) {
        const char *end = text + size;

        item->kind = ITEM_FILE;
        for (const char *at = text;;) {
                const char *stop = memchr(at, '\n', (size_t)(end - at));
                int r = add_line(item, at, (size_t)((stop ? stop : end) - at));
                if (r < 0 || !stop)
                        return r;
                at = stop + 1;
        }
}

static int set_text_or_digest(Item *item, const Content *content) {
        _cleanup_(freep) char *text = malloc(STATE_TEXT_MAX + 1);
        size_t size = 0;
        ssize_t n = 1;

        if (!text)
                return -ENOMEM;
        while (n > 0 && size <= STATE_TEXT_MAX) {
                n = read_at(content, size, text + size, STATE_TEXT_MAX + 1 - size);
                size += n > 0 ? (size_t)n : 0;
        }
        if (n < 0)
                return -errno;
        return size > STATE_TEXT_MAX || memchr(text, 0, size) ? set_digest(item, content) : set_lines(item, text, size);
}

static int set_content(Item *item, int folder, const char *name) {
        _cleanup_(closep) int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOATIME);

        if (fd < 0 && errno == EPERM) /* O_NOATIME is for the owner */
                fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        return fd < 0 ? -errno : set_text_or_digest(item, &(Content){ fd, 0, UINT64_MAX });
}

static int set_target(Item *item, int folder, const char *name) {
        char path[PATH_MAX];
        ssize_t n = readlinkat(folder, name, path, sizeof path);

        item->kind = ITEM_LINK;
        return n < 0 ? -errno : add_line(item, path, (size_t)n);
}

static int set_special(Item *item, const struct stat *what) {
        char text[64];

        item->kind = ITEM_SPECIAL;
        if (S_ISFIFO(what->st_mode) || S_ISSOCK(what->st_mode))
                snprintf(text, sizeof text, "%s", S_ISFIFO(what->st_mode) ? "fifo" : "socket");
        else
                snprintf(text, sizeof text, "%s device %u:%u", S_ISBLK(what->st_mode) ? "block" : "character",
                         major(what->st_rdev), minor(what->st_rdev));
        return add_line(item, text, strlen(text));
}

static int set_all(Item *item, int folder, const char *name, const struct stat *what) {
        if (S_ISDIR(what->st_mode)) {
                item->kind = ITEM_DIRECTORY;
                return 0;
        }
        if (S_ISREG(what->st_mode))
                return set_content(item, folder, name);
        return S_ISLNK(what->st_mode) ? set_target(item, folder, name) : set_special(item, what);
}

/* Without privileges a run can shut us out; that is a difference, too. */
static int set_closed(Item *item) {
        static const char text[] = "may not be looked at";

        item->kind = ITEM_SPECIAL;
        if (!item->attributes && !(item->attributes = strdup("")))
                return -ENOMEM;
        return add_line(item, text, strlen(text));
}

int observe_item(int folder, const char *name, const char *key, Item *ret) {
        _cleanup_(itemp) Item item = { .key = strdup(key) };
        _cleanup_(closep) int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat what;

        if (!item.key)
                return -ENOMEM;
        if (fd < 0 && errno != EACCES)
                return errno == ENOTDIR ? -ENOENT : -errno;
        int r = fd < 0 ? set_closed(&item) : fstat(fd, &what) < 0 ? -errno : 0;
        if (r == 0 && fd >= 0)
                r = set_attributes(&item, &what, S_ISLNK(what.st_mode) ? -1 : fd);
        if (r == 0 && fd >= 0)
                r = set_all(&item, folder, name, &what);
        if (r == -EACCES)
                r = set_closed(&item);
        if (r < 0)
                return r;
        *ret = item;
        item = (Item){ 0 };
        return 0;
}

int observe_saved(const struct stat *what, char *const *attributes, int contents, uint64_t offset, uint64_t size,
                  const char *target, const char *key, Item *ret) {
        _cleanup_(itemp) Item item = { .key = strdup(key) };
        size_t unused = 0;
        FILE *out = open_memstream(&item.attributes, &unused);
        int r = item.key && out ? 0 : -ENOMEM;

        if (out) {
                fprintf(out, "%04o %u:%u", what->st_mode & 07777, what->st_uid, what->st_gid);
                for (; attributes && attributes[0]; attributes += 2)
                        if (is_of_programs(attributes[0]))
                                put_attribute(out, attributes[0], (const unsigned char *)attributes[1],
                                              strlen(attributes[1]));
                r = fclose(out) == 0 ? r : -ENOMEM;
        }
        if (r == 0 && S_ISREG(what->st_mode))
                r = set_text_or_digest(&item, &(Content){ contents, (off_t)offset, size });
        else if (r == 0 && S_ISLNK(what->st_mode)) {
                item.kind = ITEM_LINK;
                r = add_line(&item, target, strlen(target));
        } else if (r == 0)
                r = set_all(&item, -1, "", what);
        if (r < 0)
                return r;
        *ret = item;
        item = (Item){ 0 };
        return 0;
}

int observe_absent(const char *key, Item *ret) {
        Item item = { .kind = ITEM_ABSENT, .key = strdup(key), .attributes = strdup("") };

        if (!item.key || !item.attributes) {
                item_done(&item);
                return -ENOMEM;
        }
        *ret = item;
        return 0;
}

bool observe_items_are_equal(const Item *left, const Item *right) {
        if (left->kind != right->kind || left->n_lines != right->n_lines ||
            strcmp(left->attributes, right->attributes) != 0)
                return false;
        for (size_t i = 0; i < left->n_lines; i++)
                if (strcmp(left->lines[i], right->lines[i]) != 0)
                        return false;
        return true;
}
