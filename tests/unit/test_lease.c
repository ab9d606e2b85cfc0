/* test_lease.c - when leases are renewed, and how long they surely hold. */
#include "worker/lease.h"
#include <criterion/criterion.h>

Test(lease, it_is_renewed_after_a_third_and_counts_from_the_sending) {
        Lease lease = lease_begin(3000, 100);
        cr_expect_eq(lease.due_usec, 1100);
        cr_expect_eq(lease.sure_usec, 3100);
        lease_renewed(&lease, 1200);
        cr_expect_eq(lease.due_usec, 2200);
        cr_expect_eq(lease.sure_usec, 4200);
}

Test(lease, two_renewals_may_fail_before_it_ends) {
        Lease lease = lease_begin(6000, 0);
        unsigned tries = 0;
        while (lease.due_usec < lease.sure_usec) {
                lease_postponed(&lease, lease.due_usec);
                tries++;
        }
        cr_expect_geq(tries, 3);
}

Test(lease, what_is_due_soon_goes_with_what_is_due_now) {
        Lease lease = lease_begin(6000, 0);
        cr_expect_not(lease_is_near(&lease, 999));
        cr_expect(lease_is_near(&lease, 1000));
        cr_expect(lease_is_near(&lease, 2000));
}

Test(lease, a_postponed_one_is_no_more_sure_than_before) {
        Lease lease = lease_begin(6000, 0);
        lease_postponed(&lease, 5000);
        cr_expect_eq(lease.sure_usec, 6000);
}

Test(lease, a_doubted_one_is_renewed_at_once_and_no_less_sure) {
        Lease lease = lease_begin(6000, 0);
        lease_doubted(&lease, 500);
        cr_expect_eq(lease.due_usec, 500);
        cr_expect_eq(lease.sure_usec, 6000);
        lease_doubted(&lease, 700);
        cr_expect_eq(lease.due_usec, 500, "an older doubt is not put off");
}
