/* crew_internal.h - what the files of the crew share; nobody else includes it.
 *
 * crew.c          birth, the happenings from outside, the loop that brings everything to rest
 * crew_life.c     carries out the orders of one member's life
 * crew_exit.c     what a main process's end means: its record, its tree, its outcome
 * crew_steer.c    what persons ask for: starts, stops and restarts, in their order, and signals
 * crew_start.c    whose turn it is to start, and whether all are ready
 * crew_hooks.c    hooks of members and phases
 * crew_probes.c   checks of probes: when each begins, how long it is awaited, what its answer changes
 * crew_health.c   what makes a run ready, and what makes it ill: probes, the watchdog
 * crew_holds.c    what is held for services: when their sockets are closed and their stored descriptors dropped
 * crew_ending.c   the conductor's stage: phases, stops in order, kills, the end
 * crew_notify.c   what the members say: readiness, status, more time, marks
 * crew_progress.c whom a slow start-up waits for
 * crew_view.c     what others may read */
#pragma once
#include "base/names.h"
#include "shutdown/conductor.h"
#include "shutdown/hooks.h"
#include "shutdown/verdict.h"
#include "supervisor/alarms.h"
#include "supervisor/crew.h"
#include "supervisor/life.h"
#include "supervisor/owner.h"
#include "supervisor/respawn.h"

#define GIVE_UP_USEC      (1 * USEC_PER_SEC) /* what outlives SIGKILL this long is given up */
#define GIVE_UP_MIN_USEC  (100 * USEC_PER_MSEC)
#define CLEAN_TREE_USEC   (10 * USEC_PER_SEC) /* at most, for the tree of a service that ended by itself */
#define DRAINED_KILL_USEC (1 * USEC_PER_SEC)
#define NAMED_MAX         8 /* of those who are waited for, in one line */
#define PROGRESS_USEC     (1 * USEC_PER_SEC)
#define STATUS_USEC       (1 * USEC_PER_SEC) /* a status is recorded at most so often */
#define ERROR_TEXT_MAX    192
#define DETAIL_TEXT_MAX   64 /* of a check's answer */
#ifndef ORPHANS_MAX          /* the simulation has a crowd already with a few */
#define ORPHANS_MAX 1024
#endif
#define TURNS_AT_ONCE     32 /* spawns, or checks, between two looks at the signals */
#define FOREIGN_MARKS_MAX 64 /* names that applications mark and the configuration does not know */

/* Orphans beyond the list, by number only. */
typedef struct Crowd {
        uint32_t n, given_up;
} Crowd;

typedef enum Illness { ILL_NOT, ILL_STARTUP, ILL_LIVENESS, ILL_WATCHDOG } Illness;

/* The last STATUS=. */
typedef struct MemberStatus {
        usec_t recorded_usec; /* when the journal last heard of one */
        char text[];
} MemberStatus;

/* There may be 60,000, and most of them do nothing for hours: so the fields are ordered by size, flags are bits, and
 * what only the end of a run needs is not kept beyond it. 160 bytes, no hole. */
typedef struct Member {
        Respawn respawn;
        usec_t since_usec, spawned_usec, ready_usec, asked_usec, exited_usec;
        usec_t clear_limit_usec; /* when the rest of the tree is killed */
        const char *kill_reason; /* of the first SIGKILL in this run; NULL: none */
        const char *error_step;  /* before exec; NULL: none */
        MemberStatus *status;    /* NULL: it never said one */
        Owner owner;             /* of the present or last run */
        Crowd crowd;
        pid_t pid;
        int error_number;
        unsigned attempt;
        unsigned descendants_named;       /* how many orphans the last descendants_left told of */
        unsigned orphans, active, killed; /* killed: processes of this run that got SIGKILL */
        uint16_t service, number;
        uint16_t hooks_running[4]; /* by HookOn up to post-stop */
        struct {
                uint8_t code, status; /* as Ended has them: both fit a byte */
        } how;
        Life life;
        bool settled : 1;     /* ready once, or resting: those who wait for its start may go on */
        bool new_orphans : 1; /* adopted since the tree was last asked or killed */
        bool has_exited : 1, asked : 1, clean : 1, said_stopping : 1, drained : 1, overdue : 1;
        bool start_hook_failed : 1, requirement_failed : 1, counted_ready : 1, forced_in_ending : 1;
        bool counted_over : 1; /* in n_over and its service's */
        bool steered : 1;      /* a person waits for it */
        bool going : 1;        /* it is to go down, and has not yet: counted in Crew.going */
        bool due : 1;          /* … and was not told yet, as others go first */
        bool renews : 1;       /* … and comes up again */
        bool named : 1;        /* by a person, while his request is taken up */
        bool executed : 1;     /* exec was reached in this run */
        bool said_ready : 1;   /* READY=1, or the line, in this run */
        bool oom : 1;          /* this run's main process was the OOM killer's */
        bool unready : 1;      /* this run ended by itself before it had told that it is ready */
        uint8_t illness : 2;   /* Illness: for which this run is being ended */
} Member;

