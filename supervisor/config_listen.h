/* config_listen.h - reads the sockets that endwell shall hold for a service: tcp://ADDR:PORT, unix:PATH, mode=, name=;
 * for config_*.c only.
 *
 * Pure but for malloc. */
#pragma once
#include "supervisor/config.h"
#include "supervisor/config_problem.h"

#define LISTEN_NAME_MAX 64   /* letters of a name= */
#define LISTENS_MAX     64   /* sockets of one service */
#define LISTEN_MODE     0666 /* as systemd has it */

/* The sockets of one line, *ret_n of them in *ret; those without name= are called `name`. 0, -EINVAL, -ENOMEM. */
int listen_parse(const char *text, const char *name, ListenConfig **ret, size_t *ret_n, Problem *problem);
void listens_free(ListenConfig *listens, size_t n);

/* Whether the second one could not be bound while the first one is. */
bool listens_clash(const ListenConfig *a, const ListenConfig *b);
/* Sorts them so that each stands behind the first one that it clashes with: those of one port and family together, and
 * among these the one of all addresses first. */
int listens_compare(const ListenConfig *a, const ListenConfig *b);
/* Whether they are TCP sockets of one port and family. */
bool listens_share_port(const ListenConfig *a, const ListenConfig *b);
/* The port of a TCP socket, 0 of another. */
unsigned listen_port(const ListenConfig *listen);
