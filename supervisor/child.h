/* child.h - makes processes and signals them; the only place that does.
 *
 * A child starts in its own session, with an empty signal mask, default dispositions, descriptors 0 to 2 and those that
 * were asked for, and the soft descriptor limit that endwell itself was given. It is made by fork, never by vfork: an
 * exec that hangs on a dead file system must not hang PID 1. A step that fails before exec is told over a close-on-exec
 * pipe, and the child ends with 127 (not found), 126 (not executable) or 125 (an earlier step). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef enum ChildSession {
        CHILD_OWN_SESSION,
        CHILD_OWN_GROUP,  /* own process group in endwell's session */
        CHILD_FOREGROUND, /* the same, and the terminal on descriptor 0 is given to it */
} ChildSession;

typedef enum ChildStep {
        CHILD_STEP_NONE,
        CHILD_STEP_SIGNALS,
        CHILD_STEP_SESSION,
        CHILD_STEP_LISTEN,
        CHILD_STEP_INPUT,
        CHILD_STEP_OUTPUT,
        CHILD_STEP_ERROR,
        CHILD_STEP_DESCRIPTORS,
        CHILD_STEP_LIMITS,
        CHILD_STEP_CONTROL_GROUP,
        CHILD_STEP_OOM_SCORE,
        CHILD_STEP_NICE,
        CHILD_STEP_UMASK,
        CHILD_STEP_GROUPS,
        CHILD_STEP_USER,
        CHILD_STEP_CAPABILITIES,
        CHILD_STEP_NO_NEW_PRIVILEGES,
        CHILD_STEP_DIRECTORY,
        CHILD_STEP_EXEC,
        _CHILD_STEP_MAX,
} ChildStep;

const char *child_step_to_string(ChildStep step);

typedef struct ChildFailure {
        ChildStep step;
        int error;    /* errno */
        size_t which; /* of CHILD_STEP_LIMITS: RLIMIT_… and 1; 0: not said. Of CHILD_STEP_LISTEN: the socket */
} ChildFailure;

const char *child_failure_to_string(const ChildFailure *failure); /* the step; of a limit its name: LimitNOFILE */

typedef struct ChildOutput {
        int fd;           /* >= 0: use this descriptor (it is duplicated) */
        const char *path; /* else: open this file; NULL: inherit endwell's */
        bool append;      /* O_APPEND; else truncate */
        bool null;        /* /dev/null */
} ChildOutput;

#define CHILD_PID_WORDS 2            /* LISTEN_PID, WATCHDOG_PID */
#define CHILD_PID_ROOM  "0000000000" /* for the digits that the child puts in its place, with the NUL */

#define CHILD_OUTPUT_INHERIT ((ChildOutput){ .fd = -1 })

/* A descriptor beyond 0 to 2 that the child shall find. */
typedef struct ChildDescriptor {
        int fd, target; /* ours, duplicated; and the number there, 3 or above, each once */
} ChildDescriptor;

typedef struct Rights Rights;
typedef struct Listening Listening;

typedef struct ChildPlan {
        char *const *argv; /* argv[0] without a slash is looked up in PATH of `envp` */
        char *const *envp;
        const char *directory; /* NULL: endwell's */
        int input_fd;          /* above 0: use this descriptor (it is duplicated) */
        bool inherit_input;    /* else descriptor 0 is endwell's, or without this /dev/null */
        bool inherit_others;   /* what endwell was started with beyond 0 to 2 stays open in it */
        ChildOutput output, error;
        ChildSession session;
        int parent_death_signal; /* 0: none */
        const ChildDescriptor *descriptors;
        size_t n_descriptors;
        const Listening *listening;       /* what it does to held sockets first; NULL: nothing */
        const Rights *rights;             /* NULL: endwell's own */
        const char *control_group;        /* directory of a cgroup v2 that it joins; NULL: none */
        char *pid_words[CHILD_PID_WORDS]; /* in `envp`: its pid is written there, see CHILD_PID_ROOM; NULL */
} ChildPlan;

/* Remembers the descriptor limit that endwell was given and raises its own to the hard one. Call once, early. */
void child_setup_limits(void);

/* 0, the pid, and the reading end of the error pipe (non-blocking, close-on-exec); or -errno (fork, pipe), no child
 * left. */
int child_spawn(const ChildPlan *plan, pid_t *ret_pid, int *ret_failure_fd);

#define CHILD_GOES_ON 2

/* After the pipe became readable: 0 exec was reached (end of file), 1 a step failed (*ret), CHILD_GOES_ON when it could
 * not join its control group (*ret) and runs all the same: read on; -EAGAIN nothing yet, or -errno. */
int child_read_failure(int fd, ChildFailure *ret);

/* To a process that is our child and not yet collected: its pid cannot have been given to another. -ESRCH: gone. */
int child_signal(pid_t pid, int signal_number);
int child_signal_group(pid_t group, int signal_number);
/* To the process group that we are in ourselves, ourselves included: the others are of the same job of a shell. */
int child_signal_own_group(int signal_number);
/* To a descendant that is not our child, which may vanish and whose pid may be taken by another at any time: through a
 * pidfd, and only if it still started at `start_ticks` (field 22 of /proc/PID/stat). -ESRCH: gone or another. */
int child_signal_stranger(pid_t pid, unsigned long long start_ticks, int signal_number);
