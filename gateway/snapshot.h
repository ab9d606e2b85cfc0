/* snapshot.h - PID 1's answer to `status`, as text and as values.
 *
 * Words that are too long are cut: what comes from a socket is not trusted to be short. Reads with jansson. */
#pragma once
#include "base/names.h"
#include "base/usec.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SNAPSHOT_WORD_MAX 16
#define SNAPSHOT_NOTE_MAX 128

typedef struct SnapshotMember {
        unsigned number, restarts, failures, active;
        char state[SNAPSHOT_WORD_MAX];
        pid_t pid; /* 0: none */
        usec_t since_usec;
        bool ready, awaited;
        char note[SNAPSHOT_NOTE_MAX]; /* why it is not ready, else its own words */
} SnapshotMember;

typedef struct SnapshotService {
        char name[NAME_LENGTH_MAX + 1], phase[NAME_LENGTH_MAX + 1];
        SnapshotMember *members;
        size_t n_members, n_ready;
} SnapshotService;

typedef struct Snapshot {
        char *text; /* as PID 1 wrote it */
        size_t length;
        char version[SNAPSHOT_WORD_MAX], mode[SNAPSHOT_WORD_MAX], step[SNAPSHOT_WORD_MAX];
        char phase[NAME_LENGTH_MAX + 1];
        bool ready, ending;
        usec_t uptime_usec, deadline_usec; /* the latter: left; USEC_INFINITY: none */
        uint64_t orphans;
        SnapshotService *services;
        size_t n_services;
} Snapshot;

/* 0; -EBADMSG: no such answer; -ENOMEM. */
int snapshot_read(const json_t *result, Snapshot **ret);
Snapshot *snapshot_free(Snapshot *status);
/* NULL: there is none. */
const SnapshotService *snapshot_find(const Snapshot *status, const char *name, size_t length);
