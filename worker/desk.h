/* desk.h - the ledger's verbs as the worker uses them: makes statements, sends them, and tells what was answered.
 *
 * Decides nothing and repeats nothing: what was lost with a connection is told as DESK_LOST, and whoever asked asks
 * again when desk_is_up(). One connection for all slots; a second one for LISTEN where there is a ListenUrl, none where
 * a pooler is between. Every answer comes from within the loop, in the order of asking. */
#pragma once
#include "ledger/database.h"
#include "worker/job.h"
#include "worker/outcome.h"
#include <stdbool.h>
#include <systemd/sd-event.h>

typedef struct Desk Desk;

typedef enum DeskWord {
        DESK_LOST,   /* not known whether it was done */
        DESK_FAILED, /* the server refused it; said in the log */
        DESK_OK,
        DESK_GO,
        DESK_RETRY,
        DESK_DEAD,
        DESK_CANCELLED,
        DESK_ALREADY,
        DESK_STALE,
        DESK_GONE,
        DESK_CANCEL,
        DESK_BUSY,
        DESK_DONE, /* of an item */
        DESK_IN_DOUBT,
        _DESK_WORD_MAX,
} DeskWord;

const char *desk_word_to_string(DeskWord word);
int desk_word_from_string(const char *text); /* -EINVAL: unknown */

typedef struct DeskClaim {
        unsigned wanted, got;
        bool with_cursor;
        DeskWord word; /* DESK_OK; or DESK_LOST, DESK_FAILED */
        usec_t sent_usec;
} DeskClaim;

typedef struct DeskCalls {
        void (*up)(void *userdata);
        void (*down)(void *userdata, const char *why);
        void (*refused)(void *userdata, const char *why); /* no schema, or no right to it: it will not get better */
        void (*unready)(void *userdata);                  /* desk_begin() it again, after a while */
        void (*notified)(void *userdata);                 /* a job was put into our queue */
        void (*job)(void *userdata, const Job *job, usec_t sent_usec);
        void (*claimed)(void *userdata, const DeskClaim *claim);           /* after its jobs */
        void (*settled)(void *userdata, const JobKey *key, DeskWord word); /* of complete, fail, release */
        void (*beaten)(void *userdata, const JobKey *key, DeskWord word, usec_t sent_usec);
        void (*item)(void *userdata, const JobKey *key, DeskWord word, const char *result);
        void (*looked)(void *userdata, const JobKey *key, DeskWord word, usec_t moved_usec); /* 0: no item moved */
        void (*drained)(void *userdata, DeskWord word);  /* DESK_BUSY: a claim is still in flight */
        void (*held)(void *userdata, const JobKey *key); /* one that the ledger thinks we hold */
        void (*held_end)(void *userdata, DeskWord word);
        void *userdata;
} DeskCalls;

typedef struct DeskOptions {
        const Database *database;
        const char *queue, *worker; /* the worker's id, a uuid */
} DeskOptions;

int desk_new(Desk **ret, sd_event *event, const DeskOptions *options, const DeskCalls *calls); /* texts are borrowed */
Desk *desk_free(Desk *desk);
bool desk_is_up(const Desk *desk);
void desk_begin(Desk *desk); /* says to the ledger that we are here; done by itself after each connecting */

/* 0; or -errno: nothing was sent, and nothing will be told. Keys and texts are copied. */
int desk_claim(Desk *desk, unsigned n, bool with_cursor); /* the cursor: behind the last job that came */
/* Completes those without a result and claims in one statement; n may be 0. */
int desk_claim_next(Desk *desk, unsigned n, const JobKey *const *keys, size_t n_keys);
int desk_complete(Desk *desk, const JobKey *const *keys, const char *const *results, size_t n);
int desk_fail(Desk *desk, const JobKey *key, const Outcome *outcome, int64_t retry_in_usec); /* below 0: the backoff */
int desk_release(Desk *desk, const JobKey *key, const char *note);
int desk_beat_many(Desk *desk, const JobKey *const *keys, size_t n);
int desk_beat(Desk *desk, const JobKey *key, const char *progress);
int desk_item_begin(Desk *desk, const JobKey *key, const char *item, int force);
int desk_item_end(Desk *desk, const JobKey *key, const char *item, bool ok, const char *result, const char *error);
int desk_look(Desk *desk, const JobKey *key);
int desk_drain(Desk *desk);
int desk_held(Desk *desk);
