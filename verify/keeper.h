/* keeper.h - the process inside a world: does one order after the other there, and dies with its verifier.
 *
 * Pid 1 of an overlay world's PID namespace, so that with it everything in the world ends; elsewhere a subreaper.
 * Speaks frames (verify/frame.h): first what it is, with descriptors; then an answer an order. */
#pragma once
#include "verify/overlay.h"
#include "verify/tracer.h"

typedef struct KeeperSetup {
        bool overlay;
        OverlayPlan world;    /* of an overlay world */
        unsigned short sink;  /* a port on loopback to listen on for the sink; 0: none */
        unsigned short relay; /* the same for the database's; 0: none */
        TracerEngine engine;
        tracer_save_t save; /* of an undo world */
        tracer_is_database_t is_database;
        void *userdata;                          /* theirs */
        const char *(*save_why)(void *userdata); /* why the last save was refused */
} KeeperSetup;

enum { KEEPER_FD_ROOT, KEEPER_FD_LAYERS, KEEPER_FD_SINK, KEEPER_FD_RELAY, _KEEPER_FD_MAX };

/* In a process of its own, that was cloned for it. Never returns. */
_Noreturn void keeper_run(int socket, const KeeperSetup *setup);
