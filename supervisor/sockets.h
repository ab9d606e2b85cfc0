/* sockets.h - holds the listening sockets of services, so that a restart refuses no connection.
 *
 * Made when a service is first started, shared by its instances, kept until sockets_close(). Bound by the service's own
 * child (listening.h), so that PID 1 looks up no path. Passed as systemd passes them: blocking (a service may change
 * that, and what its other instances have set is left to them), with a queue as long as the kernel allows, IPv6 sockets
 * with IPv4 as net.ipv6.bindv6only says, but without it where the configuration has an IPv4 socket of the same port.
 * The file of a Unix socket stays when it is closed, as RemoveOnStop=no leaves it: the next start replaces it. Never
 * blocks, resolves no name. Source: sd_listen_fds(3), systemd.socket(5), socket(7), unix(7). */
#pragma once
#include "supervisor/config.h"
#include "supervisor/listening.h"
#include <stdint.h>

typedef struct Sockets Sockets;

int sockets_new(Sockets **ret, const Config *config);
Sockets *sockets_free(Sockets *sockets); /* closes all */

/* Makes what is not there yet. 0; *ret is valid until sockets_close(), and *ret_done says whether all of them listen
 * already. Or -errno (no descriptor, no memory), and what was there is still there. A socket that a service has shut
 * down is replaced. */
int sockets_open(Sockets *sockets, uint32_t service, const Listening **ret, bool *ret_done);
/* As a first start finds them: O_NONBLOCK off, and no filter that keeps clients out. */
void sockets_reset(Sockets *sockets, uint32_t service);
void sockets_close(Sockets *sockets, uint32_t service);

/* The step that failed, for people: "listen tcp://127.0.0.1:80". Lives as long as `sockets`. */
const char *sockets_step(const Sockets *sockets, uint32_t service, size_t which);
