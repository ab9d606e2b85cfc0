/* test_budget.c - the arithmetic of the ending. */
#include <criterion/criterion.h>
#include <errno.h>

#include "shutdown/budget.h"

#define SEC(n) ((usec_t)((n)*1e6 + 0.5))

static Budget plan(usec_t deadline, const BudgetPhase *phases, unsigned n) {
        Budget budget = { 0 };
        usec_t sum;
        cr_assert_eq(budget_plan(deadline, phases, n, &budget, &sum), 0);
        return budget;
}

Test(budget, the_deadline_stays_below_the_grace) {
        cr_assert_eq(budget_default_deadline(SEC(30)), SEC(27));
        cr_assert_eq(budget_default_deadline(SEC(10)), SEC(8));
        cr_assert_eq(budget_default_deadline(SEC(2)), SEC(1), "never less than half of the grace");
        cr_assert_eq(budget_default_deadline(SEC(1)), SEC(0.5));
        cr_assert_eq(budget_default_deadline(SEC(120)), SEC(108));
}

Test(budget, the_reserve_is_two_percent_or_a_quarter_second) {
        cr_assert_eq(budget_reserve(SEC(27), 1), SEC(0.54));
        cr_assert_eq(budget_reserve(SEC(8), 1), SEC(0.25));
        cr_assert_eq(budget_reserve(SEC(8), 500), SEC(0.25));
}

Test(budget, thousands_of_members_need_a_longer_reserve) {
        cr_assert_eq(budget_reserve(SEC(8), 2000), SEC(1));
        cr_assert_eq(budget_reserve(SEC(60), 2000), SEC(1.2), "two percent are more");
        cr_assert_eq(budget_reserve(SEC(8), 60000), SEC(4), "but never more than half");

        BudgetPhase phases[] = { { "http", 0, USEC_INFINITY, 1500 }, { "db", 0, USEC_INFINITY, 500 } };
        Budget budget = plan(SEC(8), phases, 2);
        cr_assert_eq(budget.reserve_usec, SEC(1));
        cr_assert_eq(budget_limit(&budget, 1), SEC(7));
}

Test(budget, the_default_phases_share_three_to_six_to_one) {
        BudgetPhase phases[] = { { "http", 0, USEC_INFINITY, 1 },
                                 { "workers", 0, USEC_INFINITY, 4 },
                                 { "db", 0, USEC_INFINITY, 1 } };
        Budget budget = plan(SEC(27), phases, 3);
        usec_t room = SEC(27) - SEC(0.54);
        cr_assert_eq(budget.timeout_usec[0], room * 3 / 10);
        cr_assert_eq(budget.timeout_usec[1], room * 6 / 10);
        cr_assert_eq(budget.timeout_usec[2], room / 10);
}

Test(budget, a_single_phase_with_members_takes_everything) {
        BudgetPhase phases[] = { { "http", 0, USEC_INFINITY, 1 },
                                 { "workers", 0, USEC_INFINITY, 0 },
                                 { "db", 0, USEC_INFINITY, 0 } };
        Budget budget = plan(SEC(27), phases, 3);
        cr_assert_eq(budget.timeout_usec[0], SEC(26.46));
        cr_assert_eq(budget_limit(&budget, 0), SEC(26.46));
        cr_assert_eq(budget_limit(&budget, 2), SEC(26.46));
}

Test(budget, two_middle_phases_divide_the_six_between_them) {
        BudgetPhase phases[] = { { "http", 0, USEC_INFINITY, 1 },
                                 { "a", 0, USEC_INFINITY, 1 },
                                 { "b", 0, USEC_INFINITY, 1 },
                                 { "db", 0, USEC_INFINITY, 1 } };
        Budget budget = plan(SEC(27), phases, 4);
        cr_assert_eq(budget.timeout_usec[1], budget.timeout_usec[2]);
        cr_assert_eq(budget.timeout_usec[1], (SEC(27) - SEC(0.54)) * 3 / 10);
}

Test(budget, later_phases_are_protected_and_unused_time_rolls_forward) {
        BudgetPhase phases[] = { { "http", SEC(2), SEC(5), 1 },
                                 { "workers", SEC(1), SEC(10), 1 },
                                 { "db", 0, SEC(3), 1 } };
        Budget budget = plan(SEC(27), phases, 3);
        cr_assert_eq(budget_limit(&budget, 0), SEC(26.46) - SEC(14));
        cr_assert_eq(budget_limit(&budget, 1), SEC(26.46) - SEC(3));
        cr_assert_eq(budget_limit(&budget, 2), SEC(26.46));
}

Test(budget, what_does_not_fit_is_refused_with_its_sum) {
        BudgetPhase phases[] = { { "http", 0, SEC(20), 1 }, { "workers", 0, SEC(20), 0 }, { "db", 0, SEC(5), 0 } };
        Budget budget = { .n_phases = 77 };
        usec_t sum = 0;
        cr_assert_eq(budget_plan(SEC(27), phases, 3, &budget, &sum), -ERANGE);
        cr_assert_eq(sum, SEC(45));
        cr_assert_eq(budget.n_phases, 77, "untouched on failure");
}

/* For every way to give or not give timeouts, members and delays: no phase's limit lies behind a later one's, each
 * phase has at least its own time, and the last limit is deadline - reserve. */
Test(budget, no_plan_of_four_phases_breaks_the_arithmetic) {
        static const char *const names[] = { "http", "a", "b", "db" };
        unsigned fitting = 0;
        for (unsigned bits = 0; bits < 1U << 12; bits++) {
                BudgetPhase phases[4];
                for (unsigned i = 0; i < 4; i++)
                        phases[i] = (BudgetPhase){ names[i], bits >> i & 1 ? SEC(3) : 0,
                                                   bits >> (4 + i) & 1 ? SEC(5) : USEC_INFINITY, bits >> (8 + i) & 1 };
                Budget budget;
                usec_t sum, before = 0;
                if (budget_plan(SEC(27), phases, 4, &budget, &sum) < 0)
                        continue;
                fitting++;
                for (unsigned i = 0; i < 4; i++) {
                        usec_t limit = budget_limit(&budget, i);
                        cr_assert_geq(limit, before + budget.delay_usec[i] + budget.timeout_usec[i]);
                        before = limit;
                }
                cr_assert_eq(before, SEC(27) - SEC(0.54));
        }
        cr_assert_gt(fitting, 1000);
}
