/* mounts.c - see mounts.h. */
#include "verify/mounts.h"
#include "base/take.h"
#include <errno.h>
#include <string.h>

/* ---- Reading ---- */

/* "\040" is a blank. */
static void unescape(char *text) {
        char *to = text;

        for (const char *from = text; *from; from++)
                if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] && from[3]) {
                        *to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
                        from += 3;
                } else
                        *to++ = *from;
        *to = 0;
}

static bool has_option(const char *options, const char *option) {
        size_t length = strlen(option);

        for (const char *at = options; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
                if (strncmp(at, option, length) == 0 && (at[length] == ',' || at[length] == 0))
                        return true;
        return false;
}

static char *next_word(char **rest) {
        char *word = *rest, *end;

        if (!word)
                return NULL;
        end = strchr(word, ' ');
        if (end)
                *end++ = 0;
        *rest = end;
        return word;
}

/* "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
static int parse_line(char *line, Mount *ret) {
        char *words[6], *word, *rest = line;

        for (size_t i = 0; i < LENGTH_OF(words); i++)
                if (!(words[i] = next_word(&rest)))
                        return -EBADMSG;
        while ((word = next_word(&rest)) && strcmp(word, "-") != 0)
                ;
        char *type = next_word(&rest), *source = next_word(&rest), *super = next_word(&rest);
        if (!type || !source || words[4][0] != '/')
                return -EBADMSG;
        Mount mount = { .id = (int)strtol(words[0], NULL, 10), .parent = (int)strtol(words[1], NULL, 10) };
        mount.read_only = has_option(words[5], "ro") || (super && has_option(super, "ro"));
        unescape(words[3]);
        unescape(words[4]);
        mount.root = strdup(words[3]);
        mount.point = strdup(words[4]);
        mount.type = strdup(type);
        *ret = mount;
        return mount.root && mount.point && mount.type ? 0 : -ENOMEM;
}

static void mountsp(Mounts *mounts) {
        mounts_done(mounts);
}

int mounts_parse(const char *text, Mounts *ret) {
        _cleanup_(freep) char *copy = strdup(text);
        _cleanup_(mountsp) Mounts mounts = { 0 };
        char *line, *rest = copy;

        if (!copy)
                return -ENOMEM;
        while ((line = strsep(&rest, "\n")) && *line) {
                Mount *items = reallocarray(mounts.items, mounts.n + 1, sizeof *items);
                if (!items)
                        return -ENOMEM;
                mounts.items = items;
                items[mounts.n] = (Mount){ 0 };
                int r = parse_line(line, &items[mounts.n++]);
                if (r < 0)
                        return r;
        }
        *ret = mounts;
        mounts = (Mounts){ 0 };
        return 0;
}

void mounts_done(Mounts *mounts) {
        for (size_t i = 0; i < mounts->n; i++) {
                free(mounts->items[i].root);
                free(mounts->items[i].point);
                free(mounts->items[i].type);
        }
        free(mounts->items);
        *mounts = (Mounts){ 0 };
}

/* ---- Looking up ---- */

static bool has_parent(const Mounts *mounts, const Mount *mount) {
        for (size_t i = 0; i < mounts->n; i++)
                if (mounts->items[i].id == mount->parent && &mounts->items[i] != mount)
                        return true;
        return false;
}

/* The mount that lies at this front of a path, above `below` (NULL: where the table begins). */
static const Mount *over(const Mounts *mounts, const Mount *below, const char *path, size_t length) {
        for (size_t i = 0; i < mounts->n; i++) {
                const Mount *mount = &mounts->items[i];
                if (strlen(mount->point) != length || memcmp(mount->point, path, length) != 0)
                        continue;
                if (below ? mount->parent == below->id && mount != below : !has_parent(mounts, mount))
                        return mount;
        }
        return NULL;
}

static const Mount *topmost(const Mounts *mounts, const Mount *at, const char *path, size_t length) {
        const Mount *next;

        for (size_t steps = 0; steps <= mounts->n && (next = over(mounts, at, path, length)); steps++)
                at = next;
        return at;
}

const Mount *mounts_at(const Mounts *mounts, const char *path) {
        const Mount *at = topmost(mounts, NULL, "/", 1);

        for (size_t i = 1; path[0] && path[i - 1]; i++)
                if (i > 1 && (path[i] == '/' || path[i] == 0))
                        at = topmost(mounts, at, path, i);
        return at;
}

bool mounts_is_visible(const Mounts *mounts, const Mount *mount) {
        return mounts_at(mounts, mount->point) == mount;
}

bool path_is_below(const char *path, const char *top) {
        size_t length = strlen(top);

        if (length == 1)
                return true;
        return strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* '/' is the least of all letters. */
int path_compare(const char *left, const char *right) {
        while (*left && *left == *right) {
                left++;
                right++;
        }
        int l = *left == '/' ? 1 : (unsigned char)*left, r = *right == '/' ? 1 : (unsigned char)*right;
        return l - r;
}

/* ---- What becomes of it ---- */

Layer mount_layer(const Mount *mount) {
        static const char *const knobs[] = { "sysfs",     "cgroup",  "cgroup2", "securityfs", "debugfs",
                                             "tracefs",   "bpf",     "pstore",  "configfs",   "efivarfs",
                                             "selinuxfs", "smackfs", "fusectl", "rpc_pipefs", "binfmt_misc",
                                             "hugetlbfs", "nsfs",    "resctrl" };

        if (strcmp(mount->type, "proc") == 0)
                return strcmp(mount->point, "/proc") == 0 ? LAYER_PROC : LAYER_NONE;
        if (strcmp(mount->type, "devpts") == 0)
                return LAYER_PTS;
        if (strcmp(mount->type, "mqueue") == 0)
                return LAYER_QUEUE;
        if (strcmp(mount->type, "autofs") == 0)
                return LAYER_NONE;
        for (size_t i = 0; i < LENGTH_OF(knobs); i++)
                if (strcmp(mount->type, knobs[i]) == 0)
                        return LAYER_TREE;
        return mount->read_only ? LAYER_TREE : LAYER_OVERLAY;
}
