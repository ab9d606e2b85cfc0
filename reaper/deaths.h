/* deaths.h - the owners that are known to be gone and whose jobs are still to be handed over; decides, does nothing
 * itself.
 *
 * Holds at most DEATHS_MAX. When they are full, what PID 1 tells is not taken up any more: `since` stays, and once
 * there is room the journal is asked for again from there (deaths_want_replay()), so that a database that is away for
 * an hour costs no memory and no death is forgotten that the journal still has. What the journal has lost by then is
 * left to the lease. Who may still live (certain=false) is left to the lease too.
 *
 * Each one is looked at a second time, DEATHS_AGAIN_USEC later: a job that was locked at that moment, because the
 * server had not yet noticed that its client was gone, is passed by the first time. Not those of whom we hear long
 * after. Pure but for the memory of its own lists. */
#pragma once
#include "reaper/news.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEATHS_MAX        4096 /* as many as a service may have instances */
#define DEATHS_NOTE       (NEWS_NOTE_MAX + 64)
#define DEATHS_AGAIN_USEC (1 * USEC_PER_SEC)

typedef struct Death {
        char owner[NEWS_OWNER_MAX];
        char cause[NAME_LENGTH_MAX + 1];
        char service[NAME_LENGTH_MAX + 1];
        unsigned instance;
        char note[DEATHS_NOTE];
        unsigned failures;
        bool once;                 /* this look is its last */
        usec_t again_usec;         /* when the second one is due */
        uint64_t released, buried; /* so far; the one who hands over counts here */
} Death;

typedef struct DeathsExit DeathsExit; /* how somebody exited of whom not all is gone */

typedef struct DeathsRing {
        Death *items;
        size_t first, n, size;
} DeathsRing;

typedef struct Deaths {
        DeathsRing queue, later; /* later: for their second look, in the order of their time */
        DeathsExit *exits;
        size_t n_exits, size_exits;
        uint64_t since;  /* every event up to this one was taken up */
        bool behind;     /* and later ones were not */
        uint64_t heard;  /* the last event that was heard, taken up or not */
        uint64_t newest; /* when the subscription began */
} Deaths;

typedef enum DeathsAnswer {
        DEATHS_NOTHING,   /* nothing to hand over */
        DEATHS_ADDED,     /* there is one more */
        DEATHS_UNCERTAIN, /* left to the lease: something of it may live */
        DEATHS_FULL,      /* not taken up: heard again later */
} DeathsAnswer;

void deaths_init(Deaths *deaths);
void deaths_done(Deaths *deaths);

/* Takes up an event. -ENOMEM: as DEATHS_FULL. */
int deaths_hear(Deaths *deaths, const News *news);
size_t deaths_count(const Deaths *deaths); /* in the queue */
Death *deaths_first(const Deaths *deaths); /* NULL: none */
void deaths_drop_first(Deaths *deaths);    /* it is left to its leases */
void deaths_turn(Deaths *deaths);          /* the first one failed: the others have their turn */
/* The first one's jobs are handed over, as far as they could be seen. */
void deaths_finish_first(Deaths *deaths, usec_t now);
/* Those whose second look is due, or all of them, go into the queue again. */
void deaths_look_again(Deaths *deaths, usec_t now, bool all);
usec_t deaths_again_usec(const Deaths *deaths); /* when the next one is due; infinity: none */

/* There is room again for what was not taken up: subscribe anew, from `since`. */
bool deaths_want_replay(const Deaths *deaths);
/* Something that has happened is still to be heard, or to be heard again. */
bool deaths_is_behind(const Deaths *deaths);
/* A subscription began: its events are those behind `since`, of which there are some up to `newest`. */
void deaths_subscribed(Deaths *deaths, uint64_t since, uint64_t newest);
/* How many events before this one nobody keeps any more. */
uint64_t deaths_missed(const Deaths *deaths, const News *news);
