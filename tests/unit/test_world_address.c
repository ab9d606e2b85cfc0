/* test_world_address.c - which addresses are the database's. */
#include "base/take.h"
#include "verify/world_address.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static WorldAddress find(char *host, char *port) {
        WorldAddress address;
        PqServer server = { .host = host, .port = port };
        cr_assert_eq(world_address_find(&server, &address), 0);
        return address;
}

static bool is(const WorldAddress *address, bool relayed, const char *text) {
        SocketAddress given[SOCKET_ADDRESSES_MAX];

        if (text[0] == '/')
                cr_assert_eq(socket_address_parse_path(text, &given[0]), 0);
        else
                cr_assert_gt(socket_address_parse_port(text, given), 0);
        return world_address_is(address, relayed, &given[0], given[0].length);
}

Test(world_address, a_socket_is_known_by_its_path) {
        char host[] = "/run/postgresql", port[] = "5433";
        WorldAddress address = find(host, port);

        cr_expect(is(&address, true, "/run/postgresql/.s.PGSQL.5433"));
        cr_expect_not(is(&address, true, "/run/postgresql/.s.PGSQL.5432"));
        cr_expect_not(is(&address, true, "127.0.0.1:5433"));
}

Test(world_address, a_server_by_tcp_is_known_by_its_address_and_in_a_world_by_loopback) {
        char host[] = "10.1.2.3", port[] = "5432";
        WorldAddress address = find(host, port);

        cr_expect(is(&address, false, "10.1.2.3:5432"));
        cr_expect_not(is(&address, false, "10.1.2.4:5432"));
        cr_expect_not(is(&address, false, "127.0.0.1:5432"));
        cr_expect(is(&address, true, "127.0.0.1:5432"));
        cr_expect_not(is(&address, true, "127.0.0.1:5431"));
        cr_expect(is(&address, true, "[::1]:5432"));
        cr_expect_not(is(&address, true, "/run/x"));
}

Test(world_address, a_name_is_refused_but_localhost) {
        char name[] = "db.example", local[] = "localhost", port[] = "5432";
        PqServer server = { .host = name, .port = port };
        WorldAddress address;

        cr_expect_eq(world_address_find(&server, &address), -EINVAL);
        address = find(local, port);
        cr_expect(is(&address, false, "127.0.0.1:5432"));
}

Test(world_address, what_is_too_short_is_no_address) {
        char host[] = "127.0.0.1", port[] = "5432";
        WorldAddress address = find(host, port);
        SocketAddress given[SOCKET_ADDRESSES_MAX];

        cr_assert_gt(socket_address_parse_port("127.0.0.1:5432", given), 0);
        for (size_t size = 0; size < sizeof given[0].ipv4; size++)
                cr_expect_not(world_address_is(&address, false, &given[0], size), "%zu bytes", size);
}
