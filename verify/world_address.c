/* world_address.c - see world_address.h. */
#include "verify/world_address.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int world_address_find(const PqServer *server, WorldAddress *ret) {
        SocketAddress found[SOCKET_ADDRESSES_MAX];
        WorldAddress address = { 0 };
        char text[160];
        const char *host = server->host;

        if (pq_server_is_local(server)) {
                int n = snprintf(address.path, sizeof address.path, "%s/.s.PGSQL.%s", host, server->port);
                if (n >= (int)sizeof address.path)
                        return -EINVAL;
                *ret = address;
                return 0;
        }
        bool brackets = strchr(host, ':');
        snprintf(text, sizeof text, brackets ? "[%s]:%s" : "%s:%s", strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                 server->port);
        if (socket_address_parse_port(text, found) <= 0)
                return -EINVAL;
        address.server = found[0];
        address.port = (unsigned short)strtoul(server->port, NULL, 10);
        *ret = address;
        return 0;
}

static bool is_ipv4(const WorldAddress *address, bool relayed, const struct sockaddr_in *what) {
        if (ntohs(what->sin_port) != address->port)
                return false;
        if (relayed)
                return ntohl(what->sin_addr.s_addr) >> 24 == 127;
        return address->server.any.sa_family == AF_INET &&
               what->sin_addr.s_addr == address->server.ipv4.sin_addr.s_addr;
}

static bool is_ipv6(const WorldAddress *address, bool relayed, const struct sockaddr_in6 *what) {
        if (ntohs(what->sin6_port) != address->port)
                return false;
        if (relayed)
                return IN6_IS_ADDR_LOOPBACK(&what->sin6_addr);
        return address->server.any.sa_family == AF_INET6 &&
               memcmp(&what->sin6_addr, &address->server.ipv6.sin6_addr, sizeof what->sin6_addr) == 0;
}

bool world_address_is(const WorldAddress *address, bool relayed, const void *what, size_t size) {
        union {
                struct sockaddr any;
                struct sockaddr_in ipv4;
                struct sockaddr_in6 ipv6;
                struct sockaddr_un local;
                struct sockaddr_storage room;
        } given = { 0 };

        memcpy(&given, what, size < sizeof given ? size : sizeof given);
        if (given.any.sa_family == AF_UNIX && address->path[0])
                return strncmp(given.local.sun_path, address->path, sizeof given.local.sun_path) == 0;
        if (address->path[0])
                return false;
        if (given.any.sa_family == AF_INET && size >= sizeof given.ipv4)
                return is_ipv4(address, relayed, &given.ipv4);
        return given.any.sa_family == AF_INET6 && size >= sizeof given.ipv6 && is_ipv6(address, relayed, &given.ipv6);
}
