/* survey_signal.c - signals to a main process, the rest of its tree, or all of it; and who is told of it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/take.h"
#include "supervisor/child.h"
#include "supervisor/survey_internal.h"

#define TREE_MAX          4096 /* processes of one tree that one walk signals; the next survey finds the rest */
#define CROWD_MIN         32   /* of a group: it is killed first, and nobody walks its tree */
#define NOTED_MEMBERS_MAX 32
#define LOOKS_MAX         64 /* members that are looked up in /proc before they are killed, in so much time */
#define LOOKS_USEC        (250 * USEC_PER_MSEC)

typedef struct Walk {
        Survey *survey;
        uint32_t member;
        int signal_number;
        const char *reason;
        bool at_once; /* nothing is looked up in /proc */
} Walk;

static bool is_polite(int signal_number) {
        return signal_number != SIGKILL && signal_number != 0;
}

/* Who is asked to end must be able to hear it; what a person sends, SIGSTOP included, is nobody's to undo. */
static bool is_continued(const Walk *walk) {
        return is_polite(walk->signal_number) && strcmp(walk->reason, "request") != 0;
}

static void tell(const Walk *walk, const KinProcess *process) {
        crew_told(walk->survey->crew, walk->member, process->pid, process->comm[0] ? process->comm : NULL,
                  walk->signal_number, walk->reason);
}

/* SIGKILL takes a moment: whoever is found again meanwhile was told already. */
static void tell_once(const Walk *walk, const KinProcess *process, SurveyMemory *memory) {
        bool killing = walk->signal_number == SIGKILL;
        if (killing && memory && memory->killed)
                return;
        if (memory)
                memory->killed |= killing;
        tell(walk, process);
}

/* A process below the main one, or an orphan: not always our child, so it is signalled by its pidfd. */
static int signal_process(void *userdata, const KinProcess *process) {
        const Walk *walk = userdata;
        SurveyMemory *memory = survey_remember(walk->survey, process);
        if (memory && walk->member != CREW_NOBODY)
                memory->member = walk->member;
        if (is_polite(walk->signal_number) && memory && memory->asked)
                return 0;
        if (walk->signal_number != 0 &&
            child_signal_stranger(process->pid, process->start_ticks, walk->signal_number) < 0)
                return 0; /* gone meanwhile, or not ours to signal: the limit and the summary will say so */
        if (is_polite(walk->signal_number)) {
                (void)child_signal_stranger(process->pid, process->start_ticks, SIGCONT);
                if (memory)
                        memory->asked = true;
        }
        tell_once(walk, process, memory);
        return 0;
}

static void signal_orphan(void *userdata, RosterEntry *entry) {
        Walk *walk = userdata;
        KinProcess process;
        if (entry->kind != ROSTER_ORPHAN || entry->owner != walk->member || kin_read(entry->pid, &process) < 0 ||
            !kin_is_living(&process))
                return;
        signal_process(walk, &process);
        (void)kin_descendants(entry->pid, TREE_MAX, signal_process, walk);
}

static void signal_main(const Walk *walk, pid_t pid) {
        KinProcess process = { .pid = pid };
        if (roster_has_ended(pid))
                return; /* by itself, or of an earlier signal: its end is told next */
        if (walk->signal_number != 0 && child_signal(pid, walk->signal_number) < 0)
                return; /* collected in this very moment: its end is told next */
        if (is_continued(walk))
                (void)child_signal(pid, SIGCONT);
        /* The name of a main process is its service's; only a killing is worth a look into /proc. */
        bool known = !is_polite(walk->signal_number) && !walk->at_once && kin_read(pid, &process) == 0;
        tell_once(walk, &process, known ? survey_remember(walk->survey, &process) : NULL);
}

/* While a main process lives, its tree can still be read: whoever of it clears its environment and its session later is
 * known then. Worth it only where it is cheap; in a crowd the session and ENDWELL_OWNER must do. */
static int note_process(void *userdata, const KinProcess *process) {
        const Walk *walk = userdata;
        SurveyMemory *memory = survey_remember(walk->survey, process);
        if (memory)
                memory->member = walk->member;
        return 0;
}

/* Without /proc: the group that the main process leads is what is known of its tree. */
static void signal_group(const Walk *walk, Whom whom) {
        pid_t main_pid = crew_view(walk->survey->crew, walk->member).pid, group = walk->survey->sessions[walk->member];
        KinProcess process = { .pid = whom == WHOM_REST ? group : main_pid };
        if (whom == WHOM_MAIN && roster_has_ended(main_pid))
                return;
        if (process.pid <= 0 ||
            (walk->signal_number != 0 && (whom == WHOM_MAIN ? child_signal(main_pid, walk->signal_number)
                                                            : child_signal_group(group, walk->signal_number)) < 0))
                return;
        if (is_continued(walk))
                (void)(whom == WHOM_MAIN ? child_signal(main_pid, SIGCONT) : child_signal_group(group, SIGCONT));
        tell(walk, &process);
}

/* Who is in a control group, by name, before it is killed: afterwards nobody is. */
typedef struct Listed {
        KinProcess *processes;
        size_t n, capacity;
} Listed;

static void listed_done(Listed *listed) {
        free(listed->processes);
}

