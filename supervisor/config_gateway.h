/* config_gateway.h - where the gateway answers, and when it calls the container ready: [Gateway] as values.
 *
 * PID 1 itself only hands these on: it parses no HTTP. Without the section there is no gateway. */
#pragma once
#include <stdbool.h>

typedef struct Rights Rights;

typedef struct GatewayConfig {
        char *listen;     /* ADDR:PORT, the address in brackets when it is an IPv6 one; NULL: no gateway */
        char *ready_when; /* names of services with commas between them; NULL: all */
        bool dashboard;   /* the status page, for whoever reaches the address */
        Rights *rights;   /* what is left to it; NULL without a gateway */
} GatewayConfig;

void gateway_done(GatewayConfig *gateway);
