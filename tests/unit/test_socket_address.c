/* test_socket_address.c - where checks may go. */
#include "base/socket_address.h"
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

static void check_ipv4(const SocketAddress *address, const char *host, unsigned port) {
        char text[INET_ADDRSTRLEN];
        cr_assert_eq(address->any.sa_family, AF_INET);
        cr_assert_eq(address->length, sizeof(struct sockaddr_in));
        cr_assert_str_eq(inet_ntop(AF_INET, &address->ipv4.sin_addr, text, sizeof text), host);
        cr_assert_eq(ntohs(address->ipv4.sin_port), port);
}

static void check_ipv6(const SocketAddress *address, const char *host, unsigned port) {
        char text[INET6_ADDRSTRLEN];
        cr_assert_eq(address->any.sa_family, AF_INET6);
        cr_assert_eq(address->length, sizeof(struct sockaddr_in6));
        cr_assert_str_eq(inet_ntop(AF_INET6, &address->ipv6.sin6_addr, text, sizeof text), host);
        cr_assert_eq(ntohs(address->ipv6.sin6_port), port);
}

Test(socket_address, an_address_and_a_port_are_understood) {
        SocketAddress addresses[SOCKET_ADDRESSES_MAX];
        cr_assert_eq(socket_address_parse_port("127.0.0.1:80", addresses), 1);
        check_ipv4(&addresses[0], "127.0.0.1", 80);
        cr_assert_eq(socket_address_parse_port("[2001:db8::1]:65535", addresses), 1);
        check_ipv6(&addresses[0], "2001:db8::1", 65535);
        cr_assert_eq(socket_address_parse_port("[::ffff:10.0.0.1]:1", addresses), 1);
        check_ipv6(&addresses[0], "::ffff:10.0.0.1", 1);
}

Test(socket_address, localhost_is_tried_on_both_loopback_addresses) {
        SocketAddress addresses[SOCKET_ADDRESSES_MAX];
        cr_assert_eq(socket_address_parse_port("LocalHost:8080", addresses), 2);
        check_ipv4(&addresses[0], "127.0.0.1", 8080);
        check_ipv6(&addresses[1], "::1", 8080);
}

Test(socket_address, names_and_broken_numbers_are_refused) {
        static const char *const bad[] = {
                "",      "80",         ":80",           "127.0.0.1",      "127.0.0.1:",      "127.0.0.1:0",
                "web:1", "127.1:80",   "127.0.0.1:x",   "127.0.0.1:+80",  "127.0.0.1: 80",   "127.0.0.1:65536",
                "::1:1", "[::1]",      "[::1]80",       "[::1:80",        "[]:80",           "127.0.0.1:000080",
                "[:1]",  "[web]:80",   "[127.0.0.1]:1", "1.2.3.4.5:80",   "localhost.:80",   "127.0.0.1:80 ",
                "[::1",  "[::1%lo]:1", "0x7f.0.0.1:80", "256.0.0.1:8000", "127.0.0.1:-1000", "127.0.0.1:99999999999",
        };
        char longest[200];
        SocketAddress addresses[SOCKET_ADDRESSES_MAX];
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_assert_eq(socket_address_parse_port(bad[i], addresses), -EINVAL, "%s", bad[i]);
        memset(longest, '1', sizeof longest);
        strcpy(longest + sizeof longest - 4, ":80");
        cr_assert_eq(socket_address_parse_port(longest, addresses), -EINVAL);
}

Test(socket_address, a_path_must_fit_into_the_address_of_a_socket) {
        char path[sizeof(((SocketAddress *)NULL)->local.sun_path) + 1];
        SocketAddress address;
        cr_assert_eq(socket_address_parse_path("/run/web.sock", &address), 0);
        cr_assert_eq(address.any.sa_family, AF_UNIX);
        cr_assert_str_eq(address.local.sun_path, "/run/web.sock");
        cr_assert_eq(address.length, offsetof(struct sockaddr_un, sun_path) + sizeof "/run/web.sock");
        memset(path, 'x', sizeof path);
        path[sizeof path - 1] = '\0';
        cr_assert_eq(socket_address_parse_path(path, &address), -ENAMETOOLONG);
        path[sizeof path - 2] = '\0';
        cr_assert_eq(socket_address_parse_path(path, &address), 0);
        cr_assert_eq(socket_address_parse_path("", &address), -EINVAL);
}

Test(socket_address, hosts_of_urls_are_addresses_or_localhost) {
        cr_assert(socket_address_is_host("127.0.0.1"));
        cr_assert(socket_address_is_host("[::1]"));
        cr_assert(socket_address_is_host("localhost"));
        cr_assert_not(socket_address_is_host("::1"));
        cr_assert_not(socket_address_is_host("web"));
        cr_assert_not(socket_address_is_host("localhost.localdomain"));
        cr_assert_not(socket_address_is_host("127.0.0.1.example.com"));
        cr_assert_not(socket_address_is_host(""));
}
