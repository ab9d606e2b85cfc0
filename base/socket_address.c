/* socket_address.c - text into socket addresses. */
#include "base/socket_address.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MAX (INET6_ADDRSTRLEN + 2)
#define PORT_MAX 65535

static void set_ipv4(SocketAddress *address, struct in_addr host, in_port_t port) {
        *address = (SocketAddress){ .ipv4 = { .sin_family = AF_INET, .sin_port = port, .sin_addr = host },
                                    .length = sizeof address->ipv4 };
}

static void set_ipv6(SocketAddress *address, struct in6_addr host, in_port_t port) {
        *address = (SocketAddress){ .ipv6 = { .sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = host },
                                    .length = sizeof address->ipv6 };
}

/* `host` as in a URL; 0: none of ours. */
static int parse_host(const char *host, in_port_t port, SocketAddress ret[static SOCKET_ADDRESSES_MAX]) {
        size_t length = strlen(host);
        char inner[HOST_MAX];
        struct in6_addr ipv6;
        struct in_addr ipv4;

        if (strcasecmp(host, "localhost") == 0) {
                set_ipv4(&ret[0], (struct in_addr){ .s_addr = htonl(INADDR_LOOPBACK) }, port);
                set_ipv6(&ret[1], (struct in6_addr)IN6ADDR_LOOPBACK_INIT, port);
                return 2;
        }
        if (inet_pton(AF_INET, host, &ipv4) == 1) {
                set_ipv4(&ret[0], ipv4, port);
                return 1;
        }
        if (length < 2 || length >= sizeof inner || host[0] != '[' || host[length - 1] != ']')
                return 0;
        memcpy(inner, host + 1, length - 2);
        inner[length - 2] = '\0';
        if (inet_pton(AF_INET6, inner, &ipv6) != 1)
                return 0;
        set_ipv6(&ret[0], ipv6, port);
        return 1;
}

static int parse_port(const char *text, in_port_t *ret) {
        char *end;

        if (*text < '0' || *text > '9' || strlen(text) > 5)
                return -EINVAL;
        unsigned long port = strtoul(text, &end, 10);
        if (*end != '\0' || port == 0 || port > PORT_MAX)
                return -EINVAL;
        *ret = htons((in_port_t)port);
        return 0;
}

int socket_address_parse_port(const char *text, SocketAddress ret[static SOCKET_ADDRESSES_MAX]) {
        const char *colon = strrchr(text, ':');
        char host[HOST_MAX];
        in_port_t port;

        if (!colon || (size_t)(colon - text) >= sizeof host || parse_port(colon + 1, &port) < 0)
                return -EINVAL;
        memcpy(host, text, (size_t)(colon - text));
        host[colon - text] = '\0';
        int n = parse_host(host, port, ret);
        return n > 0 ? n : -EINVAL;
}

int socket_address_parse_path(const char *path, SocketAddress *ret) {
        size_t length = strlen(path);

        if (length == 0)
                return -EINVAL;
        if (length >= sizeof ret->local.sun_path)
                return -ENAMETOOLONG;
        *ret = (SocketAddress){ .local = { .sun_family = AF_UNIX },
                                .length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1) };
        memcpy(ret->local.sun_path, path, length + 1);
        return 0;
}

bool socket_address_is_host(const char *host) {
        SocketAddress addresses[SOCKET_ADDRESSES_MAX];
        return parse_host(host, 0, addresses) > 0;
}
