/* wire.h - the connection to PID 1's control socket: subscribes to the journal, hands on its news, sends reports.
 *
 * Never blocks and never logs; comes back by itself, from the event that its holder names. A PID 1 that accepts and
 * does not answer is left after WIRE_SILENCE_USEC and tried again. A report is kept until PID 1 confirmed it, over a
 * reconnection too. Source: contracts/cli.md, Control socket. */
#pragma once
#include "base/usec.h"
#include "reaper/news.h"
#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

#define WIRE_SILENCE_USEC (10 * USEC_PER_SEC)
#define WIRE_REPORTS_MAX  4
#define WIRE_REPORT_MAX   256

typedef struct Wire Wire;

typedef struct WirePlan {
        const char *path;                                     /* of the socket; copied */
        uint64_t (*since)(void *userdata);                    /* the last event that need not be heard again */
        void (*on_news)(void *userdata, const News *news);    /* answers too */
        void (*on_lost)(void *userdata, int error, bool was); /* errno, 0: PID 1 closed; `was`: it had subscribed */
        void *userdata;
} WirePlan;

/* -ENAMETOOLONG: no socket has such a path. Connects from within the loop. */
int wire_new(Wire **ret, sd_event *event, const WirePlan *plan);
Wire *wire_free(Wire *wire);

bool wire_is_subscribed(const Wire *wire);
void wire_renew(Wire *wire); /* subscribes anew; may be called from on_news */
/* {"event":…} as one line without its end. -ENOBUFS: too long or too many. */
int wire_report(Wire *wire, const char *params);
size_t wire_unsaid(const Wire *wire); /* reports that PID 1 did not yet confirm */
