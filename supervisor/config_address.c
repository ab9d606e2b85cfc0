/* config_address.c - see config_address.h. */
#include "supervisor/config_address.h"
#include "base/take.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HOST_SHOWN_MAX 60

/* ---- Hosts ---- */

static bool is_localhost(const char *host) {
        return strcasecmp(host, "localhost") == 0;
}

/* Labels of letters, digits and inner hyphens, RFC 1123; the last one no number, for then a misspelt address would be
 * taken for a name. */
static bool is_host_name(const char *host) {
        static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        const char *label = host;

        for (;; label++) {
                size_t n = strspn(label, fine);
                if (n == 0 || n > 63 || label[0] == '-' || label[n - 1] == '-')
                        return false;
                if (!label[n])
                        return label[strspn(label, "0123456789")] != '\0';
                label += n;
                if (*label != '.')
                        return false;
        }
}

static int refuse_host(const char *host, AddressNames names, Problem *problem) {
        if (!*host)
                return problem_say(problem, names == NAMES_NONE
                                                    ? "the address is missing: write 0.0.0.0 or [::] for all of them"
                                                    : "the host is missing before the port");
        if (names == NAMES_NONE && is_localhost(host))
                return problem_say(problem, "localhost is a name; write 127.0.0.1 or [::1]");
        if (names == NAMES_NONE && strcmp(host, "*") == 0)
                return problem_say(problem, "* is no address; write 0.0.0.0 or [::] for all of them");
        if (names == NAMES_ANY)
                return problem_say(problem, "%.*s is neither an address nor the name of a host", HOST_SHOWN_MAX, host);
        return problem_say(problem, "%.*s is no address, and names are not looked up: write the address%s",
                           HOST_SHOWN_MAX, host, names == NAMES_LOCALHOST ? ", or localhost" : "");
}

static int read_host(const char *host, bool bracketed, AddressNames names, Address *address, Problem *problem) {
        if (bracketed) {
                address->kind = ADDRESS_V6;
                if (inet_pton(AF_INET6, host, address->bytes) == 1)
                        return 0;
                return problem_say(problem, "[%.*s] is no IPv6 address%s", HOST_SHOWN_MAX, host,
                                   strchr(host, '%') ? " (one with a zone cannot be written here)" : "");
        }
        address->kind = ADDRESS_V4;
        if (inet_pton(AF_INET, host, address->bytes) == 1)
                return 0;
        address->kind = ADDRESS_NAME;
        if ((names != NAMES_NONE && is_localhost(host)) || (names == NAMES_ANY && is_host_name(host)))
                return 0;
        return refuse_host(host, names, problem);
}

/* ---- Ports ---- */

static int read_port(const char *text, size_t length, uint16_t *ret, Problem *problem) {
        unsigned long port = 0;

        for (size_t i = 0; i < length; i++) {
                if (text[i] < '0' || text[i] > '9' || port > 65535)
                        return problem_say(problem, "the port must be a number from 1 to 65535");
                port = port * 10 + (unsigned long)(text[i] - '0');
        }
        if (length == 0 || port < 1 || port > 65535)
                return problem_say(problem, "the port must be a number from 1 to 65535");
        *ret = (uint16_t)port;
        return 0;
}

static void put_text(Address *address, const char *host) {
        char digits[INET6_ADDRSTRLEN];

        if (address->kind == ADDRESS_V6)
                snprintf(address->text, sizeof address->text, "[%s]:%u",
                         inet_ntop(AF_INET6, address->bytes, digits, sizeof digits), address->port);
        else
                snprintf(address->text, sizeof address->text, "%s:%u", is_localhost(host) ? "localhost" : host,
                         address->port);
}

/* ---- Both ---- */

/* Where the host and the port are in "HOST:PORT". */
typedef struct Pieces {
        const char *host, *port; /* port NULL: none is written */
        size_t host_length, port_length;
        bool bracketed;
} Pieces;

