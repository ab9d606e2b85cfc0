/* lease.c - see lease.h. */
#include "worker/lease.h"

#define RENEWALS 3  /* in a span */
#define RETRIES  12 /* of a renewal that could not be made */
#define NEAR     6  /* a sixth of the span before it is due */

Lease lease_begin(usec_t span_usec, usec_t sent_usec) {
        Lease lease = { .span_usec = span_usec };
        lease_renewed(&lease, sent_usec);
        return lease;
}

void lease_renewed(Lease *lease, usec_t sent_usec) {
        lease->sure_usec = usec_add(sent_usec, lease->span_usec);
        lease->due_usec = usec_add(sent_usec, lease->span_usec / RENEWALS);
}

void lease_postponed(Lease *lease, usec_t now_usec) {
        lease->due_usec = usec_add(now_usec, lease->span_usec / RETRIES);
}

void lease_doubted(Lease *lease, usec_t now_usec) {
        lease->due_usec = usec_min(lease->due_usec, now_usec);
}

bool lease_is_near(const Lease *lease, usec_t now_usec) {
        return usec_add(now_usec, lease->span_usec / NEAR) >= lease->due_usec;
}
