/* dial.h - connects to a socket without waiting, tells whether that worked, and closes it with nothing sent.
 *
 * Addresses are tried one after another until one answers; the error is that of the first. A Unix socket whose queue is
 * full is tried again until somebody ends it: there is no limit of time in here. One descriptor at a time. */
#pragma once
#include "base/socket_address.h"
#include <systemd/sd-event.h>

#define DIAL_CONNECTED 1

typedef struct Dial Dial;

/* `error`: 0, or an errno. The dial is over then, and is freed by whoever began it. */
typedef void (*DialHandler)(void *userdata, int error);

/* DIAL_CONNECTED: at once, and nothing is left to free; 0: *ret, the handler is called later; or -errno: it failed. */
int dial_begin(Dial **ret, sd_event *event, const SocketAddress *addresses, unsigned n, DialHandler handler,
               void *userdata);
Dial *dial_free(Dial *dial);
