/* roster.c - the table of known processes, and the one place that collects the dead.
 *
 * The table is open addressing with linear probing; a removed entry's followers move up, so it never fills with graves.
 */
#include "supervisor/roster.h"
#include "base/clock.h"
#include "base/kin.h"
#include "base/take.h"
#include "supervisor/priority.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CAPACITY_MIN      64 /* a power of two */
#define PID_MAX_LIMIT     (4U << 20)
#define COLLECT_MAX       64
#define LISTED_MIN        3  /* found one by one in a sweep before the list of children is looked at */
#define LISTED_BESIDE     64 /* known children that make it worth it */
#define SWEEP_SOON_USEC   (1 * USEC_PER_MSEC)
#define SWEEP_LATE_USEC   (20 * USEC_PER_MSEC)
#define QUIET_USEC        (500 * USEC_PER_MSEC)
#define SWEEP_LEEWAY_USEC 1 /* 0 would mean 250 ms to sd-event */

struct Roster {
        RosterEntry *entries; /* pid 0: free */
        size_t n, capacity, capacity_max;
        RosterNames names;
        sd_event_source *timer; /* of the next sweep, or of the rest of this one */
        bool armed;
        usec_t delay_usec, swept_usec;
        RosterCollected collected;
        void *userdata;
};

static size_t home_of(const Roster *roster, pid_t pid) {
        return (size_t)pid * 2654435761U & (roster->capacity - 1);
}

static RosterEntry *place_of(const Roster *roster, pid_t pid) {
        size_t i = home_of(roster, pid);
        while (roster->entries[i].pid != 0 && roster->entries[i].pid != pid)
                i = (i + 1) & (roster->capacity - 1);
        return &roster->entries[i];
}

static int resize(Roster *roster, size_t capacity) {
        if (capacity < CAPACITY_MIN || capacity > roster->capacity_max)
                return -ENOMEM;
        RosterEntry *old = roster->entries, *entries = calloc(capacity, sizeof *entries);
        size_t old_capacity = roster->capacity;
        if (!entries)
                return -ENOMEM;
        roster->entries = entries;
        roster->capacity = capacity;
        for (size_t i = 0; i < old_capacity; i++)
                if (old[i].pid != 0)
                        *place_of(roster, old[i].pid) = old[i];
        free(old);
        return 0;
}

/* At most half full, so that a probe stays short. */
int roster_add(Roster *roster, const RosterEntry *entry) {
        if (entry->pid <= 0)
                return -EINVAL;
        RosterEntry *place = place_of(roster, entry->pid);
        if (place->pid != 0)
                return -EEXIST;
        if ((roster->n + 1) * 2 > roster->capacity) {
                int r = resize(roster, roster->capacity * 2);
                if (r < 0)
                        return r;
                place = place_of(roster, entry->pid);
        }
        *place = *entry;
        place->name = 0;
        roster->n++;
        return 0;
}

RosterEntry *roster_find(Roster *roster, pid_t pid) {
        RosterEntry *place = place_of(roster, pid);
        return pid > 0 && place->pid == pid ? place : NULL;
}

/* Each follower in the run moves into the gap, unless its home lies behind the gap. */
static void close_gap(Roster *roster, size_t gap) {
        size_t mask = roster->capacity - 1;
        for (size_t i = (gap + 1) & mask; roster->entries[i].pid != 0; i = (i + 1) & mask) {
                size_t home = home_of(roster, roster->entries[i].pid);
                if (((i - home) & mask) >= ((i - gap) & mask)) {
                        roster->entries[gap] = roster->entries[i];
                        gap = i;
                }
        }
        roster->entries[gap] = (RosterEntry){ 0 };
}

void roster_set_comm(Roster *roster, pid_t pid, const char comm[static ROSTER_COMM_MAX]) {
        RosterEntry *entry = roster_find(roster, pid);
        if (!entry)
                return;
        roster_names_remove(&roster->names, entry->name);
        entry->name = roster_names_add(&roster->names, comm) & ROSTER_NAMES_MAX;
}

const char *roster_comm(const Roster *roster, const RosterEntry *entry) {
        return roster_names_get(&roster->names, entry->name);
}

