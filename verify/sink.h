/* sink.h - answers every HTTP request on a listening socket with 200, and records it.
 *
 * A proxy for plain HTTP too, and an end of the line: nothing is passed on. CONNECT is refused: what is said inside TLS
 * cannot be recorded. Served from the caller's loop. Only sink.c includes microhttpd.h in this room. */
#pragma once
#include "verify/sink_requests.h"

typedef struct Sink Sink;

int sink_new(Sink **ret, int listener); /* takes the descriptor, also on failure; 0 or -errno */
Sink *sink_free(Sink *sink);
int sink_descriptor(const Sink *sink); /* readable: call sink_serve() */
int sink_wait_msec(const Sink *sink);  /* call it after that time in any case; -1: no need */
void sink_serve(Sink *sink);
const Requests *sink_requests(const Sink *sink);
