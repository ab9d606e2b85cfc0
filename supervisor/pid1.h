/* pid1.h - the first process: ties the crew to the kernel; only its own files include this.
 *
 * pid1.c          birth, the loop, the end
 * pid1_stage.c    what the crew asks: signals, records, the end
 * pid1_spawn.c    what the crew asks: processes
 * pid1_probes.c   what the crew asks: checks and hooks by HTTP, here and by the prober
 * pid1_sockets.c  what is held for services: sockets, stored descriptors, ready pipes
 * pid1_told.c     what children tell: by error pipes, ends, messages
 * pid1_logger.c   the logger
 * pid1_gateway.c  the gateway
 * pid1_helpers.c  what is done alike for the logger, the prober and the gateway
 * pid1_groups.c   control groups, and whom the OOM killer took
 * pid1_signals.c  what signals mean here
 * pid1_terminal.c the foreground program
 * pid1_control.c  what the control socket's methods do
 * pid1_steer.c    what persons ask for over the control socket
 * pid1_upward.c   what the parent of this endwell hears, and when */
#pragma once
#include "supervisor/archive.h"
#include "supervisor/child.h"
#include "supervisor/control.h"
#include "supervisor/control_groups.h"
#include "supervisor/crew.h"
#include "supervisor/descriptor_store.h"
#include "supervisor/environment.h"
#include "supervisor/gateway_link.h"
#include "supervisor/launches.h"
#include "supervisor/logger_link.h"
#include "supervisor/mailbox.h"
#include "supervisor/oom.h"
#include "supervisor/past.h"
#include "supervisor/prober_link.h"
#include "supervisor/ready_pipes.h"
#include "supervisor/roster.h"
#include "supervisor/run_options.h"
#include "supervisor/runtime.h"
#include "supervisor/signals.h"
#include "supervisor/sockets.h"
#include "supervisor/survey.h"
#include "supervisor/terminal.h"
#include <limits.h>

#define HELPER_LOGGER  0 /* RosterEntry.owner of a helper */
#define HELPER_PROBER  1
#define HELPER_GATEWAY 2

typedef struct ProbeChild ProbeChild;

typedef struct Pid1 {
        Config *config;
        const RunOptions *options;
        bool pid_one; /* PID 1 of its namespace; else a subreaper */
        Terminal terminal;
        uint32_t foreground; /* the member that shall have the terminal; CREW_NOBODY */
        bool is_suspended;   /* it was stopped, and is to be continued when we are */
        int ended_by;        /* the signal of which its last run ended; 0: none, or it runs */
        usec_t away_usec;    /* how long we were stopped together with it, in all: the crew's clock stood still */
        sd_event *event;
        Runtime runtime;
        bool has_runtime, put_off; /* the timer was late, and was set anew to hear the dead first */
        char *journal_path;        /* NULL: no journal file */
        Archive *archive;
        Signals *signals;
        Roster *roster;
        Survey *survey;
        ControlGroups *groups; /* NULL: none are used */
        Oom oom;
        Launches *launches;   /* slots: members, then hook runs, then probe runs */
        Mailbox *mailbox;     /* NULL: no runtime directory */
        Control *control;     /* NULL: no runtime directory */
        LoggerLink *logger;   /* NULL: nothing needs one */
        ProberLink *prober;   /* NULL: nothing needs one */
        GatewayLink *gateway; /* NULL: there is none */
        Sockets *sockets;     /* these three, too */
        DescriptorStore *store;
        ReadyPipes *ready_pipes;
        Crew *crew;
        sd_event_source *timer;   /* of the crew's next instant */
        sd_event_source *pump;    /* hands new journal lines to their readers, once for all of an iteration */
        sd_event_source *herald;  /* of what the parent shall hear; NULL: nobody listens */
        sd_event_source *waiter;  /* of the helpers' end */
        sd_event_source *settler; /* of the logger's last words; set while a survey waits for them */
        usec_t herald_usec;
        uint64_t seq, random_state[2];
        unsigned interrupts, quits;
        int ending_signal;   /* single-command mode: what the command is asked with; 0: its KillSignal */
        uint64_t lost_lines; /* told so far, and when */
        usec_t lost_told_usec, not_before_usec; /* the latter: no instant of the crew is told earlier */
        int archive_error;
        Past past;
        pid_t *hook_pids;           /* of each hook run: its group */
        ProbeChild *probe_children; /* of each probe run: its command; NULL: there is none */
        bool groups_doubted;        /* somebody could not be put into his; said once */
        bool finished, had_term,
                passed_on; /* single-command mode: SIGTERM, or what stands for it, was sent; sent before it was asked */
        int code;
} Pid1;

extern const Stage pid1_stage;
extern const ControlMethodEntry pid1_methods[];

