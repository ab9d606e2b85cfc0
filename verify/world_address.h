/* world_address.h - how a world's processes reach the server of its database, and whether an address is that one's.
 *
 * Through the folder of its Unix socket; else at its address, which an overlay world has on its own loopback, as a
 * relay to the real one. */
#pragma once
#include "base/socket_address.h"
#include "ledger/pq_url.h"

typedef struct WorldAddress {
        char path[128];       /* of the Unix socket; "" when it is reached by TCP */
        unsigned short port;  /* by TCP */
        SocketAddress server; /* the real one, by TCP */
} WorldAddress;

/* 0; -EINVAL: neither a Unix socket nor an address in digits: nobody looks names up here. */
int world_address_find(const PqServer *server, WorldAddress *ret);
/* Of what connect() is given, `size` bytes; `relayed`: it is on the world's loopback. */
bool world_address_is(const WorldAddress *address, bool relayed, const void *what, size_t size);
