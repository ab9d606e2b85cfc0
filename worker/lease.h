/* lease.h - when the lease of a job is to be renewed, and how long it surely holds.
 *
 * Pure. Renewed after a third of its span, so that two renewals may fail. What counts is when a renewal was sent, not
 * when it was answered: the server stamped it somewhere between the two. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>

typedef struct Lease {
        usec_t span_usec;
        usec_t sure_usec; /* it holds at least until then */
        usec_t due_usec;  /* to be renewed then */
} Lease;

Lease lease_begin(usec_t span_usec, usec_t sent_usec); /* `sent`: when the claim was sent */
void lease_renewed(Lease *lease, usec_t sent_usec);
/* The row was locked: not renewed. It is tried again soon, for its holder may be in a long transaction of its own. */
void lease_postponed(Lease *lease, usec_t now_usec);
/* Something was answered as if it were lost: it is renewed at once, which tells. */
void lease_doubted(Lease *lease, usec_t now_usec);
/* Whether to renew it with others of which one is due: one statement for all. */
bool lease_is_near(const Lease *lease, usec_t now_usec);
