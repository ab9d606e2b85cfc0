/* observe_files.c - see observe_files.h. */
#include "verify/observe_files.h"
#include "base/take.h"
#include "verify/folder.h"
#include "verify/observe_item.h"
#include "verify/texts.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

typedef struct Names {
        char **items;
        size_t n;
} Names;

typedef struct Place {
        int layer, world, machine; /* -1: not there; a layer of -1: all names of the other two count */
} Place;

static int walk(const Place *place, const char *path, State *state);

/* ---- Names ---- */

static void namesp(Names *names) {
        texts_free(names->items);
}

static int add_names(int folder, Names *names) {
        int fd = folder >= 0 ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *entry;
        int r = 0;

        if (!stream)
                return folder < 0 || errno == EACCES ? 0 : -errno; /* the run has shut us out: see observe_item() */
        while (r == 0 && (entry = folder_next(stream)))
                r = texts_add(&names->items, &names->n, strdup(entry->d_name));
        closedir(stream);
        return r;
}

static int by_name(const void *a, const void *b) {
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- One name ---- */

static int open_folder(int folder, const char *name) {
        return folder == -1 ? -1 : openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opaque, or moved here from elsewhere: what the machine has under this name does not shine through. */
static bool is_of_its_own(int layer) {
        char value[PATH_MAX];

        return fgetxattr(layer, "trusted.overlay.opaque", value, sizeof value) > 0 ||
               fgetxattr(layer, "trusted.overlay.redirect", value, sizeof value) > 0;
}

/* Block devices are hidden from a world (verify/overlay.h). */
static bool is_hidden(int folder, const char *name) {
        struct stat what;
        return fstatat(folder, name, &what, AT_SYMLINK_NOFOLLOW) == 0 && S_ISBLK(what.st_mode);
}

static int compare(int world, int machine, const char *name, const char *key, State *state, bool *ret_gone) {
        Item now = { 0 }, then = { 0 };
        int is = world == -1 ? -ENOENT : observe_item(world, name, key, &now);
        int was = machine == -1 ? -ENOENT : observe_item(machine, name, key, &then);
        int r = is < 0 && is != -ENOENT ? is : 0;

        *ret_gone = is == -ENOENT;
        if (is == 0 && !(was == 0 && observe_items_are_equal(&now, &then)))
                r = state_add(state, &now);
        if (is == -ENOENT && was != -ENOENT && !is_hidden(machine, name)) {
                r = observe_absent(key, &now);
                if (r == 0)
                        r = state_add(state, &now);
        }
        item_done(&now);
        item_done(&then);
        return r;
}

static int look(const Place *above, const char *name, const char *path, State *state) {
        char key[PATH_MAX];
        bool gone;

        if (snprintf(key, sizeof key, "%s/%s", strcmp(path, "/") == 0 ? "" : path, name) >= (int)sizeof key)
                return -ENAMETOOLONG;
        int r = compare(above->world, above->machine, name, key, state, &gone);
        if (r < 0 || gone)
                return r;
        _cleanup_(closep) int world = open_folder(above->world, name);
        if (world < 0)
                return errno == ENOTDIR || errno == ELOOP || errno == EACCES ? 0 : -errno;
        _cleanup_(closep) int machine = open_folder(above->machine, name);
        _cleanup_(closep) int layer = open_folder(above->layer, name);
        bool all = layer < 0 || machine < 0 || is_of_its_own(layer);
        return walk(&(Place){ all ? -1 : layer, world, machine }, key, state);
}

static int walk(const Place *place, const char *path, State *state) {
        _cleanup_(namesp) Names names = { 0 };
        int r = place->layer >= 0 ? add_names(place->layer, &names) : add_names(place->world, &names);

        if (r == 0 && place->layer < 0)
                r = add_names(place->machine, &names);
        if (names.n > 0)
                qsort(names.items, names.n, sizeof *names.items, by_name);
        for (size_t i = 0; r == 0 && i < names.n; i++)
                if (i == 0 || strcmp(names.items[i], names.items[i - 1]) != 0)
                        r = look(place, names.items[i], path, state);
        return r;
}

/* ---- For the others ---- */

int observe_files(int layer, int world, int machine, const char *point, State *state) {
        bool gone;
        /* The folder itself: its mode and owner may have been changed. */
        int r = strcmp(point, "/") == 0 ? 0 : compare(world, machine, ".", point, state, &gone);

        return r < 0 ? r : walk(&(Place){ layer, world, machine }, point, state);
}

int observe_path(int world, int machine, const char *name, const char *key, State *state) {
        bool gone;
        int r = compare(world, machine, name, key, state, &gone);

        if (r < 0 || gone)
                return r;
        _cleanup_(closep) int inside = open_folder(world, name);
        _cleanup_(closep) int outside = open_folder(machine, name);
        return inside < 0 ? 0 : walk(&(Place){ -1, inside, outside }, key, state);
}
