/* world.c - see world.h: what all worlds share, and which kind the machine allows. */
#include "verify/world.h"
#include "base/enumeration.h"
#include "base/take.h"
#include "verify/strays.h"
#include "verify/texts.h"
#include "verify/undo_restore.h"
#include "verify/world_internal.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const words[_WORLD_LEVEL_MAX] = {
        [WORLD_OVERLAY] = "overlay",
        [WORLD_UNDO] = "undo",
        [WORLD_DECLARED] = "declared",
};

ENUMERATION(world_level, WorldLevel, words)

int world_fail(int error, char **ret_why, const char *format, ...) {
        va_list arguments;

        if (!ret_why)
                return error;
        va_start(arguments, format);
        if (vasprintf(ret_why, format, arguments) < 0)
                *ret_why = NULL;
        va_end(arguments);
        return error;
}

/* ---- All worlds ---- */

static void worldsp(Worlds **worlds) {
        *worlds = worlds_free(*worlds);
}

static int take_database(Worlds *worlds, const WorldsPlan *plan, char **ret_why) {
        int r = databases_new(&worlds->databases, plan->database_url, plan->database_name, plan->allowed, ret_why);

        if (r < 0)
                return r;
        const PqServer *server = databases_server(worlds->databases);
        r = world_address_find(server, &worlds->address);
        if (r < 0)
                return world_fail(r, ret_why,
                                  "the database's host %s is a name: a world without a network needs its address in "
                                  "digits, or the folder of its Unix socket",
                                  server->host);
        return 0;
}

int worlds_new(Worlds **ret, const WorldsPlan *plan, char **ret_why) {
        _cleanup_(worldsp) Worlds *worlds = calloc(1, sizeof *worlds);

        if (!worlds)
                return world_fail(-ENOMEM, ret_why, "out of memory");
        worlds->level = plan->level;
        worlds->engine = plan->engine;
        if (plan->level == WORLD_UNDO && plan->engine == TRACER_NONE)
                return world_fail(-EINVAL, ret_why, "an undo world needs an engine of the tracer");
        int r = texts_copy(plan->state_paths, &worlds->state_paths);
        if (r == 0 && plan->level != WORLD_OVERLAY) {
                r = undo_log_base(plan->folder, true, &worlds->base);
                if (r < 0)
                        return world_fail(r, ret_why, "the folder %s for logs cannot be used: %s",
                                          plan->folder ? plan->folder : "below /var/tmp", strerrordesc_np(-r));
        }
        if (r == 0 && plan->database_name)
                r = take_database(worlds, plan, ret_why);
        if (r < 0)
                return r;
        *ret = TAKE(worlds);
        return 0;
}

/* The folder of the logs stays when a log is in it. */
Worlds *worlds_free(Worlds *worlds) {
        if (!worlds)
                return NULL;
        databases_free(worlds->databases);
        if (worlds->base)
                (void)rmdir(worlds->base);
        free(worlds->base);
        texts_free(worlds->state_paths);
        free(worlds);
        return NULL;
}

WorldLevel world_best_level(FILE *reasons) {
        _cleanup_(freep) char *why = NULL;
        Worlds worlds = { .level = WORLD_OVERLAY, .engine = TRACER_NONE };
        World *world;

        if (world_open(&world, &worlds, &why) == 0) {
                (void)world_close(world, NULL);
                return WORLD_OVERLAY;
        }
        if (reasons)
                fprintf(reasons, "no overlay world here: %s\n", why ? why : "for an unknown reason");
        if (tracer_best_engine() != TRACER_NONE)
                return WORLD_UNDO;
        if (reasons)
                fputs("no undo world here: no engine of the tracer is allowed\n", reasons);
        return WORLD_DECLARED;
}

/* ---- What a verifier that died has left ---- */

/* 1: put back; 0: its verifier lives. */
static int recover_one(const char *base, const char *name, char **ret_why) {
        char folder[PATH_MAX];
        UndoLog log = UNDO_LOG_CLOSED;

        snprintf(folder, sizeof folder, "%s/%s", base, name);
        int r = undo_log_open(folder, &log);
        if (r == -EBUSY)
                return 0;
        if (r == -ENOENT) /* it died while it made or removed the folder: nothing was done, or all is put back */
                return undo_log_remove_remains(folder) < 0 ? 0 : 1;
        if (r == 0)
                r = strays_end(name);
        if (r == 0)
                r = undo_restore(&log, ret_why);
        else
                (void)world_fail(r, ret_why, "the log %s cannot be used: %s", folder, strerrordesc_np(-r));
        undo_log_done(&log);
        return r < 0 ? r : 1;
}

static int recover_all(const char *base, char **ret_why) {
        DIR *folder = opendir(base);
        struct dirent *entry;
        int n = 0, failed = 0;

        while (folder && (entry = readdir(folder))) {
                if (strncmp(entry->d_name, "world-", 6) != 0)
                        continue;
                int r = recover_one(base, entry->d_name, failed < 0 ? NULL : ret_why);
                n += r > 0;
                failed = r < 0 && failed == 0 ? r : failed;
        }
        if (folder)
                closedir(folder);
        (void)rmdir(base);
        return failed < 0 ? failed : n;
}

int worlds_recover(const WorldsPlan *plan, char **ret_why) {
        _cleanup_(freep) char *base = NULL;
        int r = undo_log_base(plan->folder, false, &base), n = 0;

        if (r < 0 && r != -ENOENT)
                return world_fail(r, ret_why, "the folder of the logs cannot be used: %s", strerrordesc_np(-r));
        if (r == 0)
                n = recover_all(base, ret_why);
        if (n < 0 || !plan->database_url)
                return n;
        r = databases_recover(plan->database_url, ret_why);
        return r < 0 ? r : n + r;
}
