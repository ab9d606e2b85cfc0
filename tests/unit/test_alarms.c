/* test_alarms.c - the earliest instant, against the plainest way to find it. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/take.h"
#include "supervisor/alarms.h"

#define N 50

static usec_t earliest(const usec_t *when) {
        usec_t least = USEC_INFINITY;
        for (unsigned i = 0; i < N; i++)
                least = usec_min(least, when[i]);
        return least;
}

Test(alarms, any_series_of_settings_and_rings_agrees_with_a_plain_list) {
        _cleanup_(alarms_done) Alarms alarms;
        usec_t when[N];
        cr_assert_eq(alarms_init(&alarms, N), 0);
        for (unsigned i = 0; i < N; i++)
                when[i] = USEC_INFINITY;
        srandom(1);
        for (int i = 0; i < 200000; i++) {
                unsigned item = (unsigned)random() % N;
                when[item] = random() % 4 ? (usec_t)random() % 1000 : USEC_INFINITY;
                alarms_set(&alarms, item, when[item]);
                cr_assert_eq(alarms_next(&alarms), earliest(when));
                cr_assert_eq(alarms_when(&alarms, item), when[item]);
                usec_t now = (usec_t)random() % 200;
                uint32_t rang = alarms_take_due(&alarms, now);
                if (rang == ALARM_NONE) {
                        cr_assert_gt(earliest(when), now);
                        continue;
                }
                cr_assert_eq(when[rang], earliest(when));
                cr_assert_leq(when[rang], now);
                when[rang] = USEC_INFINITY;
        }
}

Test(alarms, at_one_instant_the_lower_item_rings_first) {
        _cleanup_(alarms_done) Alarms alarms;
        cr_assert_eq(alarms_init(&alarms, 4), 0);
        for (uint32_t i = 4; i-- > 0;)
                alarms_set(&alarms, i, 7);
        for (uint32_t i = 0; i < 4; i++)
                cr_assert_eq(alarms_take_due(&alarms, 7), i);
        cr_assert_eq(alarms_take_due(&alarms, 7), ALARM_NONE);
}
