/* budget.h - divides the deadline among the phases and says until when each may last.
 *
 * Pure. Later phases are protected, and time that an earlier phase did not use rolls forward: a limit is an instant
 * counted from the start of the ending, never a length of its own. Source: contracts/config.md, [Phase NAME]. */
#pragma once
#include "base/usec.h"

#define PHASES_MAX 16

typedef struct BudgetPhase {
        const char *name;
        usec_t delay_usec;
        usec_t timeout_usec; /* USEC_INFINITY: not given */
        unsigned members;
} BudgetPhase;

typedef struct Budget {
        usec_t deadline_usec; /* from the start of the ending */
        usec_t reserve_usec;  /* kept back for gateway, logger, last kill and summary */
        unsigned n_phases;
        usec_t delay_usec[PHASES_MAX];
        usec_t timeout_usec[PHASES_MAX]; /* given, or this phase's share */
} Budget;

usec_t budget_default_deadline(usec_t grace_usec); /* grace - min(grace/2, max(2 s, 10 %)) */
/* max(250 ms, 2 %, 0.5 ms for each member: so long it takes to kill, collect and name thousands), at most half of it */
usec_t budget_reserve(usec_t deadline_usec, unsigned long members);

/* 0, or -ERANGE when the given delays and timeouts are more than deadline - reserve; *ret_sum_usec is that sum either
 * way. n is 1 to PHASES_MAX, phases in the order of the ending. */
int budget_plan(usec_t deadline_usec, const BudgetPhase *phases, unsigned n, Budget *ret, usec_t *ret_sum_usec);

/* Until when phase `phase` may last, counted from the start of the ending. */
usec_t budget_limit(const Budget *budget, unsigned phase);
