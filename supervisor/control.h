/* control.h - the control socket: JSON lines from operators, the gateway and the reaper.
 *
 * At most 64 clients, a request line of at most 64 KiB, at most 1 MiB kept for a client that does not read, then it is
 * dropped; PID 1 never waits for one. Malformed input gets an error line, then the connection is closed. Peer
 * credentials decide: root, endwell's own uid, or a member of ControlGroup (asked of the kernel: SO_PEERCRED,
 * SO_PEERGROUPS). Knows subscribe; what the other methods mean is told by a table. Source: contracts/cli.md, Control
 * socket. */
#pragma once
#include "base/json.h"
#include "base/peer.h"
#include "supervisor/archive.h"
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef struct json_t json_t; /* jansson's: see control_params.h */

/* Writes its answer as one JSON value into `result` (under no key). 0; or -errno, and then *ret_code (a word as in
 * "bad_params") and ret_message (256 bytes) say why. */
typedef int (*ControlMethod)(void *userdata, const Peer *peer, const json_t *params, Json *result,
                             const char **ret_code, char *ret_message);

typedef struct ControlMethodEntry {
        const char *name; /* NULL ends the table */
        ControlMethod method;
        size_t result_max; /* bytes to reserve for the answer */
} ControlMethodEntry;

typedef struct ControlPlan {
        const char *path; /* of the socket; made 0600, or 0660 with the group */
        int group;        /* gid or -1 */
        const ControlMethodEntry *methods;
        void *userdata;
        Archive *archive; /* for subscribe */
        void (*dropped)(void *userdata, pid_t peer, const char *reason);
} ControlPlan;

typedef struct Control Control;

int control_new(Control **ret, sd_event *event, const ControlPlan *plan);
/* Hands out what is queued and removes the socket's name: all that an exit does not do by itself. */
void control_leave(Control *control);
Control *control_free(
        Control *control); /* tries once to hand over what clients have not yet read; unlinks the socket */

/* The journal has grown: subscribers get the new lines when their sockets take them. */
void control_pump(Control *control);
/* A client that subscribed with `"as":"gateway"` is connected. */
bool control_has_gateway(const Control *control);
