/* target.h - where a stream's bytes go: takes what can be taken now, and can never be made to wait.
 *
 * The descriptors that PID 1 hands over are shared with others, so their flags are never changed. In order of
 * preference: a description of our own (/proc/self/fd), a regular file as it is (its offset is shared), send without
 * blocking on a socket, a private pipe spliced without blocking into a pipe, small pieces after poll into a terminal
 * that is not ours to open. A disk may still be slow: nothing can be done about that in one thread. Source: open(2),
 * splice(2), write(2). */
#pragma once
#include "logger/log_file.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum TargetWay {
        TARGET_NULL,  /* takes everything, keeps nothing */
        TARGET_PLAIN, /* write(): non-blocking by its own description, or a regular file */
        TARGET_SOCKET,
        TARGET_SPLICE,
        TARGET_POLLED,
        TARGET_LOG,
} TargetWay;

typedef struct Target {
        TargetWay way;
        int fd;
        int pipe_read, pipe_write; /* TARGET_SPLICE */
        size_t staged;             /* bytes that are in the private pipe */
        LogFile *log;              /* TARGET_LOG */
        bool can_poll;             /* else a regular file, which is always writable */
} Target;

#define TARGET_NOWHERE ((Target){ .way = TARGET_NULL, .fd = -1, .pipe_read = -1, .pipe_write = -1 })

/* Takes over `fd` in any case. Never fails: what is no open descriptor is TARGET_NULL. */
void target_from_fd(Target *ret, int fd);
/* Opens a file for appending. 0 or -errno (-ENXIO: a FIFO that nobody reads). */
int target_open(Target *ret, const char *path, bool truncate);
/* A rotated file, which the target has taken from its LogFiles and releases. It takes all or fails. */
void target_from_log(Target *ret, LogFile *log);
bool target_is_terminal(const Target *target);
void target_done(Target *target);

/* How many bytes were taken, possibly fewer than given; -EAGAIN: none now, wait until `fd` can be written; or -errno.
 * Into anything but a file it takes whole lines where they fit into PIPE_BUF, so that lines of several streams do not
 * mix. */
ssize_t target_write(Target *target, const char *bytes, size_t length);
/* Moves on what was taken but is still on its way. 0 when nothing is; -EAGAIN; or -errno, and it is lost. */
int target_flush(Target *target);