typedef struct HookRun {
        HookSlot slot;
        uint16_t hook;
        uint32_t member; /* CREW_NOBODY: a phase's */
        pid_t pid;
        usec_t since_usec;
        bool timed_out, killed;
        bool by_hand;           /* a person wanted it: its end means nothing to its service */
        const char *error_step; /* before exec; NULL: none */
        int error_number;
} HookRun;

typedef enum CheckState {
        CHECK_NONE,     /* the alarm begins the next one */
        CHECK_RUNS,     /* the alarm is its timeout */
        CHECK_OVERDUE,  /* called off at its timeout: its answer only says that nothing of it is left */
        CHECK_UNWANTED, /* called off because its run is to end, or of an earlier run: its answer means nothing */
} CheckState;

/* One probe of one member, over all its runs. */
typedef struct ProbeRun {
        Probe probe;
        usec_t begun_usec;   /* of the last check; before the first one, of the run's exec */
        usec_t since_usec;   /* of the opinion */
        usec_t longest_usec; /* of a readiness probe: the longest stretch of readiness of this run that is over */
        uint32_t member;
        uint8_t kind, check; /* ProbeKind, CheckState */
        bool given_up;       /* something of an unwanted check outlived SIGKILL: nobody waits for it any more */
        char detail[DETAIL_TEXT_MAX]; /* of the last failure; "" after a success */
} ProbeRun;

typedef struct ServiceTally {
        uint32_t first_member;
        uint32_t first_probe;
        uint16_t settled, resting, failed;
        uint16_t over;    /* that rest, and not because a person stopped them */
        uint16_t waiting; /* for their turn to start */
        uint16_t due;     /* to be told to go down */
        uint8_t n_probes; /* of a member */
        bool released;    /* its members were told to stop */
        bool closed;      /* its held sockets were closed */
} ServiceTally;

typedef struct ForeignMark {
        char name[41];
        uint32_t member;
        HookSlot slot;
} ForeignMark;

typedef struct Orphan {
        pid_t pid;
        uint32_t member; /* CREW_NOBODY: nobody's */
        bool given_up;   /* outlived SIGKILL: nobody waits for it any more */
} Orphan;

struct Crew {
        const Config *config;
        const Stage *stage;
        void *self;
        bool pid_namespace;

        Member *members;
        uint32_t n_members;
        ServiceTally *tallies;
        HookRun *runs;
        uint32_t n_runs;
        uint32_t *first_run; /* of a hook */
        ProbeRun *probes;
        uint32_t n_probes;
        unsigned checks_at_once; /* begun since the signals had their turn */
        usec_t *watchdogs_usec;  /* of each member, as its run has changed it by WATCHDOG_USEC=; 0: not */
        ForeignMark *foreign;    /* FOREIGN_MARKS_MAX places, made for the first; NULL */
        unsigned n_foreign;
        Alarms alarms; /* members, then hook runs, then probe runs, then the crew's own (CrewAlarm) */

        Conductor conductor;
        const char *phase_names[PHASES_MAX];
        Verdict verdict;
        unsigned epoch;
        usec_t started_usec, readiness_usec; /* the second: of its last change */
        const char *cause, *cause_service;

