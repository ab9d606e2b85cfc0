/* mounts.h - reads a mount table, and decides what becomes of each mount in an overlay world.
 *
 * Pure but for malloc. Source: proc(5), /proc/PID/mountinfo. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct Mount {
        int id, parent;
        bool read_only;
        char *root, *point, *type; /* unescaped */
} Mount;

typedef struct Mounts {
        Mount *items;
        size_t n;
} Mounts;

/* 0; -EBADMSG: not such a table; -ENOMEM. */
int mounts_parse(const char *text, Mounts *ret);
void mounts_done(Mounts *mounts);
/* The mount that a look-up of `path` (absolute, without links) ends in; NULL: none of the table. */
const Mount *mounts_at(const Mounts *mounts, const char *path);
/* Whether it can be reached by its path: nothing lies over it. */
bool mounts_is_visible(const Mounts *mounts, const Mount *mount);

typedef enum Layer {
        LAYER_OVERLAY, /* what is written goes into a layer of the world's own */
        LAYER_TREE,    /* bound with everything below it, and read-only: the kernel's own knobs, or read-only already */
        LAYER_PROC,    /* a fresh one, of the world's own processes */
        LAYER_PTS,
        LAYER_QUEUE,
        LAYER_NONE, /* left out: what it shows belongs to somebody else, or lies below a mount that is not taken over */
} Layer;

Layer mount_layer(const Mount *mount);

/* Paths are compared by components: "/run" holds "/run" and "/run/x", never "/runner". */
bool path_is_below(const char *path, const char *top);
int path_compare(const char *left, const char *right); /* a folder, then all that is in it, then the next */
