/* effect.h - one effect of a traced run: a system call that changes something outside its process.
 *
 * Values only. Reads, and writes to pipes and terminals, are no effects. `number` counts from 1 in its run, over the
 * whole process tree, in the order in which the calls were stopped. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum EffectKind {
        EFFECT_FILE,     /* create, truncate, write, unlink, rename, link, mkdir, chmod, chown, utimes, xattr */
        EFFECT_DATABASE, /* connect or send to the server of the world's database */
        EFFECT_NETWORK,  /* connect, bind, send on any other socket */
        EFFECT_SIGNAL,   /* kill and its kin, with a signal other than 0, to a process outside the run's own tree */
        EFFECT_MOUNT,
        _EFFECT_KIND_MAX
} EffectKind;

#define EFFECT_PENDING INT32_MIN /* the call has not returned: its process was killed before or in it */

typedef struct Effect {
        unsigned number;
        unsigned process; /* which process of the tree: 1 is the hook itself, then in the order of their first effect */
        EffectKind kind;
        const char *call; /* "unlinkat"; static */
        char *text;       /* "unlinkat /run/ew/app.pid", for people; UTF-8 */
        char *site;       /* `text` without what changes from run to run (pids, random file names it was given by the
                             comparison): equal sites are tried once where there are many; see trace_sites() */
        int32_t result;   /* 0 or positive: done; -errno: failed, so there was no effect; or EFFECT_PENDING */
} Effect;

static inline bool effect_was_made(const Effect *effect) {
        return effect->result >= 0;
}

const char *effect_kind_to_string(EffectKind kind);
int effect_kind_from_string(const char *text);
