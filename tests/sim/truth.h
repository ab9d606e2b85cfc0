/* truth.h - what the laws remember of members, probes, hooks and services, by their own count. */
#pragma once
#include "supervisor/probe.h"
#include "tests/sim/schedule.h"
#include <stdbool.h>

typedef struct MemberTruth {
        unsigned failed_runs;                         /* since it last stayed ready for its reset time */
        unsigned turn;                                /* restarts that were scheduled so far */
        unsigned spawned_turn;                        /* turn + 1 of the last start */
        usec_t restart_usec;                          /* when the next start is due; 0: none was scheduled */
        usec_t executed_usec, ready_usec, asked_usec; /* of this run; USEC_INFINITY: not yet */
        usec_t stretch_usec;             /* since when it is ready without a break; USEC_INFINITY: it is not */
        usec_t longest_usec;             /* of its stretches of readiness that are over */
        usec_t watchdog_usec, sign_usec; /* of this run; of life, the last one since it was ready */
        int exit_code;                   /* of the last run that ended, as a shell would say it */
        bool had_turn, ever_spawned, ever_ready, stopping, extended, drained, killed, gave_up;
        bool stops_before;   /* its stop began before the ending did: what it requires failed */
        bool told_to_go;     /* by a polite signal, and be it that it was dead already */
        usec_t steered_usec; /* when a person last had his say */
        bool held;           /* a person stopped it, and nobody started it since */
        bool anew;           /* a person started it, and its run has not begun yet */
        bool doomed;         /* it is essential and failed for good, and that will be judged */
        bool says_ready, ill, triggered, reloaded, dropped;
} MemberTruth;

typedef struct HookTruth {
        unsigned begun_turn; /* turn + 1 of the last beginning; 0: never */
        unsigned begun_epoch;
        bool by_hand; /* a person began it last */
        bool runs;
} HookTruth;

typedef struct ProbeTruth {
        uint32_t member;
        ProbeKind kind;
        const ProbeConfig *config;
        ProbeOpinion opinion;
        unsigned good, bad;                /* in a row, as far as they count */
        unsigned run;                      /* of the member, when the last check began */
        usec_t counted_usec, begun_usec;   /* of the last failure that counts; of the last check */
        usec_t earliest_usec, latest_usec; /* of the next check */
        bool open, wanted;                 /* a check is not answered; and was not called off */
        bool called_off_early;             /* then its run must be over by the end of this instant */
        bool stuck;                        /* one of this run's could not be ended for a period: only the crew counts */
} ProbeTruth;

typedef struct ServiceTruth {
        bool closed;  /* its held sockets */
        bool stopped; /* a first member was asked, or killed, that will not start again */
} ServiceTruth;
