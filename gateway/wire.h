/* wire.h - the connection to PID 1's control socket: the journal as it grows, the status when it is asked for, and the
 * acknowledgement.
 *
 * Never blocks and never logs; comes back by itself, from the journal's beginning. An endwell that says nothing to a
 * question is left after WIRE_SILENCE_USEC and tried again. */
#pragma once
#include "gateway/tidings.h"
#include <systemd/sd-event.h>

#define WIRE_SILENCE_USEC (10 * USEC_PER_SEC)

typedef struct WirePlan {
        const char *path; /* copied */
        /* `line` is what `tidings` was read from; both are valid until it returns, but for the status, if it takes
         * that. */
        void (*on_tidings)(void *userdata, Tidings *tidings, const char *line, size_t length);
        void (*on_lost)(void *userdata, int error); /* errno; 0: closed by the other side */
        void *userdata;
} WirePlan;

typedef struct Wire Wire;

int wire_new(Wire **ret, sd_event *event, const WirePlan *plan);
Wire *wire_free(Wire *wire);
int wire_ask_status(Wire *wire);          /* -ENOTCONN, or the -errno of send(2): there will be no answer */
void wire_acknowledge(Wire *wire);        /* readiness is withdrawn for whoever asks from now on */
usec_t wire_heard_usec(const Wire *wire); /* when it was last heard */
