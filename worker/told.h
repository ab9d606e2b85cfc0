/* told.h - hears what the command of one slot says by the words of sd_notify(3): that it moves on, and how far it is.
 *
 * A datagram socket in the abstract namespace under a name that nobody can guess, so that a worker that is killed
 * leaves no file behind. The kernel says which user sent a message; whoever is neither ours nor root is not heard. */
#pragma once
#include "base/notify_words.h"
#include <systemd/sd-event.h>

typedef struct Told Told;
typedef void (*ToldTake)(void *userdata, const NotifyWords *words);

int told_new(Told **ret, sd_event *event, ToldTake take, void *userdata); /* 0 or -errno */
Told *told_free(Told *told);
const char *told_address(const Told *told); /* for NOTIFY_SOCKET: "@…" */
