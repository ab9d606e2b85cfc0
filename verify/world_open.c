/* world_open.c - opens and closes one world; see world.h. */
#include "base/file.h"
#include "base/take.h"
#include "verify/live_sockets.h"
#include "verify/loopback.h"
#include "verify/strays.h"
#include "verify/texts.h"
#include "verify/undo_restore.h"
#include "verify/world_internal.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TABLE_MAX ((size_t)16 * 1024 * 1024)

static void worldp(World **world) {
        if (*world)
                (void)world_close(*world, NULL);
}

static void mountsp(Mounts *mounts) {
        mounts_done(mounts);
}

static void socketsp(char ***sockets) {
        *sockets = texts_free(*sockets);
}

/* ---- What its commands are told ---- */

static int tell(World *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int tell(World *world, const char *format, ...) {
        va_list arguments;
        char *text;

        va_start(arguments, format);
        int n = vasprintf(&text, format, arguments);
        va_end(arguments);
        return n < 0 ? -ENOMEM : texts_add(&world->environment, &world->n_environment, text);
}

/* Whoever minds a proxy, in either spelling, comes to the sink with everything. */
static int tell_sink(World *world, unsigned short port) {
        static const char *const names[] = { "ENDWELL_SINK", "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY" };
        int r = 0;

        for (size_t i = 0; r == 0 && i < LENGTH_OF(names); i++)
                r = tell(world, "%s=http://127.0.0.1:%u", names[i], port);
        if (r == 0)
                r = tell(world, "no_proxy=");
        return r < 0 ? r : tell(world, "NO_PROXY=");
}

static bool is_relayed(const Worlds *worlds) {
        return worlds->level == WORLD_OVERLAY && worlds->address.port;
}

static int tell_database(World *world) {
        Worlds *worlds = world->worlds;
        PqServer server;
        int r = pq_server(databases_server(worlds->databases)->url, is_relayed(worlds) ? "127.0.0.1" : NULL,
                          world->database, &server);

        if (r < 0)
                return r;
        r = tell(world, "DATABASE_URL=%s", server.url);
        if (r == 0)
                r = tell(world, "PGHOST=%s", server.host);
        if (r == 0)
                r = tell(world, "PGPORT=%s", server.port);
        if (r == 0)
                r = tell(world, "PGUSER=%s", server.user);
        if (r == 0)
                r = tell(world, "PGDATABASE=%s", server.database);
        if (r == 0 && server.password)
                r = tell(world, "PGPASSWORD=%s", server.password);
        pq_server_done(&server);
        return r;
}

/* ---- Its keeper ---- */

static int on_save(void *userdata, const char *call, const char *path, const char *other) {
        World *world = userdata;
        return undo_save(world->undo, call, path, other);
}

static const char *why_not_saved(void *userdata) {
        World *world = userdata;
        return world->undo ? undo_why(world->undo) : NULL;
}

static bool is_database(void *userdata, const void *address, size_t size) {
        World *world = userdata;
        return world->database && world_address_is(&world->worlds->address, is_relayed(world->worlds), address, size);
}

/* Far from each other, so that a hook of many processes does not reach the next one's numbers. */
static unsigned first_pid(Worlds *worlds) {
        return 300 + worlds->n_opened++ % 60 * 487;
}

static int start_overlay(World *world, KeeperSetup *setup, char **ret_why) {
        _cleanup_(freep) char *mount_table = NULL, *socket_table = NULL;
        _cleanup_(mountsp) Mounts mounts = { 0 };
        _cleanup_(socketsp) char **sockets = NULL;
        size_t length;
        int r = file_read("/proc/self/mountinfo", TABLE_MAX, &mount_table, &length);

        if (r == 0)
                r = mounts_parse(mount_table, &mounts);
        if (r < 0)
                return world_fail(r, ret_why, "reading /proc/self/mountinfo failed: %s", strerrordesc_np(-r));
        if (file_read("/proc/net/unix", TABLE_MAX, &socket_table, &length) == 0)
                (void)live_sockets_parse(socket_table, &sockets); /* none: nobody to talk to */
        setup->world = (OverlayPlan){ &mounts, sockets, first_pid(world->worlds) };
        setup->sink = WORLD_SINK_PORT;
        setup->relay = is_relayed(world->worlds) ? world->worlds->address.port : 0;
        return keeper_link_new(&world->link, setup, ret_why);
}

static int start_keeper(World *world, char **ret_why) {
        KeeperSetup setup = {
                .overlay = world->worlds->level == WORLD_OVERLAY,
                .engine = world->worlds->engine,
                .save = world->worlds->level == WORLD_UNDO ? on_save : NULL,
                .save_why = why_not_saved,
                .is_database = is_database,
                .userdata = world,
        };

        return setup.overlay ? start_overlay(world, &setup, ret_why) : keeper_link_new(&world->link, &setup, ret_why);
}

static int start_sink(World *world) {
        int listener = keeper_link_take_fd(world->link, KEEPER_FD_SINK);
        int r = listener < 0 ? loopback_listen(0, &listener) : 0;
        unsigned short port = listener < 0                            ? 0
                              : world->worlds->level == WORLD_OVERLAY ? WORLD_SINK_PORT
                                                                      : loopback_port(listener);

        if (r == 0)
                r = sink_new(&world->sink, listener);
        if (r == 0)
                r = tell_sink(world, port);
        if (r == 0 && is_relayed(world->worlds))
                r = relay_new(&world->relay, keeper_link_take_fd(world->link, KEEPER_FD_RELAY),
                              &world->worlds->address.server);
        return r;
}

/* ---- Opening ---- */

static int start_log(World *world, char **ret_why) {
        Worlds *worlds = world->worlds;
        int r = undo_new(&world->undo, worlds->base);

        if (r < 0)
                return world_fail(r, ret_why, "making a log in %s failed: %s", worlds->base, strerrordesc_np(-r));
        r = tell(world, STRAYS_VARIABLE "=%s", strrchr(undo_log(world->undo)->folder, '/') + 1);
        for (char **path = worlds->state_paths; r == 0 && worlds->level == WORLD_DECLARED && *path; path++) {
                r = undo_save_tree(world->undo, *path);
                if (r < 0) {
                        const char *why = undo_why(world->undo);
                        return world_fail(r, ret_why, "saving %s failed: %s", *path, why ? why : strerrordesc_np(-r));
                }
        }
        return r;
}

int world_open(World **ret, Worlds *worlds, char **ret_why) {
        _cleanup_(worldp) World *world = calloc(1, sizeof *world);
        int r = 0;

        if (!world)
                return world_fail(-ENOMEM, ret_why, "out of memory");
        world->worlds = worlds;
        if (worlds->level != WORLD_OVERLAY)
                r = start_log(world, ret_why);
        if (r == 0 && worlds->databases)
                r = databases_copy(worlds->databases, &world->database, ret_why);
        if (r == 0)
                r = start_keeper(world, ret_why);
        if (r < 0)
                return r;
        r = start_sink(world);
        if (r == 0 && world->database)
                r = tell_database(world);
        if (r < 0)
                return world_fail(r, ret_why, "making the world's sink failed: %s", strerrordesc_np(-r));
        *ret = TAKE(world);
        return 0;
}

/* ---- Closing ---- */

static int put_back(World *world, char **ret_why) {
        UndoLog *log = undo_log(world->undo);
        int r = strays_end(strrchr(log->folder, '/') + 1);

        if (r < 0)
                return world_fail(r, ret_why, "a process of the world could not be ended: %s", strerrordesc_np(-r));
        return undo_restore(log, ret_why);
}

static void free_world(World *world) {
        sink_free(world->sink);
        relay_free(world->relay);
        undo_free(world->undo);
        texts_free(world->environment);
        free(world->database);
        free(world->why);
        free(world);
}

/* Everything that can be put back is, also when something before it cannot. */
int world_close(World *world, char **ret_why) {
        int r = 0, dropped = 0;

        world->link = keeper_link_free(world->link);
        if (world->undo)
                r = put_back(world, ret_why);
        if (world->database)
                dropped = databases_drop(world->worlds->databases, world->database, r < 0 ? NULL : ret_why);
        free_world(world);
        return r < 0 ? r : dropped;
}
