/* calls.h - what the reaper asks the database: one statement for each kind of work, and what its answer means.
 *
 * The ledger's own verbs (contracts/ledger.md) and one look at pg_stat_activity; decides nothing. */
#pragma once
#include "ledger/connection.h"
#include "reaper/agenda.h"
#include "reaper/deaths.h"

typedef struct CallResult {
        SqlAnswer answer;
        const char *why; /* "" when it was done */
        uint64_t n;      /* jobs that a verb answered with, rows that were pruned, sessions */
        uint64_t released, buried;
} CallResult;

typedef struct Calls {
        char *texts[AGENDA_N_JOBS]; /* with the schema's name in them */
        void (*done)(void *userdata, const CallResult *result);
        void *userdata;
} Calls;

int calls_init(Calls *calls, const char *schema); /* -ENOMEM */
void calls_done(Calls *calls);

/* -errno of connection_send(), and then `done` is not called. */
int calls_hand_over(const Calls *calls, Connection *connection, const Death *death);
int calls_sweep(const Calls *calls, Connection *connection, unsigned batch);
/* `older` infinity: jobs of queues that say nothing else are kept. */
int calls_prune(const Calls *calls, Connection *connection, unsigned batch, usec_t older);
int calls_count(const Calls *calls, Connection *connection);