static int take_bracketed(const char *text, size_t length, Pieces *pieces, Problem *problem) {
        const char *end = memchr(text, ']', length);

        if (!end)
                return problem_say(problem, "a bracket [ is not closed by ]");
        *pieces = (Pieces){ .host = text + 1, .host_length = (size_t)(end - text) - 1, .bracketed = true };
        size_t rest = length - (size_t)(end + 1 - text);
        if (rest > 0 && end[1] != ':')
                return problem_say(problem, "only :PORT can follow the ]");
        if (rest > 0) {
                pieces->port = end + 2;
                pieces->port_length = rest - 1;
        }
        return 0;
}

static int take_apart(const char *text, size_t length, Pieces *pieces, Problem *problem) {
        if (memchr(text, '@', length))
                return problem_say(problem, "a user or a password cannot stand before the host");
        if (length > 0 && text[0] == '[')
                return take_bracketed(text, length, pieces, problem);
        const char *colon = memchr(text, ':', length);
        *pieces = (Pieces){ .host = text, .host_length = colon ? (size_t)(colon - text) : length };
        if (!colon)
                return 0;
        pieces->port = colon + 1;
        pieces->port_length = length - pieces->host_length - 1;
        if (memchr(pieces->port, ':', pieces->port_length))
                return problem_say(problem, "an IPv6 address stands in brackets, such as [::1]:8080");
        return 0;
}

int address_parse(const char *text, size_t length, AddressNames names, uint16_t default_port, Address *ret,
                  Problem *problem) {
        Address address = { .port = default_port };
        char host[HOST_NAME_MAX_LENGTH + 1];
        Pieces pieces = { 0 };

        int r = take_apart(text, length, &pieces, problem);
        if (r < 0)
                return r;
        if (pieces.host_length > HOST_NAME_MAX_LENGTH || memchr(pieces.host, '\0', pieces.host_length))
                return problem_say(problem, "the host is longer than %d letters", HOST_NAME_MAX_LENGTH);
        memcpy(host, pieces.host, pieces.host_length);
        host[pieces.host_length] = '\0';
        r = read_host(host, pieces.bracketed, names, &address, problem);
        if (r < 0)
                return r;
        if (pieces.port)
                r = read_port(pieces.port, pieces.port_length, &address.port, problem);
        else if (default_port == 0)
                r = problem_say(problem, "the port is missing: write %s:PORT", pieces.bracketed ? "[ADDRESS]" : host);
        if (r < 0)
                return r;
        put_text(&address, host);
        *ret = address;
        return 0;
}

bool address_is_any(const Address *address) {
        static const unsigned char zeros[16];
        return address->kind != ADDRESS_NAME &&
               memcmp(address->bytes, zeros, address->kind == ADDRESS_V4 ? 4 : 16) == 0;
}

/* ---- URLs ---- */

/* RFC 3986: what is left of ASCII when blanks, controls and the delimiters that must be written as %XX are gone. */
static int check_path(const char *path, Problem *problem) {
        for (const char *at = path; *at; at++) {
                if (*at <= ' ' || *at >= 0x7F || strchr("\"<>\\^`{|}", *at))
                        return problem_say(problem, "a letter of the path cannot stand in a URL: write it as %%XX");
                if (*at == '#')
                        return problem_say(problem, "a #fragment is never sent: leave it out");
        }
        return 0;
}

int url_parse(const char *text, AddressNames names, Url *ret, Problem *problem) {
        Url url = { 0 };

        if (strncasecmp(text, "http://", 7) == 0)
                text += 7;
        else if (strncasecmp(text, "https://", 8) == 0) {
                text += 8;
                url.tls = true;
        } else
                return problem_say(problem, "a URL begins with http:// or https://");
        size_t length = strcspn(text, "/?#");
        int r = address_parse(text, length, names, url.tls ? 443 : 80, &url.address, problem);
        if (r < 0 && strchr(text, '@')) /* a password with a / or ? in it: what was taken for the host is part of it */
                return problem_say(problem, "a user or a password cannot stand before the host");
        if (r < 0)
                return r;
        url.path = text + length;
        r = check_path(url.path, problem);
        if (r == 0)
                *ret = url;
        return r;
}
