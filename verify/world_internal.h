/* world_internal.h - what the files of world share: a world and what all of them have in common. */
#pragma once
#include "verify/keeper_link.h"
#include "verify/world.h"

struct Worlds {
        WorldLevel level;
        TracerEngine engine;
        unsigned n_opened;
};

struct World {
        Worlds *worlds;
        KeeperLink *link;
        char **environment; /* NULL-terminated */
        char *why;          /* the last run was given up */
};

/* Sets *ret_why where it is not NULL. Answers `error`. */
int world_fail(int error, char **ret_why, const char *format, ...) __attribute__((format(printf, 3, 4)));
