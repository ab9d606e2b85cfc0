/* world_internal.h - what the files of world share: a world and what all of them have in common. */
#pragma once
#include "verify/keeper_link.h"
#include "verify/relay.h"
#include "verify/sink.h"
#include "verify/undo.h"
#include "verify/world.h"
#include "verify/world_address.h"
#include "verify/world_database.h"

#define WORLD_SINK_PORT 4880 /* in a network of its own every port is free */

struct Worlds {
        WorldLevel level;
        TracerEngine engine;
        char *base; /* the folder of the logs; NULL in overlay worlds */
        char **state_paths;
        Databases *databases; /* NULL: none */
        WorldAddress address; /* of their server */
        unsigned n_opened;
};

struct World {
        Worlds *worlds;
        KeeperLink *link;
        Sink *sink;
        Relay *relay;
        Undo *undo;     /* the log, in undo and declared worlds */
        char *database; /* the name of its copy; NULL: none */
        char **environment;
        size_t n_environment;
        char *why; /* the last run was given up */
};

/* Sets *ret_why where it is not NULL. Answers `error`. */
int world_fail(int error, char **ret_why, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Serves the sink and the relay, without waiting. */
void world_serve(World *world);