        int start_phase; /* that is starting; -1: all were told */
        bool started, startup_told, ready, ready_told;
        uint32_t n_not_ready, n_clearing;
        uint32_t n_written, n_over; /* of the services that are not built in; those of them that are over */
        uint32_t n_due;
        SteeringGoing going; /* whom a person wants down */
        uint32_t unsettled[PHASES_MAX], alive[PHASES_MAX];
        uint32_t gone[PHASES_MAX], killed[PHASES_MAX], left[PHASES_MAX];

        unsigned unattributed; /* orphans of nobody */
        bool blind;            /* orphans are not seen at all */
        LedgerReport ledger;
        bool new_strays, strays_killed;
        Orphan *orphans; /* adopted, alive for all we know; ORPHANS_MAX places, made for the first; NULL */
        unsigned n_orphans, n_unlisted;
        Crowd crowd;       /* nobody's */
        bool survey_stale; /* somebody died since the last survey */
        bool survey_asked;
        bool late_orphans; /* one was found of a member whose main process is there */
        unsigned phase_hooks_running;

        bool starts_dirty, stops_dirty, stop_everything;
        int stop_phase;    /* being stopped; -1: none */
        int counted_phase; /* whose gone, killed and left are being counted; -1: none */
        bool running;      /* crew_settle() is at work */
        bool finished;
        unsigned told; /* calls of crew_told() */
};

typedef enum CrewAlarm {
        CREW_ALARM_CONDUCTOR,
        CREW_ALARM_PROGRESS,
        CREW_ALARM_STRAYS,
        CREW_ALARM_TURNS,
        _CREW_ALARM_MAX
} CrewAlarm;

static inline usec_t crew_now(const Crew *crew) {
        return crew->stage->now(crew->self);
}

static inline const ServiceConfig *crew_service(const Crew *crew, const Member *member) {
        return &crew->config->services[member->service];
}

static inline uint32_t crew_index(const Crew *crew, const Member *member) {
        return (uint32_t)(member - crew->members);
}

void crew_record(Crew *crew, Event *event);
/* An event about a member: service, instance, pid and owner are filled in. */
void crew_record_member(Crew *crew, const Member *member, Event *event);
void crew_alarm_member(Crew *crew, const Member *member, usec_t when);
void crew_alarm(Crew *crew, CrewAlarm alarm, usec_t when);
void crew_want_survey(Crew *crew);

/* The instant at which a phase is cut: the present limit for one that has come, else what the budget gives it;
 * USEC_INFINITY outside an ending. Who dies or is stopped before its phase has come is not cut by an earlier one's
 * limit. */
usec_t crew_phase_limit(const Crew *crew, unsigned phase);
void crew_live(Crew *crew, Member *member, LifeHappening what);
void crew_member_signal(Crew *crew, Member *member, Whom whom, int signal_number, const char *reason);
Whom crew_whom_to_kill(const Crew *crew, const Member *member);
void crew_kill(Crew *crew, Member *member);
void crew_clear(Crew *crew, Member *member);
const char *crew_failure_in_ending(Crew *crew, const Member *member); /* NULL: it did not fail */
void crew_settle_run(Crew *crew, Member *member);
void crew_name_descendants(Crew *crew, Member *member);
void crew_tree_check(Crew *crew, Member *member);
/* "exited", "killed" or "dumped", for a code of waitid(2). */
const char *crew_code_word(int code);
void crew_write_error(char *text, size_t size, const char *step, int error, const char *program);
void crew_give_up(Crew *crew, Member *member, const char *reason);
void crew_name_left(Crew *crew, uint32_t member, const char *reason);
const char *crew_kill_reason(const Crew *crew, const Member *member);

void crew_mark_settled(Crew *crew, Member *member);
void crew_give_turns(Crew *crew);
void crew_update_ready(Crew *crew, Member *member);
void crew_tell_readiness(Crew *crew, const char *reason);

/* Begins the hooks of an edge; how many run now. `member` NULL: of `phase`. */
unsigned crew_run_hooks(Crew *crew, Member *member, int phase, HookOn on);
/* Says that they do not run. */
void crew_refuse_hooks(Crew *crew, const Member *member, HookOn on, const char *why);
void crew_signal_hooks(Crew *crew, const Member *member, int signal_number); /* NULL: the phases' */
void crew_cut_hooks(Crew *crew, const Member *member);
void crew_hook_time_up(Crew *crew, HookRun *run);
void crew_hurry_hooks(Crew *crew, const Member *member);
bool crew_member_hooks_run(const Member *member);

