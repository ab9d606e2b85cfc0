/* crew.h - the members (instances of services) and their hooks: starts them in order, keeps them up, ends them in
 * order.
 *
 * The core of PID 1. It decides with life, respawn, hooks and the conductor, and asks a Stage to do what needs a
 * kernel, so that the very same code runs in PID 1 and in simulated time. It makes no system call and, after
 * crew_new(), allocates nothing but the bounded texts of STATUS= and two bounded lists, each of which it can do
 * without. Members and hook runs are numbered from 0 and keep
 * their numbers. */
#pragma once
#include "base/notify_words.h"
#include "shutdown/event.h"
#include "shutdown/hooks.h"
#include "supervisor/config.h"
#include "supervisor/owner.h"
#include "supervisor/steering.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CREW_NOBODY UINT32_MAX /* no member: an unattributed orphan */

typedef struct Crew Crew;

typedef enum Whom {
        WHOM_MAIN, /* the main process */
        WHOM_REST, /* everything of its tree but the main process */
        WHOM_ALL,
} Whom;

/* How a process ended, as waitid(2) tells it. */
typedef struct Ended {
        int code;   /* CLD_EXITED, CLD_KILLED, CLD_DUMPED */
        int status; /* exit status or signal */
        bool oom;   /* of a main process: the OOM killer's SIGKILL */
        uint64_t max_rss_kib;
        usec_t cpu_usec;
} Ended;

/* What the crew asks of the world. None of these may block. Answers come by the crew_on_…() functions, now or later. */
typedef struct Stage {
        usec_t (*now)(void *self);
        uint32_t (*random)(void *self); /* for jitter and owner names */
        /* Starts a member's main process; 0 and *ret_pid, or -errno when not even a child could be made, and before
         * that crew_on_spawn_failed() when it was not the fork that failed. Whether exec worked is told later by
         * crew_on_executed(), or crew_on_spawn_failed() and then crew_on_exited(). */
        int (*spawn)(void *self, uint32_t member, pid_t *ret_pid);
        int (*spawn_hook)(void *self, uint32_t hook_run, pid_t *ret_pid);
        /* Signals processes of a member's tree and tells each by crew_told(); CREW_NOBODY: the unattributed orphans.
         * Who is dead is not told of, even when nobody has collected it yet. SIGTERM and other polite signals are
         * followed by SIGCONT. */
        void (*signal)(void *self, uint32_t member, Whom whom, int signal_number, const char *reason);
        void (*signal_hook)(void *self, uint32_t hook_run, int signal_number); /* the whole group */
        /* Asks for a fresh look at adopted orphans, answered by crew_on_surveyed() (never from inside this call). */
        void (*survey)(void *self);
        /* Begins a check of a probe run, which is answered by crew_on_probed(), once, and never from inside this call.
         * The timeout of a command is kept by the crew, that of the other checks by the stage (PROBE_FAILED). 0; or
         * -errno when it could not begin: then no answer comes, and it says nothing of the service. */
        int (*probe)(void *self, uint32_t probe_run);
        /* Its time is up, or nobody wants the answer any more: an exec probe's whole group is killed. The answer still
         * comes, soon, as PROBE_UNKNOWN: when nothing of the check is left. */
        void (*call_off_probe)(void *self, uint32_t probe_run);
        /* Closes endwell's copies of a service's held sockets: it is about to be asked, and will not start again. */
        void (*close_sockets)(void *self, uint32_t service);
        /* Closes the descriptors that a member stored: it rests. */
        void (*drop_store)(void *self, uint32_t member);
        void (*record)(void *self, const Event *event); /* into the journal; seq and times are filled in there */
        bool (*withdraw)(void *self);                   /* true: a connected gateway will acknowledge */
        void (*finish)(void *self, int code, const char *explanation); /* the last call */
} Stage;

int crew_new(Crew **ret, const Config *config, const Stage *stage, void *self, bool pid_namespace);
Crew *crew_free(Crew *crew);

/* Happenings. */
void crew_start(Crew *crew);
void crew_on_executed(Crew *crew, uint32_t member);
void crew_on_spawn_failed(Crew *crew, uint32_t member, const char *step, int error);
void crew_on_exited(Crew *crew, uint32_t member, Ended how);
/* MAINPID=, proven to be inside the tree. What was the main process is told as an orphan before, and when the new one
 * was known as an orphan, `was_orphan`. */
