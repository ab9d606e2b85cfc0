/* ready_pipes.h - hears the newline by which a service of Type=notify-fd:N says that it is ready.
 *
 * One pipe a run; all stand in one nested epoll, so that an instance costs no memory of sd-event. What stands before
 * the newline is passed over, up to 64 KiB; what comes after it, or end of file without one, closes the pipe and says
 * nothing. Source: s6, service startup notifications. */
#pragma once
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct ReadyPipes ReadyPipes;

typedef void (*ReadyPipeHandler)(void *userdata, uint32_t member);

int ready_pipes_new(ReadyPipes **ret, sd_event *event, uint32_t n_members, ReadyPipeHandler handler, void *userdata);
ReadyPipes *ready_pipes_free(ReadyPipes *pipes);
/* The writing end for a new run, to be closed by the caller once the child is made; an earlier run's pipe is given up.
 * Or -errno. */
int ready_pipes_open(ReadyPipes *pipes, uint32_t member);
/* Reads what is there: before the end of a process is judged. */
void ready_pipes_look(ReadyPipes *pipes, uint32_t member);
void ready_pipes_close(ReadyPipes *pipes, uint32_t member);
