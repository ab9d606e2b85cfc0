/* schedule.h - one simulated life, drawn from a seed: a configuration in memory, the characters of its services, and
 * what happens from outside and when. */
#pragma once
#include "supervisor/config.h"
#include "tests/sim/script.h"

#define SIM_SERVICES_MAX   6
#define SIM_MEMBERS_MAX    24
#define SIM_HOOKS_MAX      10
#define SIM_PROBES_MAX     (SIM_MEMBERS_MAX * _PROBE_KIND_MAX)
#define SIM_HAPPENINGS_MAX 16

typedef enum OutsideKind {
        OUTSIDE_END_SIGNAL,
        OUTSIDE_END_REQUEST,
        OUTSIDE_FAST_SIGNAL,
        OUTSIDE_FAST_REQUEST,
        OUTSIDE_OWN_FAULT,
        OUTSIDE_MARK,
        OUTSIDE_EARLY_TICK,    /* crew_on_time() though nothing is due */
        OUTSIDE_ACKNOWLEDGED,  /* too early, too late, or twice */
        OUTSIDE_STRANGER,      /* an unattributed orphan */
        OUTSIDE_SURVEY,        /* that the crew did not ask for */
        OUTSIDE_SAYS_NONSENSE, /* any datagram at any time, also of a member that does not run */
        OUTSIDE_TRIGGER,       /* WATCHDOG=trigger, the same */
        OUTSIDE_RELOAD,
        OUTSIDE_START, /* by a person, of one instance or of the service */
        OUTSIDE_STOP,
        OUTSIDE_RESTART,
        OUTSIDE_SIGNAL,
        OUTSIDE_RUN_HOOK,
        _OUTSIDE_KIND_MAX,
} OutsideKind;

typedef struct Outside {
        OutsideKind kind;
        usec_t at_usec;
        uint32_t member;
} Outside;

typedef struct Schedule {
        uint64_t seed;
        Config config;
        ServiceConfig services[SIM_SERVICES_MAX];
        HookConfig hooks[SIM_HOOKS_MAX];
        char names[SIM_SERVICES_MAX][8];
        ProbeConfig probes[SIM_SERVICES_MAX][_PROBE_KIND_MAX];
        Relations relations[SIM_SERVICES_MAX];
        uint16_t related[SIM_SERVICES_MAX][3][SIM_SERVICES_MAX]; /* the items: after, requires, before */
        ExitSet successes[SIM_SERVICES_MAX];
        Character characters[SIM_SERVICES_MAX];
        uint32_t first_member[SIM_SERVICES_MAX];
        uint16_t service_of[SIM_MEMBERS_MAX];
        bool wild_hooks;
        bool spawn_fails;     /* EAGAIN now and then */
        bool lazy_collection; /* deaths are noticed up to 20 ms late */
        bool late_timers;     /* crew_on_time() is called up to 2 ms late */
        int gateway;          /* 0: none; 1: acknowledges at once; 2: late; 3: never */
        bool persons;         /* steer it */
        usec_t end_usec;      /* when the first ending is asked for */
        Outside outside[SIM_HAPPENINGS_MAX];
        unsigned n_outside;
} Schedule;

/* In place: the arrays of the configuration point into the schedule itself. */
void schedule_make(Schedule *ret, uint64_t seed);
/* What is left when the services, phases and hooks stand: relations, members, budget. Also used by the walk. */
void schedule_seal(Schedule *schedule);
void schedule_print(const Schedule *schedule);
