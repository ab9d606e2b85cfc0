/* sockets.h - holds the listening sockets of services, so that a restart refuses no connection.
 *
 * Opened when a service is first started, all or none; shared by its instances; kept until sockets_close(). Unix
 * sockets are replaced when nobody answers on them, never stolen from a living owner, and removed when they are closed.
 * Never blocks, resolves no name. Source: sd_listen_fds(3), socket(7), unix(7). */
#pragma once
#include "supervisor/config.h"
#include <stdint.h>

typedef struct Sockets Sockets;

int sockets_new(Sockets **ret, const Config *config);
Sockets *sockets_free(Sockets *sockets); /* closes and removes all */

/* Opens what is not open yet. The number of sockets and their descriptors (borrowed, valid until sockets_close()); or
 * -errno, and then *ret_which names the one that failed (in the configuration's memory) and nothing stays open that was
 * not open before. */
int sockets_open(Sockets *sockets, uint32_t service, const int **ret_fds, const char **ret_which);
void sockets_close(Sockets *sockets, uint32_t service);
