/* readers.h - answers those who ask for what the logger keeps, on a socket of its own, so that PID 1 has no part in it.
 *
 * The words (base/packet), a reader first: LOGS=SERVICE, and INSTANCE=N, LINES=N (the last so many, else all),
 * FOLLOW=1. Back: KEPT=N (lines to come), then packets of entries (entry_write_json, several in one), MISSED=1 where
 * lines were lost between them, and at the end the socket closes. Peer credentials decide: root, our own uid, the
 * group. Who does not read costs nothing: he has a place in the ring, and is overtaken. At most READERS_MAX at once. */
#pragma once
#include "logger/kept.h"
#include <systemd/sd-event.h>

#define READERS_MAX 16

typedef struct Readers Readers;

typedef struct ReadersPlan {
        const char *path; /* of the socket; what stands there is replaced */
        int group;        /* gid, or -1 */
        const Kept *kept;
} ReadersPlan;

/* 0, or -errno: without a socket nobody can ask. */
int readers_new(Readers **ret, sd_event *event, const ReadersPlan *plan);
Readers *readers_free(Readers *readers);

/* Lines were kept: those who follow get them. */
void readers_wake(Readers *readers);
/* Sends what can be sent at once to everybody. */
void readers_finish(Readers *readers);
