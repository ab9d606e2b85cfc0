/* notify_words.h - reads one sd_notify datagram into a value.
 *
 * Pure: no descriptor, no clock. Lines `KEY=VALUE`; unknown keys are counted and otherwise ignored, a bad value of a
 * known key is counted as bad and ignored, a NUL or invalid UTF-8 in STATUS is cleaned. Source: sd_notify(3) of systemd
 * 252 and contracts/cli.md (X_ENDWELL_*). */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NOTIFY_TEXT_MAX 256

typedef enum NotifyEdge {
        NOTIFY_EDGE_NONE,
        NOTIFY_EDGE_BEGIN,
        NOTIFY_EDGE_END,
} NotifyEdge;

typedef struct NotifyWords {
        bool ready, reloading, stopping, barrier, watchdog, watchdog_trigger, drained;
        bool fdstore, fdstore_remove, fd_unwatched; /* the last: FDPOLL=0 */
        bool has_status, has_errno, has_active, has_rc, has_exit_status;
        pid_t main_pid;             /* 0: not said */
        usec_t watchdog_usec;       /* 0: not said */
        usec_t extend_timeout_usec; /* 0: not said */
        int error_number, rc, exit_status;
        unsigned active;
        NotifyEdge hook_edge;
        char hook[41];                /* "" : not said */
        char fd_name[256];            /* "" : not said */
        char status[NOTIFY_TEXT_MAX]; /* cut at a whole character */
        unsigned unknown, bad;        /* lines that were ignored, by cause */
} NotifyWords;

/* `text` need not end in NUL. Never fails: what cannot be read is counted. */
void notify_words_parse(const char *text, size_t length, NotifyWords *ret);