void pid1_on_signal(void *userdata, const SignalReceived *signal);
void pid1_on_collected(void *userdata, pid_t pid, const RosterEntry *entry, const char *comm, Ended how);
void pid1_on_surveyed(void *userdata);
void pid1_on_launch(void *userdata, uint32_t slot, const ChildFailure *failure);
void pid1_on_probe_launch(Pid1 *pid1, uint32_t probe_run, const ChildFailure *failure);
void pid1_on_probe_exited(Pid1 *pid1, pid_t pid, uint32_t probe_run, Ended how);
void pid1_on_message(void *userdata, uint32_t slot, const MailboxMessage *message);
/* Records an event that is not the crew's. */
void pid1_record(Pid1 *pid1, Event *event);
/* The crew's clock. */
usec_t pid1_now(const Pid1 *pid1);
/* Writes out what was recorded. */
void pid1_flush(Pid1 *pid1);
/* After each happening: sets the timer to the crew's next instant. */
void pid1_rearm(Pid1 *pid1);
/* Before an ending begins: who has died by now died before it, and is judged so. */
void pid1_hear_the_dead(Pid1 *pid1);
void pid1_tell_past(Pid1 *pid1);
void pid1_say_lost_lines(Pid1 *pid1);
int pid1_make_logger(Pid1 *pid1);
int pid1_make_herald(Pid1 *pid1);
/* After whatever is told upward. */
void pid1_rearm_upward(Pid1 *pid1);
void pid1_survey(Pid1 *pid1);
int pid1_make_probes(Pid1 *pid1);
int pid1_make_gateway(Pid1 *pid1);
/* True: a helper still has something to do or to be collected; its end, or the deadline, ends the loop. */
bool pid1_await_helpers(Pid1 *pid1);
void pid1_rest_helpers(Pid1 *pid1); /* the ending began */
/* Nothing is probed any more, so unless hooks need the prober it ends beside the services. */
void pid1_release_prober(Pid1 *pid1);
int pid1_find_helper(uint32_t helper, char ret_program[static PATH_MAX]); /* said when it cannot be found */
void pid1_remember_helper(Pid1 *pid1, uint32_t helper, pid_t pid);
void pid1_on_said(void *userdata, LogLevel level, const char *sentence);
void pid1_on_helper_exited(Pid1 *pid1, uint32_t helper, Ended how);

void pid1_make_groups(Pid1 *pid1);
/* Before a spawn: the member's control group into its plan, if it has one. */
void pid1_plan_group(Pid1 *pid1, uint32_t member, ChildPlan *plan);
/* It could not be put there (errno), and runs all the same: said once. */
void pid1_doubt_group(Pid1 *pid1, uint32_t member, int error);
/* Its main process ended: fills in Ended.oom. */
void pid1_note_end(Pid1 *pid1, uint32_t member, Ended *how);

/* Once the crew is there. */
void pid1_find_foreground(Pid1 *pid1);
ChildSession pid1_session_of(Pid1 *pid1, uint32_t member, unsigned attempt);
/* A signal that is the foreground program's, or tells that it may go on: what was done with it, for the journal; NULL:
 * nothing, it means what it means. */
const char *pid1_pass_to_foreground(Pid1 *pid1, const SignalReceived *signal);
void pid1_look_for_stop(Pid1 *pid1); /* after each SIGCHLD */
void pid1_on_foreground_ended(Pid1 *pid1, uint32_t member, pid_t pid, Ended how);
void pid1_leave_terminal(Pid1 *pid1);

/* Of the Stage; see crew.h. */
int pid1_spawn(void *self, uint32_t member, pid_t *ret_pid);
int pid1_spawn_hook(void *self, uint32_t run, pid_t *ret_pid);
/* What a process finds that runs for a service: its main one, a hook, a probe. Needed until it is spawned. */
typedef struct Outfit {
        Environment own, user;
        char **envp;
} Outfit;

void outfit_done(Outfit *outfit);
/* The plan of a command that looks at a member, with its service's rights, directory and environment: `argv` is the
 * caller's to add, and the outputs, which are endwell's. 0 or -ENOMEM. */
int pid1_plan_check(Pid1 *pid1, uint32_t member, Outfit *outfit, ChildPlan *ret);
/* Makes a child that the roster knows; its error pipe is told of by `slot`. */
int pid1_start(Pid1 *pid1, const ChildPlan *plan, const RosterEntry *entry, uint32_t slot, pid_t *ret_pid);
int pid1_probe(void *self, uint32_t probe_run);
void pid1_call_off_probe(void *self, uint32_t probe_run);
int pid1_ask_hook(Pid1 *pid1, uint32_t hook_run, const HookConfig *hook); /* by HTTP */
void pid1_call_off_hook(Pid1 *pid1, uint32_t hook_run);
void pid1_close_sockets(void *self, uint32_t service);
void pid1_drop_store(void *self, uint32_t member);

/* What a run of a service is given besides descriptors 0 to 2. */
typedef struct Handover {
        ChildDescriptor *descriptors;
        size_t n;
        const Listening *listening;
        const char *step; /* that is being done, or has failed */
        int ready_fd;     /* the writing end of its ready pipe; -1 */
        char *names;      /* LISTEN_FDNAMES=… */
        char *listen_pid; /* where the child writes its pid */
} Handover;

int pid1_make_holders(Pid1 *pid1);
void pid1_free_holders(Pid1 *pid1);
int pid1_hand_over(Pid1 *pid1, uint32_t member, const MemberView *view, Environment *environment, Handover *ret);
void handover_done(Handover *handover);                                       /* after the child is made */
const char *pid1_on_listen_failed(Pid1 *pid1, uint32_t member, size_t which); /* the step, for people */
void pid1_look_for_ready(Pid1 *pid1, uint32_t member);
void pid1_store(Pid1 *pid1, uint32_t member, const MailboxMessage *message);

/* Methods of the control socket; see ControlMethod. */
int pid1_on_start(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                  char *ret_message);
int pid1_on_stop(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                 char *ret_message);
int pid1_on_restart(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                    char *ret_message);
int pid1_on_signal_request(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                           char *ret_message);
int pid1_on_hook_run(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                     char *ret_message);

/* Runs until the end. An exit code. */
int pid1_run(Config *config, const RunOptions *options);
