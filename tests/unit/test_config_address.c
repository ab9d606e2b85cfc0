/* test_config_address.c - addresses with ports, and URLs: what is taken, in which form, and what is said of the rest.
 */
#include "base/take.h"
#include "supervisor/config_address.h"
#include <criterion/criterion.h>
#include <string.h>

typedef struct Row {
        AddressNames names;
        const char *text, *says; /* the canonical form, or a piece of the problem */
} Row;

static int parse(const Row *row, Address *ret, Problem *problem) {
        return address_parse(row->text, strlen(row->text), row->names, 0, ret, problem);
}

Test(config_address, good_ones_have_one_form) {
        static const Row rows[] = {
                { NAMES_NONE, "127.0.0.1:1", "127.0.0.1:1" },
                { NAMES_NONE, "0.0.0.0:65535", "0.0.0.0:65535" },
                { NAMES_NONE, "[::]:080", "[::]:80" },
                { NAMES_NONE, "[0:0:0:0:0:0:0:1]:80", "[::1]:80" },
                { NAMES_NONE, "[2001:DB8::A]:80", "[2001:db8::a]:80" },
                { NAMES_LOCALHOST, "LocalHost:80", "localhost:80" },
                { NAMES_LOCALHOST, "10.0.0.1:80", "10.0.0.1:80" },
                { NAMES_ANY, "balancer:80", "balancer:80" },
                { NAMES_ANY, "a.b-c.example:80", "a.b-c.example:80" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                Address address = { 0 };
                Problem problem = { "" };
                cr_expect_eq(parse(&rows[i], &address, &problem), 0, "%s: %s", rows[i].text, problem.text);
                cr_expect_str_eq(address.text, rows[i].says, "%s", rows[i].text);
        }
}

Test(config_address, bad_ones_are_told_what_would_be_right) {
        static const Row rows[] = {
                { NAMES_NONE, "", "write 0.0.0.0 or [::]" },
                { NAMES_NONE, ":80", "write 0.0.0.0 or [::]" },
                { NAMES_NONE, "*:80", "write 0.0.0.0 or [::]" },
                { NAMES_NONE, "localhost:80", "write 127.0.0.1 or [::1]" },
                { NAMES_NONE, "example.org:80", "names are not looked up: write the address" },
                { NAMES_NONE, "127.0.0.1", "the port is missing: write 127.0.0.1:PORT" },
                { NAMES_NONE, "[::1]", "the port is missing: write [ADDRESS]:PORT" },
                { NAMES_NONE, "127.0.0.1:", "from 1 to 65535" },
                { NAMES_NONE, "127.0.0.1:0", "from 1 to 65535" },
                { NAMES_NONE, "127.0.0.1:65536", "from 1 to 65535" },
                { NAMES_NONE, "127.0.0.1:99999999999999999999999", "from 1 to 65535" },
                { NAMES_NONE, "127.0.0.1:+80", "from 1 to 65535" },
                { NAMES_NONE, "127.0.0.1:80x", "from 1 to 65535" },
                { NAMES_NONE, "127.0.0.256:80", "is no address" },
                { NAMES_NONE, "127.1:80", "is no address" },
                { NAMES_NONE, "127.0.0.01:80", "is no address" },
                { NAMES_NONE, "::1:80", "in brackets, such as [::1]:8080" },
                { NAMES_NONE, "[::1:80", "not closed by ]" },
                { NAMES_NONE, "[::1]80", "only :PORT can follow" },
                { NAMES_NONE, "[127.0.0.1]:80", "is no IPv6 address" },
                { NAMES_NONE, "[fe80::1%eth0]:80", "with a zone cannot" },
                { NAMES_LOCALHOST, ":80", "the host is missing" },
                { NAMES_LOCALHOST, "web:80", "or localhost" },
                { NAMES_ANY, "-web:80", "neither an address nor the name of a host" },
                { NAMES_ANY, "web-:80", "neither an address nor the name of a host" },
                { NAMES_ANY, "a..b:80", "neither an address nor the name of a host" },
                { NAMES_ANY, "a b:80", "neither an address nor the name of a host" },
                { NAMES_ANY, "300.300.300.300:80", "neither an address nor the name of a host" },
                { NAMES_ANY, "app:secret@host:80", "a user or a password" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                Address address = { 0 };
                Problem problem = { "" };
                cr_expect_eq(parse(&rows[i], &address, &problem), -EINVAL, "%s was taken", rows[i].text);
                cr_expect_not_null(strstr(problem.text, rows[i].says), "%s: %s", rows[i].text, problem.text);
                cr_expect_eq(address.port, 0, "untouched on failure");
        }
}

Test(config_address, the_length_ends_the_text_and_a_port_may_have_a_default) {
        Address address;
        Problem problem;
        cr_expect_eq(address_parse("10.0.0.1/path", 8, NAMES_NONE, 443, &address, &problem), 0);
        cr_expect(address.port == 443 && address.kind == ADDRESS_V4);
        cr_expect_str_eq(address.text, "10.0.0.1:443");
        cr_expect_eq(address_parse("10.0.0.1:8080", 10, NAMES_NONE, 443, &address, &problem), 0);
        cr_expect_eq(address.port, 8);
}

Test(config_address, all_addresses_are_told_from_one) {
        static const struct {
                const char *text;
                bool any;
        } rows[] = { { "0.0.0.0:1", true }, { "[::]:1", true }, { "0.0.0.1:1", false }, { "[::1]:1", false } };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                Address address;
                Problem problem;
                cr_assert_eq(address_parse(rows[i].text, strlen(rows[i].text), NAMES_NONE, 0, &address, &problem), 0);
                cr_expect_eq(address_is_any(&address), rows[i].any, "%s", rows[i].text);
        }
}

Test(config_address, a_host_name_has_at_most_253_letters) {
        char text[300] = "";
        Address address;
        Problem problem;
        for (int i = 0; i < 63; i++)
                strcat(text, "abc.");
        strcat(text, "d"); /* 253 */
        cr_expect_eq(address_parse(text, strlen(text), NAMES_ANY, 80, &address, &problem), 0);
        strcat(text, "e");
        cr_expect_eq(address_parse(text, strlen(text), NAMES_ANY, 80, &address, &problem), -EINVAL);
}

/* ---- URLs ---- */

Test(config_address, urls_are_taken_apart) {
        static const struct {
                const char *text, *address, *path;
                bool tls;
        } rows[] = {
                { "http://127.0.0.1:8080/health", "127.0.0.1:8080", "/health", false },
                { "HTTP://localhost", "localhost:80", "", false },
                { "https://[::1]/a?b=%20&c", "[::1]:443", "/a?b=%20&c", true },
                { "http://a.example?x", "a.example:80", "?x", false },
                { "http://a.example/x@y", "a.example:80", "/x@y", false },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                Url url = { 0 };
                Problem problem = { "" };
                cr_assert_eq(url_parse(rows[i].text, NAMES_ANY, &url, &problem), 0, "%s: %s", rows[i].text,
                             problem.text);
                cr_expect_str_eq(url.address.text, rows[i].address);
                cr_expect_str_eq(url.path, rows[i].path);
                cr_expect_eq(url.tls, rows[i].tls);
        }
}

Test(config_address, what_is_said_of_a_bad_url_holds_no_password_and_no_path) {
        static const char *const rows[][2] = {
                { "ftp://host/", "http:// or https://" },
                { "host:80/", "http:// or https://" },
                { "http:///x", "the host is missing" },
                { "http://app:s3cret@host/", "a user or a password" },
                { "http://app:s3cret/4@host/", "a user or a password" },
                { "http://app:s3cret?4@host/", "a user or a password" },
                { "http://s3cret#4@host/", "#fragment" },
                { "http://host/s3cret s3cret", "write it as %XX" },
                { "http://host/s3cret\r\nX: s3cret", "write it as %XX" },
                { "http://host/s3cret\xC3\xA4", "write it as %XX" },
                { "http://host/?s3cret#s3cret", "#fragment" },
                { "http://host/s3cret\"", "write it as %XX" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                Url url;
                Problem problem = { "" };
                cr_expect_eq(url_parse(rows[i][0], NAMES_ANY, &url, &problem), -EINVAL, "%s was taken", rows[i][0]);
                cr_expect_not_null(strstr(problem.text, rows[i][1]), "%s: %s", rows[i][0], problem.text);
                cr_expect_null(strstr(problem.text, "s3cret"), "%s", problem.text);
        }
}
