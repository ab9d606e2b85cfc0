/* spout.h - one pipe that a command writes into: hands on its bytes as they come, without waiting for any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

typedef struct Spout Spout;
typedef void (*SpoutTake)(void *userdata, const char *bytes, size_t length); /* length 0: the pipe has ended */

/* *ret_theirs is the end for the command, the caller's to close. 0 or -errno. */
int spout_new(Spout **ret, sd_event *event, SpoutTake take, void *userdata, int *ret_theirs);
Spout *spout_free(Spout *spout);
void spout_pause(Spout *spout, bool paused); /* the writer waits, once the pipe is full */
/* Hands on what is in the pipe now, to its end or until nothing more is there. */
void spout_drain(Spout *spout);
