/* notifier.c - sends words to $NOTIFY_SOCKET for the verbs. */
#include "supervisor/notifier.h"
#include "base/usec.h"
#include "shutdown/verdict.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#define BARRIER_USEC (5 * USEC_PER_SEC)

static int fail(const char *verb, const char *what, int r) {
        const char *socket = getenv("NOTIFY_SOCKET");

        fprintf(stderr, "endwell %s: %s %s: %s\n", verb, what, socket ? socket : "$NOTIFY_SOCKET", strerrordesc_np(-r));
        return EXIT_NOT_RUNNING;
}

int notifier_send(const char *verb, const char *text) {
        int r = sd_notify(0, text);

        if (r == 0) {
                fprintf(stderr,
                        "endwell %s: $NOTIFY_SOCKET is not set: this is no process of a service that is supervised\n",
                        verb);
                return EXIT_NOT_RUNNING;
        }
        if (r < 0)
                return fail(verb, "could not send to", r);
        r = sd_notify_barrier(0, BARRIER_USEC);
        return r < 0 ? fail(verb, "the message was sent, but nobody said that it was read, at", r) : 0;
}
