/* frame.h - one JSON value after the other over a stream socket, with descriptors beside it.
 *
 * For two processes of ours that trust each other: waits until a value is there as a whole. */
#pragma once
#include <jansson.h>
#include <stddef.h>

#define FRAME_FDS_MAX 8

/* 0; -ENOMEM; -EPIPE: nobody there; or -errno. */
int frame_send(int socket, const json_t *value, const int *fds, size_t n_fds);

/* 0; -ECONNRESET: the other side is gone; -EBADMSG: no such value; or -errno. Up to `n_fds` descriptors go into `fds`,
 * which are -1 where none came. */
int frame_receive(int socket, json_t **ret, int *fds, size_t n_fds);
