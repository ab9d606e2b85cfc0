/* config_address.h - reads addresses with ports, and URLs, as probes, held sockets and Http hooks have them; for
 * config_*.c only.
 *
 * Pure. Names are not looked up. What a problem says never holds the part of a URL in which a secret can stand: before
 * an @, or behind the ?. */
#pragma once
#include "supervisor/config_problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_NAME_MAX_LENGTH 253                        /* RFC 1035 */
#define ADDRESS_TEXT_MAX     (HOST_NAME_MAX_LENGTH + 9) /* brackets, colon, port, NUL */

typedef enum AddressKind { ADDRESS_V4, ADDRESS_V6, ADDRESS_NAME } AddressKind;

typedef enum AddressNames {
        NAMES_NONE,      /* an address only */
        NAMES_LOCALHOST, /* an address, or localhost */
        NAMES_ANY,       /* a name, too */
} AddressNames;

typedef struct Address {
        AddressKind kind;
        unsigned char bytes[16];     /* of an address */
        uint16_t port;               /* 1 to 65535 */
        char text[ADDRESS_TEXT_MAX]; /* HOST:PORT in its one canonical form, an IPv6 address in brackets */
} Address;

/* "HOST:PORT"; without the port `default_port`, where that is not 0. 0 or -EINVAL. */
int address_parse(const char *text, size_t length, AddressNames names, uint16_t default_port, Address *ret,
                  Problem *problem);
/* 0.0.0.0 or [::] */
bool address_is_any(const Address *address);

typedef struct Url {
        bool tls; /* https */
        Address address;
        const char *path; /* in the text that was read: what follows the host, "" or "/…" or "?…" */
} Url;

/* "http://HOST[:PORT][/PATH][?QUERY]", or https. 0 or -EINVAL. */
int url_parse(const char *text, AddressNames names, Url *ret, Problem *problem);
