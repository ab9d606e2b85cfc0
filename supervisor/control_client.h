/* control_client.h - one connection to the control socket: what it sent, what it is still to be sent, and where it
 * reads the journal.
 *
 * Bounded: a request line of at most 64 KiB, one answer at a time, and no copy of the journal (a cursor). The next
 * request is looked at only after the last answer has left, so a client that does not read cannot make us work. Never
 * blocks, never logs; whether it lives on is answered to the one who holds the connections. */
#pragma once
#include "supervisor/control.h"
#include "supervisor/control_answer.h"
#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

#define CONTROL_STALLED_MAX (1024 * 1024) /* bytes by which the journal may grow while a subscriber reads nothing */

typedef struct ControlClient ControlClient;

/* `reason` NULL: it went by itself. */
typedef void (*ControlClientEnded)(void *holder, ControlClient *client, const char *reason);

struct ControlClient {
        const ControlPlan *plan;
        Peer peer;
        int fd;
        sd_event_source *source;
        ControlClientEnded ended;
        void *holder;
        uint64_t *turns; /* of the holder: one more with each thing that any client does */

        char *in; /* what was received and not yet taken up */
        size_t in_length, in_size;
        size_t line_end; /* length of the first whole line in there, with its newline; 0: none */
        bool half_closed;

        ControlAnswer out; /* what the socket did not yet take */
        size_t sent;
        bool closing; /* nothing follows what is in `out` */

        bool subscribed, gateway;
        ArchiveCursor cursor;
        uint64_t total_when_read; /* archive_total() when the socket last took something */
        uint64_t turn;            /* when it last did anything, in turns of the holder */
};

/* Owns `fd` from here on, also on failure. `ended` is called when the connection must be freed. */
int control_client_new(ControlClient **ret, sd_event *event, int fd, const ControlPlan *plan, Peer peer,
                       ControlClientEnded ended, void *holder, uint64_t *turns);
ControlClient *control_client_free(ControlClient *client);

/* Sends what the socket takes of the journal; may call `ended`. */
void control_client_pump(ControlClient *client);
/* The last words before control_client_free(): as much as the socket takes at once. */
void control_client_flush(ControlClient *client);
