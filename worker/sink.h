/* sink.h - one pipe that a command reads from: keeps what it does not take yet, and never waits for it.
 *
 * Private buffers only; a reader that is gone loses what was kept, and its end is heard elsewhere. */
#pragma once
#include <stddef.h>
#include <systemd/sd-event.h>

typedef struct Sink Sink;

/* `eased` is called when everything that was kept has been taken. *ret_theirs is the caller's to close. */
int sink_new(Sink **ret, sd_event *event, void (*eased)(void *userdata), void *userdata, int *ret_theirs);
Sink *sink_free(Sink *sink);
int sink_write(Sink *sink, const char *bytes, size_t length); /* 0, -ENOMEM, -EPIPE */
size_t sink_kept(const Sink *sink);
size_t sink_unread(const Sink *sink); /* what is kept, and what is in the pipe and nobody has read */