void crew_on_main_pid(Crew *crew, uint32_t member, pid_t pid, bool was_orphan);
void crew_on_hook_spawn_failed(Crew *crew, uint32_t hook_run, const char *step, int error);
void crew_on_hook_exited(Crew *crew, uint32_t hook_run, Ended how);
/* Of a hook by HTTP, which has no process: its exit code is 0 or 1. `detail`: a few words for people. */
void crew_on_hook_answered(Crew *crew, uint32_t hook_run, bool ok, const char *detail);
void crew_on_notify(Crew *crew, uint32_t member, pid_t sender, const NotifyWords *words);
void crew_on_orphan_adopted(Crew *crew, uint32_t member, pid_t pid, const char *comm);
void crew_on_orphan_gone(Crew *crew, uint32_t member, pid_t pid, const char *comm, Ended how);
void crew_on_surveyed(Crew *crew);
void crew_told(Crew *crew, uint32_t member, pid_t pid, const char *comm, int signal_number, const char *reason);
void crew_on_acknowledged(Crew *crew, const char *by);
void crew_on_mark(Crew *crew, uint32_t member, const char *hook, NotifyEdge edge, pid_t pid, int rc);
/* `detail`: a few words for people (HTTP 503, exit code 1, connection refused, timed out); NULL: none. */
void crew_on_probed(Crew *crew, uint32_t probe_run, ProbeAnswer answer, const char *detail);
/* The newline on the descriptor of Type=notify-fd:N. */
void crew_on_ready_line(Crew *crew, uint32_t member);
/* Sends each service that has one its ReloadSignal: those of its instances that have been executed and are not being
 * stopped. How many got it. Nothing in an ending. */
unsigned crew_reload(Crew *crew);
/* What a person asks for. `number` 0: all instances. */
typedef struct SteerTarget {
        uint32_t service;
        unsigned number;
} SteerTarget;

typedef enum SteerEffect {
        STEER_GOES,       /* it goes down, and stays there */
        STEER_COMES,      /* it comes up: whatever was is over, and it has a fresh count */
        STEER_ON_ITS_WAY, /* it is coming up anyway */
        STEER_STAYS,      /* it is up, and was to go down, but that is no more so */
} SteerEffect;

/* Whoever is reached, named or not, whom anything is still to be seen of, is told. 0; -ESHUTDOWN in an ending;
 * -EOPNOTSUPP for a single command; -EBUSY, and *ret_member is who cannot start, because something of it outlived
 * SIGKILL; -ENOMEM. After any of these nothing has changed. */
int crew_steer(Crew *crew, Steer steer, const SteerTarget *targets, size_t n,
               void (*told)(void *userdata, uint32_t member, SteerEffect effect), void *userdata, uint32_t *ret_member);
/* Sends a signal to the main processes of whom is meant; how many got it. -ESHUTDOWN in an ending. */
int crew_signal(Crew *crew, SteerTarget target, int signal_number);
/* Runs a hook for a person, if it has not begun in this epoch: HOOK_MAY_BEGIN, and it has; or which of the others it
 * is, and crew_hook_view() tells what came of it. -ESHUTDOWN in an ending; -ENOTCONN when its service does not run or
 * is being killed; -EOPNOTSUPP for one that the service runs itself. Or what kept it from beginning. */
int crew_run_hook(Crew *crew, uint32_t hook_run);
/* What the reaper reports when it has settled, and how many sessions of this container's services the database had
 * then: recorded, shown in the status, and summed up in the last event. */
void crew_on_reaper_settled(Crew *crew, const char *owner, uint64_t released, uint64_t buried);
void crew_on_database_quiet(Crew *crew, uint64_t sessions);
/* Nothing is known of descendants that left their group (no /proc): then no end of a service is certain. */
void crew_set_blind(Crew *crew);
/* A fault of endwell's own: recorded, the ending begins, the code will be 70. */
void crew_on_own_fault(Crew *crew, const char *what, int error);

/* cause: signal, request; the other causes are the crew's own. A repetition changes nothing but may hurry (`fast`). */
void crew_end(Crew *crew, const char *cause, bool fast);
bool crew_is_ending(const Crew *crew);