/* A crowd of orphans has gone: its memory goes too. When there is none for the smaller table, the larger stays. */
static void shrink(Roster *roster) {
        if (resize(roster, roster->capacity / 4) < 0)
                return;
        RosterNames names = { 0 };
        for (size_t i = 0; i < roster->capacity; i++) {
                RosterEntry *entry = &roster->entries[i];
                if (entry->name > 0)
                        entry->name = roster_names_add(&names, roster_comm(roster, entry)) & ROSTER_NAMES_MAX;
        }
        roster_names_done(&roster->names);
        roster->names = names;
}

void roster_remove(Roster *roster, pid_t pid) {
        RosterEntry *entry = roster_find(roster, pid);
        if (!entry)
                return;
        roster_names_remove(&roster->names, entry->name);
        close_gap(roster, (size_t)(entry - roster->entries));
        roster->n--;
        if (roster->n * 16 < roster->capacity)
                shrink(roster);
}

void roster_each(Roster *roster, void (*each)(void *userdata, RosterEntry *entry), void *userdata) {
        for (size_t i = 0; i < roster->capacity; i++)
                if (roster->entries[i].pid != 0)
                        each(userdata, &roster->entries[i]);
}

static usec_t usec_of(struct timeval time) {
        return (usec_t)time.tv_sec * USEC_PER_SEC + (usec_t)time.tv_usec;
}

static void tell(Roster *roster, const siginfo_t *info, const struct rusage *usage) {
        pid_t pid = info->si_pid;
        Ended how = {
                .code = info->si_code,
                .status = info->si_status,
                .max_rss_kib = (uint64_t)usage->ru_maxrss,
                .cpu_usec = usec_of(usage->ru_utime) + usec_of(usage->ru_stime),
        };
        const RosterEntry *known = roster_find(roster, pid);
        RosterEntry entry = known ? *known : (RosterEntry){ 0 };
        char comm[ROSTER_COMM_MAX];
        strcpy(comm, roster_comm(roster, &entry));
        roster_remove(roster, pid);
        roster->collected(roster->userdata, pid, known ? &entry : NULL, comm, how);
}

/* The kernel's waitid() has a fifth argument that the libc's leaves out. 0 or -errno; info->si_pid is 0 when there is
 * nobody of the kind that is asked for. */
static int ask(idtype_t which, pid_t pid, int options, siginfo_t *info, struct rusage *usage) {
        *info = (siginfo_t){ 0 };
        return syscall(SYS_waitid, which, pid, info, WNOHANG | options, usage) < 0 ? -errno : 0;
}

/* True: one was dead, and is told. */
static bool collect(Roster *roster, idtype_t which, pid_t pid) {
        siginfo_t info;
        struct rusage usage = { 0 };
        /* ECHILD (nobody, or not ours) is ordinary; nothing else can be told of it but "not dead". */
        if (ask(which, pid, WEXITED, &info, &usage) < 0 || info.si_pid == 0)
                return false;
        tell(roster, &info, &usage);
        return true;
}

void roster_collect(Roster *roster, pid_t pid) {
        if (pid > 0)
                (void)collect(roster, P_PID, pid);
}

void roster_collect_all(Roster *roster) {
        while (collect(roster, P_ALL, 0))
                ;
}

bool roster_has_ended(pid_t pid) {
        siginfo_t info;
        return pid > 0 && ask(P_PID, pid, WEXITED | WNOWAIT, &info, NULL) == 0 && info.si_pid == pid;
}

bool roster_has_children(void) {
        siginfo_t info;
        return ask(P_ALL, 0, WEXITED | WNOWAIT, &info, NULL) != -ECHILD;
}

int roster_take_stop(pid_t pid) {
        siginfo_t info;
        if (pid <= 0 || ask(P_PID, pid, WSTOPPED, &info, NULL) < 0 || info.si_pid == 0)
                return 0;
        return info.si_status;
}

/* Children that nobody knows; most of them are orphans, and most of those are dead. */
typedef struct Unknown {
        Roster *roster;
        pid_t pids[COLLECT_MAX];
        int n;
} Unknown;

static int note_unknown(void *userdata, pid_t pid) {
        Unknown *unknown = userdata;
        if (!roster_find(unknown->roster, pid))
                unknown->pids[unknown->n++] = pid;
        return unknown->n == COLLECT_MAX;
}

/* P_ALL is a walk over all children for each one that is dead: beside a thousand, 40 µs. Where several orphans wait
 * behind one signal, one look at the list of our children costs less. Where the kernel has none, the walks must do. */
