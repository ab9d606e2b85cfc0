/* tracer.h - runs a command under seccomp and ptrace, numbers the effects of its whole process tree, and acts before
 * one.
 *
 * Runs in a process that may wait for any child and is the subreaper (or the init) of what it starts: the keeper of a
 * world. Everything that the run started is gone when it returns. Blocks until then: `timeout_usec` bounds it. */
#pragma once
#include "base/usec.h"
#include "verify/trace.h"
#include <sys/types.h>

typedef enum TracerEngine {
        TRACER_PTRACE, /* SECCOMP_RET_TRACE */
        TRACER_NOTIFY, /* SECCOMP_RET_USER_NOTIF, where ptrace is refused: no signal inside a call, results unknown */
        TRACER_NONE,   /* untraced: no effects, no action; answers and what was left only */
        _TRACER_ENGINE_MAX
} TracerEngine;

const char *tracer_engine_to_string(TracerEngine engine);

typedef enum TracerAction {
        TRACER_COUNT,  /* let it run */
        TRACER_KILL,   /* SIGKILL for the whole tree before the effect; the call is not executed */
        TRACER_SIGNAL, /* `signal` for the whole tree before the effect, then let it run */
        TRACER_HOLD,   /* hold the process there while `second` runs to its end, then let it go on */
        _TRACER_ACTION_MAX
} TracerAction;

const char *tracer_action_to_string(TracerAction action);

typedef struct Command {
        char *const *argv; /* NULL-terminated; argv[0] is looked up in the PATH of envp */
        char *const *envp;
        const char *directory;
        uid_t uid;
        gid_t gid;
        const gid_t *groups;
        size_t n_groups;
        bool keep_identity; /* uid, gid and groups are not touched: the verifier has no right to */
        usec_t timeout_usec;
} Command;

/* Called, where given, before each call that may change a file (also one that then fails), with its process stopped: an
 * undo world saves what the call is about to change. Paths are absolute, as the run sees them, resolved but for the
 * last component of calls that do not follow it; `other` is the second path of rename and link, or NULL. Negative: the
 * run is given up and tracer_run() returns it. */
typedef int (*tracer_save_t)(void *userdata, const char *call, const char *path, const char *other);

/* Whether an address (what connect() is given) is the database's: its effects get that kind. */
typedef bool (*tracer_is_database_t)(void *userdata, const void *address, size_t size);

typedef struct TracerPlan {
        TracerEngine engine;
        Command first;
        TracerAction action;
        unsigned before; /* the effect's number; for TRACER_COUNT 0 */
        int signal;      /* TRACER_SIGNAL */
        Command second;  /* TRACER_HOLD; traced as well: its calls are saved, never numbered */
        tracer_save_t save;
        tracer_is_database_t is_database;
        void *userdata;
} TracerPlan;

/* 0, and *ret as said in trace.h; -EPERM: this engine is refused here; -errno: the tracer failed, the run is over. */
int tracer_run(const TracerPlan *plan, Trace *ret);

/* The best engine that this machine allows, tried once on a real child. */
TracerEngine tracer_best_engine(void);