static int list_process(void *userdata, pid_t pid) {
        Listed *listed = userdata;
        if (listed->n == listed->capacity) {
                size_t capacity = listed->capacity ? listed->capacity * 2 : 16;
                KinProcess *grown = capacity > TREE_MAX ? NULL : realloc(listed->processes, capacity * sizeof *grown);
                if (!grown)
                        return -ENOBUFS; /* more than can be named */
                listed->processes = grown;
                listed->capacity = capacity;
        }
        if (kin_read(pid, &listed->processes[listed->n]) == 0)
                listed->n++;
        return 0;
}

/* True: `walk` kills all that is of its member, and that is a control group. Its main process must not be spared. */
static bool list_group(const Walk *walk, Whom whom, pid_t main_pid, Listed *ret) {
        bool all = whom == WHOM_ALL || (whom == WHOM_REST && main_pid <= 0);
        if (walk->signal_number != SIGKILL || walk->member == CREW_NOBODY || !walk->survey->groups || !all)
                return false;
        return control_groups_each(walk->survey->groups, walk->member, list_process, ret) != -ENOENT;
}

static void kill_group(Walk *walk, const Listed *listed) {
        bool killed = control_groups_kill(walk->survey->groups, walk->member) >= 0;
        for (size_t i = 0; i < listed->n; i++)
                if (killed)
                        tell_once(walk, &listed->processes[i], survey_remember(walk->survey, &listed->processes[i]));
                else
                        (void)signal_process(walk, &listed->processes[i]);
}

/* Looking into /proc for the tree and the names of a member costs a hundred times what killing it does. When thousands
 * are to be killed at a limit, the first ones are looked up and the rest are killed at once, so that the deadline is
 * kept. Nobody escapes: what was below them is ours then, and one survey finds it for all. */
static bool may_look(Survey *survey) {
        usec_t now = clock_now_usec();
        if (usec_sub(now, survey->looks_since_usec) > LOOKS_USEC) {
                survey->looks_since_usec = now;
                survey->looks = 0;
        }
        return survey->looks++ < LOOKS_MAX;
}

/* An orphan in the roster is our child, so its number is its own until it is collected. */
static void signal_orphan_at_once(void *userdata, RosterEntry *entry) {
        const Walk *walk = userdata;
        KinProcess process = { .pid = entry->pid };
        if (entry->kind != ROSTER_ORPHAN || entry->owner != walk->member || roster_has_ended(entry->pid) ||
            (walk->signal_number != 0 && child_signal(entry->pid, walk->signal_number) < 0))
                return;
        strcpy(process.comm, roster_comm(walk->survey->roster, entry));
        tell(walk, &process);
}

static bool has_orphans(const Survey *survey, uint32_t member) {
        return (member == CREW_NOBODY ? crew_overview(survey->crew).orphans : crew_view(survey->crew, member).orphans) >
               0;
}

static void signal_at_once(Walk *walk, Whom whom, pid_t main_pid) {
        Survey *survey = walk->survey;
        bool all = whom != WHOM_MAIN && main_pid <= 0; /* a group is killed once its main process is gone */
        walk->at_once = true;
        if (whom != WHOM_REST && main_pid > 0)
                signal_main(walk, main_pid);
        if (all && walk->signal_number == SIGKILL && survey->groups && walk->member != CREW_NOBODY)
                (void)control_groups_kill(survey->groups, walk->member); /* there may be none */
        if (whom != WHOM_MAIN && has_orphans(survey, walk->member))
                roster_each(survey->roster, signal_orphan_at_once, walk);
}

void survey_signal(Survey *survey, uint32_t member, Whom whom, int signal_number, const char *reason) {
        _cleanup_(listed_done) Listed listed = { 0 };
        Walk walk = { .survey = survey, .member = member, .signal_number = signal_number, .reason = reason };
        pid_t main_pid = member == CREW_NOBODY ? 0 : crew_view(survey->crew, member).pid;
        if (survey->blind) {
                if (member != CREW_NOBODY)
                        signal_group(&walk, whom);
                return;
        }
        if (!is_polite(signal_number) && !may_look(survey)) {
                signal_at_once(&walk, whom, main_pid);
                return;
        }
        bool by_group = list_group(&walk, whom, main_pid, &listed);
        if (whom == WHOM_MAIN && main_pid > 0 && survey->n_members <= NOTED_MEMBERS_MAX)
                (void)kin_descendants(main_pid, TREE_MAX, note_process, &walk);
        /* While a crowd is read it grows. What of it is elsewhere is found by the next survey. */
        bool crowd = listed.n >= CROWD_MIN;
        if (crowd)
                kill_group(&walk, &listed);
        /* A tree is read before its root is killed: afterwards its parts are no longer below it. */
        if (whom != WHOM_MAIN && main_pid > 0 && !crowd)
                (void)kin_descendants(main_pid, TREE_MAX, signal_process, &walk);
        if (whom != WHOM_REST && main_pid > 0)
                signal_main(&walk, main_pid);
        if (whom != WHOM_MAIN && has_orphans(survey, member))
                roster_each(survey->roster, signal_orphan, &walk);
        if (by_group && !crowd)
                kill_group(&walk, &listed);
}
