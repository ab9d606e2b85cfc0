/* world.c - see world.h. */
#include "verify/world.h"
#include "base/enumeration.h"
#include "base/file.h"
#include "base/take.h"
#include "verify/live_sockets.h"
#include "verify/observe_files.h"
#include "verify/world_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TABLE_MAX ((size_t)16 * 1024 * 1024)

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

int worlds_new(Worlds **ret, const WorldsPlan *plan, char **ret_why) {
        Worlds *worlds = calloc(1, sizeof *worlds);

        if (!worlds)
                return world_fail(-ENOMEM, ret_why, "out of memory");
        worlds->level = plan->level;
        worlds->engine = plan->engine;
        *ret = worlds;
        return 0;
}

Worlds *worlds_free(Worlds *worlds) {
        free(worlds);
        return NULL;
}

static void worldp(World **world) {
        if (*world)
                (void)world_close(*world, NULL);
}

/* ---- Opening and closing ---- */

/* Far from each other, so that a hook of many processes does not reach the next one's numbers. */
static unsigned first_pid(Worlds *worlds) {
        return 300 + worlds->n_opened++ % 60 * 487;
}

static void mountsp(Mounts *mounts) {
        mounts_done(mounts);
}

static void socketsp(char ***sockets) {
        *sockets = live_sockets_free(*sockets);
}

static int start_keeper(World *world, KeeperSetup *setup, char **ret_why) {
        _cleanup_(freep) char *mount_table = NULL, *socket_table = NULL;
        _cleanup_(mountsp) Mounts mounts = { 0 };
        _cleanup_(socketsp) char **sockets = NULL;
        size_t length;
        int r = 0;

        if (setup->overlay) {
                r = file_read("/proc/self/mountinfo", TABLE_MAX, &mount_table, &length);
                if (r == 0)
                        r = mounts_parse(mount_table, &mounts);
                if (r < 0)
                        return world_fail(r, ret_why, "reading /proc/self/mountinfo failed: %s", strerrordesc_np(-r));
                if (file_read("/proc/net/unix", TABLE_MAX, &socket_table, &length) == 0)
                        (void)live_sockets_parse(socket_table, &sockets); /* none: nobody to talk to */
                setup->world = (OverlayPlan){ &mounts, sockets, first_pid(world->worlds) };
        }
        return keeper_link_new(&world->link, setup, ret_why);
}

int world_open(World **ret, Worlds *worlds, char **ret_why) {
        _cleanup_(worldp) World *world = calloc(1, sizeof *world);
        KeeperSetup setup = { .overlay = worlds->level == WORLD_OVERLAY, .engine = worlds->engine };

        if (!world)
                return world_fail(-ENOMEM, ret_why, "out of memory");
        world->worlds = worlds;
        world->environment = calloc(1, sizeof *world->environment);
        int r = start_keeper(world, &setup, ret_why);
        if (r < 0)
                return r;
        *ret = TAKE(world);
        return 0;
}

int world_close(World *world, char **ret_why) {
        (void)ret_why;
        keeper_link_free(world->link);
        for (char **variable = world->environment; variable && *variable; variable++)
                free(*variable);
        free(world->environment);
        free(world->why);
        free(world);
        return 0;
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

/* ---- Running ---- */

char *const *world_environment(const World *world) {
        return world->environment;
}

const char *world_why(const World *world) {
        return world->why;
}

char *const *world_notes(const World *world) {
        static char *const none[] = { NULL };
        const Overlay *overlay = keeper_link_overlay(world->link);

        return overlay->notes ? overlay->notes : none;
}

int world_run(World *world, const TracerPlan *plan, Trace *ret) {
        int r = keeper_link_order(world->link, plan);
        struct pollfd fds[1] = { { .fd = keeper_link_descriptor(world->link), .events = POLLIN } };

        while (r == 0 && fds[0].revents == 0)
                if (poll(fds, LENGTH_OF(fds), -1) < 0)
                        r = -errno; /* also -EINTR: a signal of the caller's, who will close the world */
        if (r < 0)
                return r;
        free(TAKE(world->why));
        return keeper_link_answer(world->link, ret, &world->why);
}

/* ---- Observing ---- */

static int observe_layer(const Overlay *overlay, size_t number, State *state) {
        const char *point = overlay->points[number];
        char name[32];

        snprintf(name, sizeof name, "upper/%zu", number);
        _cleanup_(closep) int layer = openat(overlay->layers, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_(closep) int machine = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_(closep) int world =
                openat(overlay->root, point[1] ? point + 1 : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (layer < 0 || machine < 0 || world < 0)
                return -errno;
        return observe_files(layer, world, machine, point, state);
}

int world_observe(World *world, State *ret) {
        const Overlay *overlay = keeper_link_overlay(world->link);
        State state = { 0 };
        int r = 0;

        for (size_t i = 0; r == 0 && i < overlay->n_points; i++)
                r = observe_layer(overlay, i, &state);
        if (r < 0) {
                state_done(&state);
                return r;
        }
        state_sort(&state);
        *ret = state;
        return 0;
}

int worlds_recover(const char *folder, char **ret_why) {
        (void)folder;
        (void)ret_why;
        return 0;
}
