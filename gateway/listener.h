/* listener.h - the gateway's own socket: bound, and bound again for as long as the port is taken.
 *
 * A port that is taken is told once, and once more when it is free: nothing else suffers from it. */
#pragma once
#include <stddef.h>
#include <systemd/sd-event.h>

typedef struct ListenerPlan {
        const char *address; /* ADDR:PORT; outlives the listener */
        void (*accepted)(void *userdata, int fd, const void *address, size_t length); /* the descriptor is his */
        void *userdata;
} ListenerPlan;

typedef struct Listener Listener;

int listener_new(Listener **ret, sd_event *event, const ListenerPlan *plan); /* -EINVAL: no such address */
Listener *listener_free(Listener *listener);
