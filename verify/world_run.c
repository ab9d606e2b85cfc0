/* world_run.c - runs commands in a world, and says what it looks like; see world.h. */
#include "base/take.h"
#include "verify/observe_files.h"
#include "verify/observe_undo.h"
#include "verify/world_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static char *const none[] = { NULL };

char *const *world_environment(const World *world) {
        return world->environment ? world->environment : none;
}

const char *world_why(const World *world) {
        return world->why;
}

char *const *world_notes(const World *world) {
        const Overlay *overlay = keeper_link_overlay(world->link);
        return overlay->notes ? overlay->notes : none;
}

/* ---- Running ---- */

void world_serve(World *world) {
        sink_serve(world->sink);
        if (world->relay)
                relay_serve(world->relay);
}

/* Until the keeper answers. -EINTR: a signal of the caller's, who will close the world. */
static int wait_for_answer(World *world) {
        struct pollfd fds[] = { { .fd = keeper_link_descriptor(world->link), .events = POLLIN },
                                { .fd = sink_descriptor(world->sink), .events = POLLIN },
                                { .fd = world->relay ? relay_descriptor(world->relay) : -1, .events = POLLIN } };

        while (fds[0].revents == 0) {
                if (poll(fds, LENGTH_OF(fds), sink_wait_msec(world->sink)) < 0)
                        return -errno;
                world_serve(world);
        }
        return 0;
}

/* What a command sent and did not wait for. */
static void finish_serving(World *world) {
        struct pollfd rest = { .fd = sink_descriptor(world->sink), .events = POLLIN };

        for (unsigned i = 0; i < 64 && (sink_wait_msec(world->sink) == 0 || poll(&rest, 1, 0) > 0); i++)
                world_serve(world);
}

int world_run(World *world, const TracerPlan *plan, Trace *ret) {
        int r = keeper_link_order(world->link, plan);

        if (r == 0)
                r = wait_for_answer(world);
        if (r < 0)
                return r;
        free(TAKE(world->why));
        r = keeper_link_answer(world->link, ret, &world->why);
        finish_serving(world);
        return r;
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

static int observe_requests(const Requests *requests, State *state) {
        Item item = { .kind = ITEM_REQUESTS, .key = strdup("http"), .attributes = strdup("") };

        state->requests = requests->seen;
        item.lines = calloc(requests->n_lines + 1, sizeof *item.lines);
        bool good = item.key && item.attributes && item.lines;
        for (; good && item.n_lines < requests->n_lines; item.n_lines++)
                good = (item.lines[item.n_lines] = strdup(requests->lines[item.n_lines]));
        if (good && requests->n_lines > 0)
                return state_add(state, &item);
        item_done(&item);
        return good ? 0 : -ENOMEM;
}

static int observe_all_files(World *world, State *state) {
        const Overlay *overlay = keeper_link_overlay(world->link);
        int r = 0;

        if (world->undo)
                return observe_undo(undo_log(world->undo), state);
        for (size_t i = 0; r == 0 && i < overlay->n_points; i++)
                r = observe_layer(overlay, i, state);
        return r;
}

int world_observe(World *world, State *ret) {
        State state = { 0 };
        int r;

        finish_serving(world);
        free(TAKE(world->why));
        r = observe_all_files(world, &state);
        if (r == 0)
                r = observe_requests(sink_requests(world->sink), &state);
        if (r == 0 && world->database)
                r = databases_observe(world->worlds->databases, world->database, &state, &world->why);
        if (r < 0) {
                state_done(&state);
                return r;
        }
        state_sort(&state);
        *ret = state;
        return 0;
}
