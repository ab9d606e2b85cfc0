/* superior.h - what the worker says to whoever supervises it, and what it asks of an endwell: how long it may still
 * last.
 *
 * Words go to $NOTIFY_SOCKET (sd_notify(3), contracts of endwell(1)); the question to $ENDWELL_SOCKET. Without them
 * nothing is said, and nothing is known. */
#pragma once
#include "base/usec.h"
#include <systemd/sd-event.h>

typedef struct Superior Superior;

void superior_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Asks for the limit of the process that is called `owner`; `told` is called at most once, never from within. -ENOENT:
 * there is nobody to ask; or -errno. */
int superior_ask(Superior **ret, sd_event *event, const char *owner, void (*told)(void *userdata, usec_t left_usec),
                 void *userdata);
Superior *superior_free(Superior *superior);

/* Finds limit_us of that owner in the answer to `status`. 0; -ENOENT: it is not in there, or has no limit. Pure. */
int superior_read_limit(const char *answer, const char *owner, usec_t *ret);
