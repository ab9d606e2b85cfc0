/* relay.h - passes connections from a listening socket on to one address, both ways, byte for byte.
 *
 * So a world without a network reaches the server of its database, and nothing else. Served from the caller's loop. */
#pragma once
#include "base/socket_address.h"

typedef struct Relay Relay;

/* Takes the listener, also on failure. 0 or -errno. */
int relay_new(Relay **ret, int listener, const SocketAddress *address);
Relay *relay_free(Relay *relay);
int relay_descriptor(const Relay *relay); /* readable: call relay_serve() */
void relay_serve(Relay *relay);