/* How many probe runs the configuration makes, and their places. */
uint32_t crew_count_probes(const Config *config);
void crew_place_probes(Crew *crew);
void crew_forget_probes(Crew *crew, const Member *member); /* a new run begins */
void crew_begin_probes(Crew *crew, const Member *member);
void crew_call_off_probes(Crew *crew, const Member *member); /* and none begins any more in this run */
void crew_probe_alarm(Crew *crew, ProbeRun *run);
/* Something of a check may be left in the member's tree. */
bool crew_member_checks_run(const Crew *crew, const Member *member);
void crew_give_up_checks(Crew *crew, const Member *member, const char *reason);
/* NULL: there is no such probe. */
const ProbeRun *crew_probe_of(const Crew *crew, const Member *member, ProbeKind kind);

/* The probe that keeps a run from being ready; NULL: none does. */
const ProbeRun *crew_unready_probe(const Crew *crew, const Member *member);
void crew_try_ready(Crew *crew, Member *member);
bool crew_ended_unready(const Crew *crew, const Member *member); /* asked when its main process has just ended */
void crew_hear_ready(Crew *crew, Member *member);                /* READY=1 */
/* The longest unbroken stretch of readiness of the present run until then. */
usec_t crew_longest_stretch(const Crew *crew, const Member *member, usec_t until);
/* The same of a run that has ended. */
usec_t crew_ready_for(const Crew *crew, const Member *member);
void crew_unwell(Crew *crew, Member *member, Illness illness);
const char *crew_illness_word(const Member *member); /* NULL: it is well */
void crew_watch(Crew *crew, Member *member);
void crew_watchdog_expired(Crew *crew, Member *member, const char *text);
void crew_hear_watchdog(Crew *crew, Member *member, const NotifyWords *words);

/* Tells those to go down whose turn it is. */
void crew_go(Crew *crew, Member *member); /* who is due goes down now */
void crew_release_steered(Crew *crew);
void crew_forget_steered(Crew *crew, Member *member);         /* others have more to say */
void crew_forget_steering(Crew *crew);                        /* as an ending has its own order */
void crew_rise(Crew *crew, Member *member, LifeState before); /* a person starts it after its rest */
void crew_unsettle(Crew *crew, Member *member);
void crew_is_gone(Crew *crew, Member *member); /* or shall go no more */

void crew_close_sockets(Crew *crew, uint32_t service);
void crew_close_before_stop(Crew *crew, const Member *member);
/* Closes them when nobody can serve any more. */
void crew_consider_sockets(Crew *crew, uint32_t service);
void crew_drop_store(Crew *crew, const Member *member);

extern const ConductorStage crew_conductor_stage;
/* How long from now what was killed is waited for until it is given up. */
usec_t crew_patience(const Crew *crew);
void crew_release_stops(Crew *crew);
void crew_check_group(Crew *crew);
void crew_tell_progress(Crew *crew);
void crew_add_name(const Crew *crew, uint32_t member, char *names, size_t size); /* to a list, if it fits */
bool crew_is_awaited(const Crew *crew, const Member *member);
/* A start-up that takes long says every few seconds what it waits for. */
void crew_await_start(Crew *crew);
void crew_tell_start(Crew *crew);
void crew_orphan_add(Crew *crew, uint32_t member, pid_t pid);
void crew_orphan_remove(Crew *crew, uint32_t member, pid_t pid);
void crew_orphan_give_up(Crew *crew, uint32_t member, pid_t pid);
unsigned crew_awaited_strays(const Crew *crew);
void crew_signal_strays(Crew *crew, int signal_number, const char *reason);
void crew_treat_strays(Crew *crew);
void crew_begin_with_strays(Crew *crew, bool killing);
void crew_strays_time_up(Crew *crew);
void crew_end_because(Crew *crew, const char *cause, const char *service, bool fast);
/* Brings everything to rest: gives turns, releases stops, tells the conductor. Every happening from outside ends with
 * it. */
void crew_settle(Crew *crew);
