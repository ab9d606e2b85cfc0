/* socket_address.h - an address and a port, or the path of a socket, as the kernel wants them.
 *
 * Pure: no name is looked up. `localhost` is both loopback addresses, whatever /etc/hosts says. Source: ip(7), ipv6(7),
 * unix(7). */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SOCKET_ADDRESSES_MAX 2

typedef struct SocketAddress {
        union {
                struct sockaddr any;
                struct sockaddr_in ipv4;
                struct sockaddr_in6 ipv6;
                struct sockaddr_un local;
        };
        socklen_t length;
} SocketAddress;

/* "127.0.0.1:80", "[::1]:80", "localhost:80": how many, in the order in which they are tried; -EINVAL. */
int socket_address_parse_port(const char *text, SocketAddress ret[static SOCKET_ADDRESSES_MAX]);
/* 0; -EINVAL: no path; -ENAMETOOLONG: longer than a socket's may be. */
int socket_address_parse_path(const char *path, SocketAddress *ret);

/* An address as it stands in a URL (in brackets when it is an IPv6 one), or localhost: no name to be looked up. */
bool socket_address_is_host(const char *host);
