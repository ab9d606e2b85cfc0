/* gateway_link.h - PID 1's side of endwell-gateway: starts it, starts it again when it died, ends it last.
 *
 * Never blocks. What the gateway wants to know it asks on the control socket, like any client; the socket that it has
 * as its standard input only tells it, by its end, that we are done or dead. It is never given up: nobody waits for it,
 * and its starts are rare (1 s after its end, doubled up to 30 s while it fails in a row) and told. Once the ending
 * began none is started any more. */
#pragma once
#include "base/log.h"
#include "supervisor/config_gateway.h"
#include "supervisor/crew.h"
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef struct GatewayPlan {
        const char *program; /* path of endwell-gateway (libexec_find); copied */
        const char *control; /* path of the control socket; copied */
        char *const *environment;
        LogFormat log_format;
        LogLevel log_level;
        const GatewayConfig *config;
        void (*spawned)(void *userdata, pid_t pid); /* the roster must know it */
        void (*say)(void *userdata, LogLevel level, const char *sentence);
        void *userdata;
} GatewayPlan;

typedef struct GatewayLink GatewayLink;

/* And starts it. */
int gateway_link_new(GatewayLink **ret, sd_event *event, const GatewayPlan *plan);
GatewayLink *gateway_link_free(GatewayLink *link);
pid_t gateway_link_pid(const GatewayLink *link);           /* 0: none lives */
void gateway_link_on_exited(GatewayLink *link, Ended how); /* the roster has collected gateway_link_pid() */
void gateway_link_rest(GatewayLink *link);                 /* the ending began: who dies now stays dead */
/* It says its last to whoever listens, and ends. True: wait for its exit. */
bool gateway_link_finish(GatewayLink *link);
