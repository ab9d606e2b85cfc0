/* hub.h - listens to PID 1 and gives the work to streams and journal; ends when PID 1 says so or is gone.
 *
 * The words (base/packet), PID 1 first. Pipes come as reading ends that PID 1 made non-blocking.
 *   JOURNAL=HANDED          + the journal's pipe. HANDED: the last line an earlier logger was given; 0: there was none
 *   HOOK=STREAM NAME=HOOK   body: the expression. Before the stream's OPEN
 *   OPEN=STREAM             + the pipe, and the target unless the body names a file; TRUNCATE=1: empty it first.
 *                           Without target and body the bytes go nowhere. SERVICE=NAME INSTANCE=N and, where it is so,
 *                           MANY=1 (instances), HOOK_NAME=NAME, PID=N, STDERR=1: whose it is. FORMAT=prefix|json, or
 *                           lines with MAX_SIZE=BYTES MOST=N: the body is a file to be rotated
 *   CLOSE=STREAM            what it has not passed on is lost
 *   REOPEN=1                journal and files by name
 *   SETTLE=N                look at all output that is there now, then answer SETTLED=N
 * and back:
 *   STREAM=ID with MARK=HOOK | OPENED=1 | ERROR=ERRNO (0: it works again) | ENDED=1 | REFUSED=ERRNO
 *   | DROPPED=N: lines that were left out since it was last said
 *   JOURNAL_BEGUN=1, JOURNAL_ERROR=ERRNO (0: it is written again), SETTLED=N
 * When the journal's pipe or the socket ends, what is there is written and passed on, for at most HUB_END_USEC. */
#pragma once
#include "base/usec.h"
#include <stdint.h>
#include <systemd/sd-event.h>

#define HUB_END_USEC USEC_PER_SEC

typedef struct Hub Hub;

typedef struct HubPlan {
        int socket;               /* not taken over */
        const char *journal_path; /* NULL: no journal */
        uint64_t journal_max_size;
        const char *logs_path; /* NULL: nobody can ask for what is kept */
        int group;             /* who may, besides root and our uid; -1 */
} HubPlan;

int hub_new(Hub **ret, sd_event *event, const HubPlan *plan);
Hub *hub_free(Hub *hub);
