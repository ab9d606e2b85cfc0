/* listening.h - binds the sockets that endwell holds, and makes them listen.
 *
 * Runs in the child, between fork and exec, on sockets that PID 1 has made and keeps: who looks for the place of a Unix
 * socket may wait for a dead file system, and PID 1 must not. System calls only, no allocation. Children that start at
 * the same time take turns. What is done already is left alone, and what was done by half is finished. A Unix socket
 * that nobody answers on is replaced, and never one that somebody answers on, nor a file that is no socket. Source:
 * bind(2), listen(2), unix(7), fcntl(2). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

typedef struct ListeningSocket {
        int fd;
        const struct sockaddr *address;
        socklen_t length;
        mode_t mode; /* of a Unix socket's file */
} ListeningSocket;

typedef struct Listening {
        ListeningSocket *sockets;
        size_t n;
        uid_t uid; /* of Unix sockets' files; (uid_t)-1 and (gid_t)-1: as they are made */
        gid_t gid;
        int lock_fd; /* of a file of ours; a byte of it for each service */
        off_t lock;
} Listening;

bool listening_is_done(int fd);

/* 0; or -errno, and then *ret_which is the number of the socket that could not: -EADDRINUSE (also a Unix socket that
 * somebody answers on), -EEXIST (a file that is no socket), … */
int listening_begin(const Listening *listening, size_t *ret_which);
