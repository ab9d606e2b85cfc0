/* backoff.c - how long to wait before the next attempt to connect. */
#include "ledger/backoff.h"

#define CHANCES (UINT64_C(1) << 32)

usec_t backoff_usec(unsigned failures, usec_t first, usec_t most, uint32_t chance) {
        usec_t whole = usec_min(first, most);

        for (unsigned i = 1; i < failures && whole < most; i++)
                whole = usec_min(usec_add(whole, whole), most);
        usec_t half = whole / 2;
        /* Shifted first, so that no span, however long, overflows. */
        return half + (half / CHANCES) * chance + (half % CHANCES) * chance / CHANCES + whole % 2;
}
