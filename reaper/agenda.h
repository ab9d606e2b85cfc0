/* agenda.h - what the reaper does next: hand over jobs of the dead, sweep, prune, count, report, wait, or leave;
 * decides, does nothing itself.
 *
 * Pure: a value in, an order and a value out; the time and chance are arguments. One piece of work at a time, in this
 * order: count (it has its moment), hand over, sweep, prune. Nothing starves: what is due and was passed over
 * AGENDA_PATIENCE times goes first. After a failure everything rests, longer each time, up to AGENDA_REST_MAX_USEC, so
 * that a database that answers with errors is never spun on. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum AgendaWork {
        AGENDA_COUNT, /* the sessions of this database */
        AGENDA_HAND_OVER,
        AGENDA_SWEEP,
        AGENDA_PRUNE,
        AGENDA_WAIT,   /* until something happens, at most until `until_usec` */
        AGENDA_REPORT, /* to PID 1, that everything is settled, or what is left to the lease */
        AGENDA_LEAVE,
        _AGENDA_MAX,
        AGENDA_N_JOBS = AGENDA_WAIT, /* those before it need the database */
} AgendaWork;
const char *agenda_work_to_string(AgendaWork work);
int agenda_work_from_string(const char *text);

typedef enum AgendaResult {
        AGENDA_DONE,
        AGENDA_MORE, /* the batch was full: there may be more of it */
        AGENDA_FAILED,
} AgendaResult;

#define AGENDA_PATIENCE        16
#define AGENDA_REST_USEC       (100 * USEC_PER_MSEC)
#define AGENDA_REST_MAX_USEC   (30 * USEC_PER_SEC)
#define AGENDA_PRUNE_USEC      (10 * 60 * USEC_PER_SEC) /* between prunings that left nothing over */
#define AGENDA_PRUNE_MORE_USEC (1 * USEC_PER_SEC)       /* between full batches: it is done in the background */
#define AGENDA_LAST_USEC       (200 * USEC_PER_MSEC)    /* for PID 1 to confirm the report, after the limit */
#define AGENDA_HEAR_USEC       (500 * USEC_PER_MSEC)    /* to hear of the last deaths once we were asked to end */

typedef struct AgendaRules {
        usec_t interval_usec; /* between sweeps that left nothing over */
        bool once;            /* one sweep and one pruning, to their ends, and leave; a failure is left at */
} AgendaRules;

typedef struct Agenda {
        usec_t due_usec[AGENDA_N_JOBS]; /* of sweep and prune; the others are due when there is something */
        unsigned passed_over[AGENDA_N_JOBS];
        unsigned failures; /* in a row */
        usec_t rest_usec;  /* until then nothing is tried */
        bool count_wanted;
        bool settling, reported;
        usec_t hear_limit_usec, settle_limit_usec;
} Agenda;

typedef struct AgendaSight { /* what is so at this moment */
        usec_t now_usec;
        bool database_ready; /* connected, and nothing is under way */
        bool database_lost;  /* there is no connection, and nobody knows when there will be one */
        size_t n_dead;       /* owners to hand over */
        usec_t again_usec;   /* when there will be more of them; infinity: nobody knows */
        bool heard_all;      /* every death before the request to end is among them */
        bool behind;         /* PID 1 has told of more, and it is still to be heard */
        size_t n_unsaid;     /* reports that PID 1 has not yet confirmed */
        bool deaf;           /* PID 1 does not answer: nobody waits long for that */
} AgendaSight;

typedef struct AgendaStep {
        AgendaWork work;
        usec_t until_usec; /* of AGENDA_WAIT; infinity: until something happens */
        Agenda agenda;
} AgendaStep;

/* Sweeps at once; `random` spreads what many reapers do. */
Agenda agenda_begin(const AgendaRules *rules, usec_t now, uint32_t random);
AgendaStep agenda_next(const AgendaRules *rules, Agenda agenda, const AgendaSight *sight);
Agenda agenda_after(const AgendaRules *rules, Agenda agenda, AgendaWork work, AgendaResult result, usec_t now,
                    uint32_t random);
/* Asked to end, within `limit`. The second time changes nothing but a limit that became shorter. */
Agenda agenda_settle(Agenda agenda, usec_t now, usec_t limit);
