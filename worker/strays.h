/* strays.h - collects this process's dead children, and kills whoever became its child without being its keeper.
 *
 * The worker is a subreaper: when a keeper is killed, what lived below it comes here, and must not live on. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef struct Strays Strays;

typedef struct StraysCalls {
        bool (*knows)(void *userdata, pid_t pid); /* it is a keeper that is watched */
        void (*dead)(void *userdata, pid_t pid);  /* it was collected */
        void *userdata;
} StraysCalls;

/* Hears SIGCHLD, which the caller has blocked. */
int strays_new(Strays **ret, sd_event *event, const StraysCalls *calls);
Strays *strays_free(Strays *strays);
/* Waits, when nothing else is left to do, until there is no child any more, but no longer than that: so that whoever
 * sees us end knows that nothing of us is left. SIGCHLD is blocked. */
void strays_outlive(usec_t most_usec);
