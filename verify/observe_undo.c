/* observe_undo.c - see observe_undo.h. */
#include "verify/observe_undo.h"
#include "base/take.h"
#include "verify/folder.h"
#include "verify/mounts.h"
#include "verify/observe_files.h"
#include "verify/observe_item.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ATTRIBUTES_MAX 64

/* What a path was before the Setup: its first line; but below a folder that was moved there later, nothing. */
typedef struct Was {
        const char *path;
        const UndoRecord *record; /* NULL: nothing */
} Was;

/* ---- What it was ---- */

static bool is_folder(const UndoRecord *record) {
        return S_ISDIR(record->mode);
}

static bool came_with_folder(const UndoLines *lines, size_t before, const char *path) {
        for (size_t i = 0; i < before; i++)
                if (lines->records[i].kind == UNDO_MOVED && is_folder(&lines->records[i]) &&
                    path_is_below(path, lines->records[i].target))
                        return true;
        return false;
}

static int by_path(const void *a, const void *b) {
        return path_compare(((const Was *)a)->path, ((const Was *)b)->path);
}

/* Quadratic in the log's lines, which are as many as the run has effects. */
static size_t collect(const UndoLines *lines, Was *ret) {
        size_t n = 0;

        for (size_t i = 0; i < lines->n; i++) {
                const UndoRecord *record = &lines->records[i];
                bool known = record->kind >= UNDO_MOVED;
                for (size_t k = 0; k < n && !known; k++)
                        known = strcmp(ret[k].path, record->path) == 0;
                if (known)
                        continue;
                bool nothing = record->kind == UNDO_ABSENT || came_with_folder(lines, i, record->path);
                ret[n++] = (Was){ record->path, nothing ? NULL : record };
        }
        qsort(ret, n, sizeof *ret, by_path);
        return n;
}

/* "user.x=6162,user.y=" in place to names and values. */
static void split_attributes(char *text, char *ret[static ATTRIBUTES_MAX + 1]) {
        char *word;
        size_t n = 0;

        while (n + 2 <= ATTRIBUTES_MAX && (word = strsep(&text, ","))) {
                char *value = strchr(word, '='), *to = value;
                unsigned byte;
                if (!value)
                        break;
                *value++ = 0;
                ret[n++] = word;
                ret[n++] = value;
                for (to = value; sscanf(value, "%2x", &byte) == 1; value += 2)
                        *to++ = (char)byte;
                *to = 0;
        }
        ret[n] = NULL;
}

static int was_item(const UndoLog *log, const UndoRecord *record, Item *ret) {
        struct stat what = { .st_mode = record->mode, .st_uid = record->uid, .st_gid = record->gid };
        _cleanup_(freep) char *text = record->attributes ? strdup(record->attributes) : NULL;
        char *attributes[ATTRIBUTES_MAX + 1];

        split_attributes(text, attributes);
        return observe_saved(&what, attributes, log->contents, record->offset, record->size, record->target,
                             record->path, ret);
}

/* ---- What it is ---- */

/* Where a link stands in for a folder now, what it leads to is another path's. */
static bool stands_in_folders(const char *path) {
        _cleanup_(freep) char *copy = strdup(path);
        bool folders = copy;
        struct stat now;

        for (char *slash = copy; folders && *slash && (slash = strchr(slash + 1, '/')); *slash = '/') {
                *slash = 0;
                folders = lstat(copy, &now) == 0 && S_ISDIR(now.st_mode);
        }
        return folders;
}

static int look_at_known(const UndoLog *log, const UndoRecord *record, State *state, bool *ret_gone) {
        Item now = { 0 }, then = { 0 };
        int is = stands_in_folders(record->path) ? observe_item(AT_FDCWD, record->path, record->path, &now) : -ENOENT;
        int r = is < 0 && is != -ENOENT ? is : was_item(log, record, &then);

        *ret_gone = is == -ENOENT;
        if (r == 0 && *ret_gone)
                r = observe_absent(record->path, &now);
        if (r == 0 && (*ret_gone || !observe_items_are_equal(&now, &then)))
                r = state_add(state, &now);
        item_done(&now);
        item_done(&then);
        return r;
}

static int look(const UndoLog *log, const Was *was, size_t n, State *state) {
        const char *gone = NULL, *new = NULL; /* what is below them is said with them */
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++) {
                bool is_gone = false;
                if ((gone && path_is_below(was[i].path, gone)) || (new &&path_is_below(was[i].path, new)))
                        continue;
                if (was[i].record)
                        r = look_at_known(log, was[i].record, state, &is_gone);
                else if (stands_in_folders(was[i].path))
                        r = observe_path(AT_FDCWD, -1, was[i].path, was[i].path, state);
                gone = is_gone ? was[i].path : gone;
                new = was[i].record ? new : was[i].path;
        }
        return r;
}

static const Was *find(const Was *was, size_t n, const char *path) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(was[i].path, path) == 0)
                        return &was[i];
        return NULL;
}

/* In a tree that was saved as a whole what has no line is new. */
static int look_for_new(const Was *was, size_t n, const char *path, State *state) {
        DIR *folder = opendir(path);
        struct dirent *entry;
        int r = 0;

        while (folder && r == 0 && (entry = folder_next(folder))) {
                char below[PATH_MAX];
                snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
                const Was *known = find(was, n, below);
                if (!known)
                        r = observe_path(AT_FDCWD, -1, below, below, state);
                else if (known->record && is_folder(known->record))
                        r = look_for_new(was, n, below, state);
        }
        if (folder)
                closedir(folder);
        return r;
}

static int look_through_trees(const UndoLines *lines, const Was *was, size_t n, State *state) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < lines->n; i++) {
                const UndoRecord *record = &lines->records[i];
                const Was *top = record->kind == UNDO_TREE ? find(was, n, record->path) : NULL;
                if (top && top->record && is_folder(top->record))
                        r = look_for_new(was, n, record->path, state);
        }
        return r;
}

int observe_undo(const UndoLog *log, State *state) {
        UndoLines lines = { 0 };
        int r = undo_log_read(log, &lines);
        _cleanup_(freep) Was *was = calloc(lines.n + 1, sizeof *was);

        if (r == 0 && !was)
                r = -ENOMEM;
        if (r == 0) {
                size_t n = collect(&lines, was);
                r = look(log, was, n, state);
                if (r == 0)
                        r = look_through_trees(&lines, was, n, state);
        }
        undo_lines_done(&lines);
        return r;
}
