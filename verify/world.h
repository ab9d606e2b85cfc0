/* world.h - a sandbox in which a hook is tried: the best one that the machine allows.
 *
 * A world has a keeper, a process inside it that runs commands there one after the other and traces them. Whatever a
 * command changes is gone when the world is closed; of an undo world the log on disk says how, also after a crash of
 * the verifier (worlds_recover()). Blocks; the verifier has nothing else to do. */
#pragma once
#include "verify/state.h"
#include "verify/trace.h"
#include "verify/tracer.h"
#include <stdio.h>

typedef enum WorldLevel {
        WORLD_OVERLAY,  /* private mounts, pids, network, IPC; an overlay over each writable mount; a recording sink */
        WORLD_UNDO,     /* the tracer saves what each call will change, and it is put back; no privilege needed */
        WORLD_DECLARED, /* copies of the paths in State= are put back: repeat, answer and termination only */
        _WORLD_LEVEL_MAX
} WorldLevel;

const char *world_level_to_string(WorldLevel level);
int world_level_from_string(const char *text);

/* What this machine allows, found by trying; `reasons` (may be NULL) hears why a better one does not go, a line each.
 */
WorldLevel world_best_level(FILE *reasons);

typedef struct Worlds Worlds; /* what all worlds of a run of the verifier share: folder, database template, counts */
typedef struct World World;

typedef struct WorldsPlan {
        WorldLevel level;
        TracerEngine engine;
        const char *folder; /* for the logs of undo and declared worlds; NULL: one below /var/tmp; removed at the end */
        const char *database_url;  /* NULL: no database. The server is asked for copies, never this database itself */
        const char *database_name; /* the template's name (Database=template:NAME); it must be allowed */
        char *const *allowed;      /* AllowDatabase; NULL-terminated */
        char *const *state_paths;  /* State=; for WORLD_DECLARED */
} WorldsPlan;

/* 0 or -errno; *ret_why (may be NULL; free() it) says what failed, to what and what can be done. */
int worlds_new(Worlds **ret, const WorldsPlan *plan, char **ret_why);
Worlds *worlds_free(Worlds *worlds);

/* A fresh world; as `worlds_new` says. Each has another first pid, so that a pid is seen to be noise. */
int world_open(World **ret, Worlds *worlds, char **ret_why);
/* Puts everything back, ends all processes, drops the database. 0 or -errno: something could not be put back, and
 * *ret_why says what and how `--recover` or a person does it. Frees the world in any case. */
int world_close(World *world, char **ret_why);

/* The environment that commands find besides their own: DATABASE_URL, PG*, ENDWELL_SINK, http_proxy. "K=V", NULL-ended.
 */
char *const *world_environment(const World *world);

/* Runs a plan inside; its engine, save and is_database are set here. 0, *ret as tracer_run() says, or -errno; -EINTR: a
 * signal of the caller's, and the world is of no use any more: close it. */
int world_run(World *world, const TracerPlan *plan, Trace *ret);
const char *world_why(const World *world); /* why the last run was given up; NULL: not known, or it was not */
/* What is weaker here than it should be ("/x is read-only: …"), for people; NULL-terminated. */
char *const *world_notes(const World *world);

int world_observe(World *world, State *ret);

/* Puts back what verifiers that died have left in `folder` of the plan (NULL: where it lies by default), and drops
 * their copies on the server of its database_url (NULL: none is asked); nothing else of it is read. The number of
 * worlds, or -errno with what could not be in *ret_why. */
int worlds_recover(const WorldsPlan *plan, char **ret_why);
