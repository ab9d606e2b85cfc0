/* respawn.h - restart, rest, or give up: the decision after each run of a service.
 *
 * Pure. No pace of failures escapes: only a run that stayed ready for the reset time sets the count back (contracts/
 * config.md, Restart to StartLimitBurst). */
#pragma once
#include "base/usec.h"
#include "supervisor/config.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum Outcome {
        OUTCOME_CLEAN,   /* exit code 0 or SuccessExitStatus, unasked */
        OUTCOME_RECYCLE, /* said STOPPING=1, then exited 0 */
        OUTCOME_FAILED,  /* anything else, a start timeout or a failed pre-start hook included */
} Outcome;

typedef enum Next {
        NEXT_REST, /* it did what it had to do */
        NEXT_RESTART,
        NEXT_GIVE_UP,
} Next;

typedef struct Respawn {   /* carried from run to run */
        unsigned failures; /* consecutive */
        usec_t delay_usec; /* of the last doubled restart; 0: none yet */
} Respawn;

typedef struct RespawnRules {
        Restart restart;
        bool oneshot;
        unsigned burst; /* 0: no limit */
        usec_t delay_usec, delay_max_usec;
} RespawnRules;

typedef struct RespawnAnswer {
        Next next;
        Respawn respawn;
        usec_t delay_usec; /* of NEXT_RESTART, with its jitter */
} RespawnAnswer;

#define RESPAWN_EARLY_USEC (1 * USEC_PER_SEC) /* a clean exit sooner after ready counts as failed; no recycle does */

/* How long a run must stay ready to set the count back. */
usec_t respawn_reset_usec(const RespawnRules *rules);

/* `ready_usec`: how long the run was ready, 0 when it never was. `random` spreads the delay by ±10 %. */
RespawnAnswer respawn_decide(const RespawnRules *rules, Respawn now, Outcome outcome, usec_t ready_usec,
                             uint32_t random);
