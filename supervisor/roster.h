/* roster.h - knows every process that PID 1 must collect, and collects it: the only caller of waitid().
 *
 * Constant time beside any number of live children: SIGCHLD names one pid, that one is collected by P_PID; signals that
 * the kernel merged are caught by one P_ALL sweep 1 to 20 ms later (late where sweeps find few), while something is
 * dying. Lookup is a hash of pids; memory grows with the number of processes that are known (at most pid_max). */
#pragma once
#include "supervisor/crew.h"
#include "supervisor/roster_names.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef enum RosterKind {
        ROSTER_MAIN,   /* `owner` is a member */
        ROSTER_HOOK,   /* `owner` is a hook run */
        ROSTER_ORPHAN, /* `owner` is a member or CREW_NOBODY */
        ROSTER_PROBE,  /* `owner` is a probe run */
        ROSTER_HELPER, /* a built-in process: `owner` says which */
} RosterKind;

/* One for each process we must collect, beside as many free places: so it is small, and names lie elsewhere. */
typedef struct RosterEntry {
        pid_t pid;
        uint32_t owner;
        RosterKind kind : 8;
        unsigned name : 24; /* the roster's own: see roster_comm() */
} RosterEntry;

typedef struct Roster Roster;

/* `entry` NULL: a process that nobody knew (an orphan that was never surveyed). The entry is already removed. `comm`:
 * what roster_comm() said of it. */
typedef void (*RosterCollected)(void *userdata, pid_t pid, const RosterEntry *entry, const char *comm, Ended how);

int roster_new(Roster **ret, sd_event *event, RosterCollected collected, void *userdata);
Roster *roster_free(Roster *roster);
/* -EEXIST, -EINVAL (no pid), -ENOMEM: then its end will be told as that of a process nobody knew. */
int roster_add(Roster *roster, const RosterEntry *entry);
RosterEntry *roster_find(Roster *roster, pid_t pid); /* valid until the next change; NULL */
void roster_remove(Roster *roster, pid_t pid);
/* What an orphan was called when it was adopted; goes with its entry. Without memory for it the name is "". */
void roster_set_comm(Roster *roster, pid_t pid, const char comm[static ROSTER_COMM_MAX]);
const char *roster_comm(const Roster *roster, const RosterEntry *entry); /* valid until the next change */
/* `each` must not add, remove or collect. */
void roster_each(Roster *roster, void (*each)(void *userdata, RosterEntry *entry), void *userdata);

/* From the SIGCHLD handler: `hint` is ssi_pid. Never blocks; collects at most 64 processes a call, the rest follows. */
void roster_on_child(Roster *roster, pid_t hint);
/* Collects this one now if it is dead (used before a decision that must not be stale). */
void roster_collect(Roster *roster, pid_t pid);
/* Collects all that are dead now, however many. */
void roster_collect_all(Roster *roster);
/* Dead, and not collected yet: signals still seem to reach it. One that is not our child is never said to be. */
bool roster_has_ended(pid_t pid);
/* Whether we have any child at all, dead or alive: one system call, where a look into /proc costs a hundred times more.
 */
bool roster_has_children(void);
/* The signal that stopped this child of ours, told once for each stop; 0: it goes on, or its stop was told. SIGCHLD
 * that came together are one, so ask after each. */
int roster_take_stop(pid_t pid);
