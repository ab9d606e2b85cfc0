/* observe_files.h - which files of a world differ from those of the machine.
 *
 * Of two trees, looked at side by side: what differs, what is new, what is gone (of a folder that is gone, only
 * itself). In an overlay world the layer says where to look, and the merged view what is there. */
#pragma once
#include "verify/state.h"

/* The layer `layer` (a folder; -1: look everywhere) over the folder `point`, which is seen as `world` inside and as
 * `machine` on the machine. The descriptors stay the caller's. 0; -ENOMEM; or -errno. */
int observe_files(int layer, int world, int machine, const char *point, State *state);

/* One path, and what is in it where it is a folder of the one and not of the other. `key` is its name. */
int observe_path(int world, int machine, const char *name, const char *key, State *state);