/* The next instant at which crew_on_time() has something to do; USEC_INFINITY: none. Ask after each happening. */
usec_t crew_next_usec(const Crew *crew);
/* Begins a bounded number of checks; when more are due, the next instant has passed already. */
void crew_on_time(Crew *crew);

/* What others may read. Pointers live as long as the crew; states change with the next happening. */
typedef struct MemberView {
        const ServiceConfig *service;
        uint32_t service_index;
        unsigned number;   /* from 1 */
        const char *state; /* waiting, pre-start, starting, ready, pre-stop, stopping, killing, clearing, post-stop,
                              backoff, done, failed, left, stopped */
        pid_t pid;         /* 0: none */
        char owner[OWNER_TEXT_MAX]; /* of the present or last run; "": there was none */
        unsigned attempt;           /* starts so far */
        unsigned failures;          /* consecutive */
        unsigned restarts;
        unsigned orphans;   /* adopted and attributed to it */
        unsigned active;    /* X_ENDWELL_ACTIVE */
        usec_t since_usec;  /* of the present state */
        usec_t limit_usec;  /* when the present state is cut; USEC_INFINITY */
        const char *status; /* STATUS=, or NULL */
        /* The probe that keeps it from being ready, and why ("HTTP 503"; "" before its first failure); NULL: none
         * does. */
        const char *unready_probe, *unready_detail;
        bool ready;   /* now: its run is, and its readiness probe agrees */
        bool rests;   /* done, failed or left */
        bool awaited; /* the present phase, or the start, waits for it */
} MemberView;

size_t crew_size(const Crew *crew);
MemberView crew_view(const Crew *crew, uint32_t member);
/* Whose present or last run has this owner; CREW_NOBODY. */
uint32_t crew_find_owner(const Crew *crew, const char *owner);
uint32_t crew_first_member(const Crew *crew, uint32_t service); /* its instances follow */
/* "web", or "worker@3" where the service has several instances. */
void crew_name(const Crew *crew, uint32_t member, char *ret_name, size_t size);

typedef struct HookView {
        const HookConfig *hook;
        uint32_t member; /* CREW_NOBODY: a phase's */
        pid_t pid;
        usec_t since_usec;
        unsigned attempt;
        HookState state;
        unsigned epoch; /* in which it last began */
        int status;     /* of its last end */
} HookView;

size_t crew_hook_runs(const Crew *crew);
HookView crew_hook_view(const Crew *crew, uint32_t hook_run);

typedef struct ProbeView {
        const ProbeConfig *probe;
        ProbeKind kind;
        uint32_t member;
        ProbeOpinion opinion;
        usec_t timeout_usec; /* of the check that runs, or would begin now */
} ProbeView;

size_t crew_probe_runs(const Crew *crew); /* numbered from 0: a member's probes of each kind that it has */
ProbeView crew_probe_view(const Crew *crew, uint32_t probe_run);

/* What the reaper has reported in this epoch. */
typedef struct LedgerReport {
        bool settled, quiet; /* the first, or the second, was reported at all */
        uint64_t released, buried, sessions;
} LedgerReport;

typedef struct CrewView {
        const char *step;  /* of the sequence, or starting */
        const char *phase; /* that is ending or starting; NULL */
        const char *cause; /* of the ending; NULL */
        bool ready, ending, fast;
        unsigned epoch;
        usec_t started_usec, readiness_usec, ending_since_usec, deadline_usec, limit_usec; /* instants */
        unsigned orphans;                                                                  /* unattributed */
        LedgerReport ledger;
} CrewView;

CrewView crew_overview(const Crew *crew); /* in constant time: it is asked for each event */
/* The present of all these instants: they are the Stage's, whose clock may stand still for a while. */
usec_t crew_clock_usec(const Crew *crew);
/* The first of those who are waited for, and why if that is known: "web (readiness probe: HTTP 503), db and 3 more".
 * How many they are. */
unsigned crew_write_awaited(const Crew *crew, char *ret_text, size_t size);
unsigned crew_awaited(const Crew *crew); /* members that are waited for; counts them */

/* Environment of post-stop hooks, systemd's words (systemd.exec(5)). */
typedef struct MemberResult {
        const char *service_result; /* success, exit-code, signal, core-dump, timeout, watchdog */
        const char *exit_code;      /* exited, killed, dumped; NULL before the first exit */
        int exit_status;
} MemberResult;

MemberResult crew_result(const Crew *crew, uint32_t member);
