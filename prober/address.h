/* address.h - where a check goes: an address and a port, or the path of a socket, as the kernel wants them.
 *
 * Pure: no name is looked up. `localhost` is both loopback addresses, whatever /etc/hosts says. Source: ip(7), ipv6(7),
 * unix(7). */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define ADDRESSES_MAX 2

typedef struct Address {
        union {
                struct sockaddr any;
                struct sockaddr_in ipv4;
                struct sockaddr_in6 ipv6;
                struct sockaddr_un local;
        };
        socklen_t length;
} Address;

/* "127.0.0.1:80", "[::1]:80", "localhost:80": how many, in the order in which they are tried; -EINVAL. */
int address_parse_port(const char *text, Address ret[static ADDRESSES_MAX]);
/* 0; -EINVAL: no path; -ENAMETOOLONG: longer than a socket's may be. */
int address_parse_path(const char *path, Address *ret);

/* An address as it stands in a URL (in brackets when it is an IPv6 one), or localhost: a check may go there. */
bool address_is_host(const char *host);
