/* undo.c - changes files by chance, each change saved before it is made, then puts everything back; for test_undo.py.
 *
 * undo FOLDER LOGS SEED [STOP]: 60 changes below FOLDER; with STOP it ends before that one, as if killed. undo
 * --restore LOG puts back what such a one has left. Exit 0, or 1 with what went wrong. */
#include "verify/undo.h"
#include "base/take.h"
#include "verify/observe_undo.h"
#include "verify/undo_restore.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CHANGES 60

static const char *root;

static const char *choose(char *path) {
        static const char *const names[] = { "a", "b", "c", "a-b" };
        char *at = path + sprintf(path, "%s", root);

        for (int i = rand() % 3; i >= 0; i--)
                at += sprintf(at, "/%s", names[rand() % 4]);
        return path;
}

/* The tracer gives paths without links in them. */
static bool leads_through_link(const char *path) {
        char folder[PATH_MAX], real[PATH_MAX];

        strcpy(folder, path);
        *strrchr(folder, '/') = 0;
        return realpath(folder, real) && strcmp(folder, real) != 0;
}

static bool is_file(const char *path) {
        struct stat what;
        return lstat(path, &what) == 0 && S_ISREG(what.st_mode);
}

static void put(const char *path, int flags, int number) {
        int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | flags, 0644);

        if (fd >= 0)
                dprintf(fd, "%d", number);
        close_fd(fd);
}

static const char *const calls[] = { "openat", "unlink",   "rmdir",    "mkdir",  "rename",    "symlink", "chmod",
                                     "link",   "setxattr", "truncate", "mkfifo", "utimensat", "write" };

static void change(const char *call, const char *path, const char *other, int number) {
        const struct timespec times[] = { { 5, 5 }, { 6, 6 } };
        struct stat what;
        int r = 0;

        if (strcmp(call, "openat") == 0)
                put(path, O_CREAT | O_TRUNC, number);
        else if (strcmp(call, "unlink") == 0)
                r = unlink(path);
        else if (strcmp(call, "rmdir") == 0)
                r = rmdir(path);
        else if (strcmp(call, "mkdir") == 0)
                r = mkdir(path, 0755);
        else if (strcmp(call, "rename") == 0)
                r = rename(path, other);
        else if (strcmp(call, "symlink") == 0)
                r = symlink("a", path);
        else if (strcmp(call, "chmod") == 0)
                r = lstat(path, &what) == 0 && !S_ISLNK(what.st_mode) ? chmod(path, number % 2 ? 0600 : 0750) : 0;
        else if (strcmp(call, "link") == 0)
                r = link(path, other);
        else if (strcmp(call, "setxattr") == 0)
                r = is_file(path) ? setxattr(path, "user.x", "1", 1, 0) : 0;
        else if (strcmp(call, "truncate") == 0)
                r = is_file(path) ? truncate(path, 3) : 0;
        else if (strcmp(call, "mkfifo") == 0)
                r = mkfifo(path, 0600);
        else if (strcmp(call, "utimensat") == 0)
                r = utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
        else
                put(path, O_APPEND, number);
        (void)r; /* many fail: the save came before, and must do no harm */
}

static int fail(const char *what, const char *why) {
        fprintf(stderr, "%s: %s\n", what, why ? why : "?");
        return 1;
}

static int restore(UndoLog *log) {
        _cleanup_(freep) char *why = NULL;
        return undo_restore(log, &why) < 0 ? fail("restoring", why) : 0;
}

static int observe(const UndoLog *log) {
        State state = { 0 };
        int r = observe_undo(log, &state) < 0 ? fail("observing", "failed") : 0;

        state_sort(&state);
        for (size_t i = 1; i < state.n_items; i++)
                if (strcmp(state.items[i].key, state.items[i - 1].key) == 0)
                        r = fail("a key stands twice", state.items[i].key);
        state_done(&state);
        return r;
}

static int change_all(Undo *undo, int stop) {
        char one[PATH_MAX], two[PATH_MAX];

        for (int i = 0; i < CHANGES && i != stop; i++) {
                const char *path = choose(one), *other = choose(two), *call = calls[rand() % (int)LENGTH_OF(calls)];
                bool both = strcmp(call, "rename") == 0 || strcmp(call, "link") == 0;
                if (leads_through_link(path) || leads_through_link(other))
                        continue;
                if (undo_save(undo, call, path, both ? other : NULL) == 0)
                        change(call, path, other, i);
                else if (geteuid() == 0) /* others may not look into every folder, and then nothing happens there */
                        return fail("saving", undo_why(undo));
        }
        return 0;
}

static int restore_left(const char *folder) {
        UndoLog log = UNDO_LOG_CLOSED;
        int r = undo_log_open(folder, &log) < 0 ? fail("opening", folder) : restore(&log);

        undo_log_done(&log);
        return r;
}

int main(int argc, char **argv) {
        Undo *undo;
        char *base;

        if (argc == 3 && strcmp(argv[1], "--restore") == 0)
                return restore_left(argv[2]);
        if (argc < 4)
                return 64;
        root = argv[1];
        srand((unsigned)atoi(argv[3]));
        int stop = argc > 4 ? atoi(argv[4]) : -1;
        if (undo_log_base(argv[2], true, &base) < 0 || undo_new(&undo, base) < 0)
                return fail("making a log in", argv[2]);
        free(base);
        int r = change_all(undo, stop);
        if (stop < 0)
                r = r || observe(undo_log(undo)) || restore(undo_log(undo));
        undo_free(undo);
        return r;
}
