/* test_property.c - how verdicts add up, over all combinations. */
#include "verify/property.h"
#include <criterion/criterion.h>

/* Said again, in words of the contract: the worst of those that are there. */
static Ruling expected_sum(const Ruling *rulings, size_t n) {
        static const Ruling order[] = { RULING_FAIL, RULING_INCONCLUSIVE, RULING_SKIPPED };

        for (size_t k = 0; k < 3; k++)
                for (size_t i = 0; i < n; i++)
                        if (rulings[i] == order[k])
                                return order[k];
        for (size_t i = 0; i < n; i++)
                if (rulings[i] != RULING_NONE)
                        return RULING_PASS;
        return RULING_NONE;
}

Test(property, fail_beats_inconclusive_beats_skipped_beats_pass_in_every_combination) {
        for (int a = 0; a < _RULING_MAX; a++)
                for (int b = 0; b < _RULING_MAX; b++)
                        for (int c = 0; c < _RULING_MAX; c++) {
                                const Ruling rulings[] = { (Ruling)a, (Ruling)b, (Ruling)c };
                                cr_expect_eq(ruling_sum(rulings, 3), expected_sum(rulings, 3), "%d %d %d", a, b, c);
                        }
}

Test(property, exit_codes_are_those_of_the_contract) {
        static const int codes[_RULING_MAX] = {
                [RULING_NONE] = 3,     [RULING_PASS] = 0,         [RULING_NOTE] = 0, [RULING_LITTER] = 0,
                [RULING_SKIPPED] = 77, [RULING_INCONCLUSIVE] = 3, [RULING_FAIL] = 1,
        };

        for (int ruling = 0; ruling < _RULING_MAX; ruling++) {
                cr_expect_eq(ruling_exit_code((Ruling)ruling), codes[ruling], "%s", ruling_to_string((Ruling)ruling));
                cr_expect_not_null(ruling_to_string((Ruling)ruling));
        }
}

Test(property, every_property_has_its_word) {
        for (int property = 0; property < _PROPERTY_MAX; property++)
                cr_expect_eq(property_from_string(property_to_string((Property)property)), property);
        cr_expect_lt(property_from_string("repeats"), 0);
}
