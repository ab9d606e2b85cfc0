/* budget.c - the arithmetic of the ending; see budget.h. */
#include "shutdown/budget.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define LAST_KILL_USEC 500 /* of one member: several times what it takes where nothing else runs */

usec_t budget_default_deadline(usec_t grace_usec) {
        usec_t kept = usec_max(2 * USEC_PER_SEC, grace_usec / 10);
        return grace_usec - usec_min(grace_usec / 2, kept);
}

usec_t budget_reserve(usec_t deadline_usec, unsigned long members) {
        usec_t reserve = usec_max(250 * USEC_PER_MSEC, deadline_usec / 50);
        return usec_min(deadline_usec / 2, usec_max(reserve, members * LAST_KILL_USEC));
}

static unsigned long count_members(const BudgetPhase *phases, unsigned n) {
        unsigned long members = 0;
        for (unsigned i = 0; i < n; i++)
                members += phases[i].members;
        return members;
}

static bool shares(const BudgetPhase *phase) {
        return phase->timeout_usec == USEC_INFINITY && phase->members > 0;
}

/* Weights of the phases that share: http 3, the last 1, all others 6 together. Scaled by the number of the others, so
 * that the six can be divided among them in whole numbers. */
static unsigned weight(const BudgetPhase *phases, unsigned n, unsigned phase, unsigned n_others) {
        if (!shares(&phases[phase]))
                return 0;
        if (strcmp(phases[phase].name, "http") == 0)
                return 3 * n_others;
        return phase == n - 1 ? n_others : 6;
}

static unsigned count_others(const BudgetPhase *phases, unsigned n) {
        unsigned others = 0;
        for (unsigned i = 0; i + 1 < n; i++)
                others += shares(&phases[i]) && strcmp(phases[i].name, "http") != 0;
        return others > 0 ? others : 1;
}

static usec_t sum_given(const BudgetPhase *phases, unsigned n) {
        usec_t sum = 0;
        for (unsigned i = 0; i < n; i++) {
                sum = usec_add(sum, phases[i].delay_usec);
                if (phases[i].timeout_usec != USEC_INFINITY)
                        sum = usec_add(sum, phases[i].timeout_usec);
        }
        return sum;
}

int budget_plan(usec_t deadline_usec, const BudgetPhase *phases, unsigned n, Budget *ret, usec_t *ret_sum_usec) {
        assert(n >= 1 && n <= PHASES_MAX);

        Budget budget = { .deadline_usec = deadline_usec,
                          .reserve_usec = budget_reserve(deadline_usec, count_members(phases, n)),
                          .n_phases = n };
        usec_t room = deadline_usec - budget.reserve_usec;
        usec_t sum = sum_given(phases, n);
        *ret_sum_usec = sum;
        if (sum > room)
                return -ERANGE;

        unsigned n_others = count_others(phases, n), weights = 0;
        for (unsigned i = 0; i < n; i++)
                weights += weight(phases, n, i, n_others);
        for (unsigned i = 0; i < n; i++) {
                budget.delay_usec[i] = phases[i].delay_usec;
                if (phases[i].timeout_usec != USEC_INFINITY)
                        budget.timeout_usec[i] = phases[i].timeout_usec;
                else if (weights > 0)
                        budget.timeout_usec[i] = (room - sum) * weight(phases, n, i, n_others) / weights;
        }
        *ret = budget;
        return 0;
}

usec_t budget_limit(const Budget *budget, unsigned phase) {
        assert(phase < budget->n_phases);

        usec_t limit = budget->deadline_usec - budget->reserve_usec;
        for (unsigned i = phase + 1; i < budget->n_phases; i++)
                limit = usec_sub(limit, budget->delay_usec[i] + budget->timeout_usec[i]);
        return limit;
}