static int collect_unknown(Roster *roster) {
        Unknown unknown = { .roster = roster };
        int n = 0;
        (void)kin_list("/proc/thread-self/children", note_unknown, &unknown);
        for (int i = 0; i < unknown.n; i++)
                n += collect(roster, P_PID, unknown.pids[i]);
        return n;
}

static int sweep_once(Roster *roster) {
        int n = 0;
        while (n < COLLECT_MAX && collect(roster, P_ALL, 0))
                if (++n == LISTED_MIN && roster->n >= LISTED_BESIDE)
                        n += collect_unknown(roster);
        return n;
}

static int arm(Roster *roster, usec_t delay_usec) {
        int r = sd_event_source_set_time(roster->timer, usec_add(clock_now_usec(), delay_usec));
        if (r >= 0)
                r = sd_event_source_set_enabled(roster->timer, SD_EVENT_ONESHOT);
        roster->armed = r >= 0;
        return r;
}

/* Every process that is dead now, but at most COLLECT_MAX a turn; others have theirs in between. (By the timer, not by
 * a defer source: sd-event never takes back that such a source is pending, so it goes before all its equals.) Sweeps
 * that find a crowd come soon again, so that the last of a thousand is not waited for. Each of their calls is a walk of
 * the kernel over all our children, so in a trickle of deaths, which are named nearly all, they become rare. */
static void sweep(Roster *roster) {
        int n;
        do
                n = sweep_once(roster);
        while (n >= COLLECT_MAX && arm(roster, 0) < 0);
        roster->delay_usec = n >= COLLECT_MAX ? SWEEP_SOON_USEC : usec_min(roster->delay_usec * 2, SWEEP_LATE_USEC);
        roster->swept_usec = clock_now_usec();
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Roster *roster = userdata;
        (void)source, (void)usec;
        roster->armed = false;
        sweep(roster);
        return 0;
}

void roster_on_child(Roster *roster, pid_t hint) {
        roster_collect(roster, hint);
        /* Whoever's signal was merged into this one is dead already, so one sweep later than now finds it; a sweep that
         * was put off by each new death would never come. */
        if (roster->armed)
                return;
        if (usec_sub(clock_now_usec(), roster->swept_usec) > QUIET_USEC)
                roster->delay_usec = SWEEP_SOON_USEC;
        if (arm(roster, roster->delay_usec) < 0)
                sweep(roster);
}

static size_t most_pids(void) {
        char text[16] = "";
        FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
        unsigned long most = file && fgets(text, sizeof text, file) ? strtoul(text, NULL, 10) : 0;
        if (file)
                fclose(file);
        return most > 0 && most < PID_MAX_LIMIT ? most : PID_MAX_LIMIT;
}

static int add_timer(Roster *roster, sd_event *event) {
        int r = sd_event_add_time(event, &roster->timer, CLOCK_MONOTONIC, 0, SWEEP_LEEWAY_USEC, on_timer, roster);
        if (r >= 0)
                r = sd_event_source_set_enabled(roster->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_priority(roster->timer, PRIORITY_ORDINARY);
        return r < 0 ? r : sd_event_source_set_exit_on_failure(roster->timer, true);
}

Roster *roster_free(Roster *roster) {
        if (!roster)
                return NULL;
        sd_event_source_disable_unref(roster->timer);
        free(roster->entries);
        roster_names_done(&roster->names);
        free(roster);
        return NULL;
}

static void roster_freep(Roster **roster) {
        roster_free(*roster);
}

int roster_new(Roster **ret, sd_event *event, RosterCollected collected, void *userdata) {
        _cleanup_(roster_freep) Roster *roster = calloc(1, sizeof *roster);
        if (!roster)
                return -ENOMEM;
        roster->collected = collected;
        roster->userdata = userdata;
        roster->delay_usec = SWEEP_SOON_USEC;
        roster->capacity_max = most_pids() * 4;
        if (roster->capacity_max < CAPACITY_MIN)
                roster->capacity_max = CAPACITY_MIN;
        int r = resize(roster, CAPACITY_MIN);
        if (r < 0)
                return r;
        r = add_timer(roster, event);
        if (r < 0)
                return r;
        *ret = TAKE(roster);
        return 0;
}
