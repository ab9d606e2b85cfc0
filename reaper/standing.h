/* standing.h - says how the reaper stands with its database: in STATUS=, and once for each change in the log.
 *
 * A database that is away for an hour costs one line when it goes and one when it is back, however often it was tried
 * in between. Decides nothing. */
#pragma once
#include "base/usec.h"
#include "ledger/sqlstate.h"
#include <stdbool.h>
#include <stddef.h>

#define STANDING_TEXT_MAX 1024

typedef struct Standing {
        bool waits;                   /* false: it is tried once */
        const char *place;            /* of the database, fit to be shown */
        usec_t since_usec;            /* of this trouble */
        unsigned troubles;            /* bits, 1 << SqlAnswer: of which kinds it was so far; 0: there is none */
        char said[STANDING_TEXT_MAX]; /* the last STATUS= */
} Standing;

void standing_init(Standing *standing, const char *place, bool waits);
/* Something was done. */
void standing_good(Standing *standing, usec_t interval_usec);
/* `n_dead` owners wait. */
void standing_bad(Standing *standing, SqlAnswer trouble, const char *why, size_t n_dead);
void standing_say(Standing *standing, const char *text); /* as STATUS=, unless that was the last one */
