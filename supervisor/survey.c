/* survey.c - see survey.h. */
#include "supervisor/survey.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/take.h"
#include "supervisor/child.h"
#include "supervisor/kin.h"
#include "supervisor/priority.h"

#define DUTY              10 /* a survey that is not cheap may take one tenth of the time */
#define CHEAP_USEC        250
#define TREE_MAX          4096 /* processes of one tree that one walk signals; the next survey finds the rest */
#define CROWD_MIN         32   /* of a group: it is killed first, and nobody walks its tree */
#define ANCESTORS_MAX     1024
#define NOTED_MEMBERS_MAX 32
#define MEMORY_SIZE       4096 /* processes remembered, by pid: a later one takes the place of an earlier one */

typedef struct Memory { /* of one process that was seen in a tree */
        pid_t pid;
        unsigned long long start_ticks;
        uint32_t member;
        bool asked, killed;
} Memory;

struct Survey {
        Roster *roster;
        Crew *crew;
        ControlGroups *groups;
        sd_event_source *soon, *later;
        Surveyed surveyed;
        void *userdata;
        usec_t last_usec, last_took_usec;
        uint32_t n_members;
        bool blind;
        bool *group_left; /* of each member, when blind */
        pid_t *sessions;  /* of each member's last run */
        Memory *memory;   /* made when first needed */
};

static Memory *remember(Survey *survey, const KinProcess *process) {
        if (!survey->memory)
                survey->memory = calloc(MEMORY_SIZE, sizeof *survey->memory);
        if (!survey->memory)
                return NULL; /* a process may then be asked twice, and is attributed by less */
        Memory *memory = &survey->memory[(size_t)process->pid % MEMORY_SIZE];
        if (memory->pid != process->pid || memory->start_ticks != process->start_ticks)
                *memory = (Memory){ .pid = process->pid, .start_ticks = process->start_ticks, .member = CREW_NOBODY };
        return memory;
}

static uint32_t by_session(const Survey *survey, pid_t session) {
        for (uint32_t i = 0; session > 0 && i < survey->n_members; i++) /* 0: its leader is outside our PID namespace */
                if (survey->sessions[i] == session)
                        return i;
        return CREW_NOBODY;
}

static uint32_t by_owner(const Survey *survey, pid_t pid) {
        char owner[37];
        return kin_owner(pid, owner) < 0 ? CREW_NOBODY : crew_find_owner(survey->crew, owner);
}

static uint32_t by_group(const Survey *survey, pid_t pid) {
        return survey->groups ? control_groups_owner_of(survey->groups, pid) : CREW_NOBODY;
}

static uint32_t attribute(Survey *survey, const KinProcess *process) {
        uint32_t member = by_group(survey, process->pid);
        if (member == CREW_NOBODY)
                member = by_session(survey, process->session);
        const Memory *seen = survey->memory ? &survey->memory[(size_t)process->pid % MEMORY_SIZE] : NULL;
        if (member == CREW_NOBODY && seen && seen->pid == process->pid && seen->start_ticks == process->start_ticks)
                member = seen->member;
        return member == CREW_NOBODY ? by_owner(survey, process->pid) : member;
}

bool survey_is_blind(const Survey *survey) {
        return survey->blind;
}

uint32_t survey_owner_of(Survey *survey, pid_t pid) {
        KinProcess process;
        pid_t at = pid;
        if (survey->blind)
                return CREW_NOBODY;
        for (unsigned steps = 0; steps < ANCESTORS_MAX && at > 1; steps++) {
                const RosterEntry *entry = roster_find(survey->roster, at);
                if (entry && (entry->kind == ROSTER_MAIN || entry->kind == ROSTER_ORPHAN))
                        return entry->owner;
                if (kin_read(at, &process) < 0)
                        return CREW_NOBODY;
                at = process.parent;
        }
        return kin_read(pid, &process) < 0 ? CREW_NOBODY : attribute(survey, &process);
}

static int look_at_child(void *userdata, pid_t pid) {
        Survey *survey = userdata;
        KinProcess process;
        if (roster_find(survey->roster, pid) || kin_read(pid, &process) < 0 || !kin_is_living(&process))
                return 0; /* known, or dead: then SIGCHLD is on its way, and its children are in this list themselves */
        RosterEntry entry = { .pid = pid, .kind = ROSTER_ORPHAN, .owner = attribute(survey, &process) };
        if (roster_add(survey->roster, &entry) < 0)
                return 0; /* out of memory: it is found again by the next survey */
        roster_set_comm(survey->roster, pid, process.comm);
        crew_on_orphan_adopted(survey->crew, entry.owner, pid, process.comm);
        return 0;
}

/* Without /proc what is left of a run can be seen by its process group only; the group then stands for an orphan. */
static void look_at_groups(Survey *survey) {
        for (uint32_t i = 0; i < survey->n_members; i++) {
                pid_t group = survey->sessions[i];
                if (group <= 0 || crew_view(survey->crew, i).pid > 0)
                        continue;
                bool left = child_signal_group(group, 0) >= 0;
                if (left == survey->group_left[i])
                        continue;
                survey->group_left[i] = left;
                if (left)
                        crew_on_orphan_adopted(survey->crew, i, group, "group");
                else
                        crew_on_orphan_gone(survey->crew, i, group, "group", (Ended){ .code = CLD_EXITED });
        }
}

static void carry_out(Survey *survey) {
        usec_t begin = clock_now_usec();
        if (survey->blind)
                look_at_groups(survey);
        else if (roster_has_children())
                (void)kin_children(look_at_child, survey); /* descriptors are out: the next survey finds them */
        survey->last_usec = clock_now_usec();
        survey->last_took_usec = usec_sub(survey->last_usec, begin);
        survey->surveyed(survey->userdata);
}

static int on_soon(sd_event_source *source, void *userdata) {
        (void)source;
        carry_out(userdata);
        return 0;
}

static int on_later(sd_event_source *source, uint64_t usec, void *userdata) {
        (void)source, (void)usec;
        carry_out(userdata);
        return 0;
}

void survey_ask(Survey *survey) {
        usec_t pause = survey->last_took_usec > CHEAP_USEC ? survey->last_took_usec * DUTY : 0;
        usec_t due = usec_add(survey->last_usec, pause);
        if (clock_now_usec() >= due) {
                if (sd_event_source_set_enabled(survey->soon, SD_EVENT_ONESHOT) >= 0)
                        return;
        }
        if (sd_event_source_set_time(survey->later, due) < 0 ||
            sd_event_source_set_enabled(survey->later, SD_EVENT_ONESHOT) < 0)
                (void)sd_event_source_set_enabled(survey->soon, SD_EVENT_ONESHOT);
}

int survey_new(Survey **ret, sd_event *event, Roster *roster, uint32_t n_members, Surveyed surveyed, void *userdata) {
        Survey *survey = calloc(1, sizeof *survey);
        if (!survey)
                return -ENOMEM;
        *survey = (Survey){ .roster = roster, .n_members = n_members, .surveyed = surveyed, .userdata = userdata };
        survey->blind = kin_check() < 0;
        survey->sessions = calloc(n_members + 1UL, sizeof *survey->sessions);
        survey->group_left = calloc(n_members + 1UL, sizeof *survey->group_left);
        int r = survey->sessions && survey->group_left ? sd_event_add_defer(event, &survey->soon, on_soon, survey)
                                                       : -ENOMEM;
        if (r >= 0)
                r = sd_event_source_set_enabled(survey->soon, SD_EVENT_OFF);
        /* After the deaths that are already waiting: one survey then serves them all. */
        if (r >= 0)
                r = sd_event_source_set_priority(survey->soon, PRIORITY_CHILD + 1);
        if (r >= 0)
                r = sd_event_add_time(event, &survey->later, CLOCK_MONOTONIC, 0, 1, on_later, survey);
        if (r >= 0)
                r = sd_event_source_set_enabled(survey->later, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_priority(survey->later, PRIORITY_CHILD + 1);
        if (r < 0) {
                survey_free(survey);
                return r;
        }
        *ret = survey;
        return 0;
}

Survey *survey_free(Survey *survey) {
        if (!survey)
                return NULL;
        sd_event_source_unref(survey->soon);
        sd_event_source_unref(survey->later);
        free(survey->sessions);
        free(survey->group_left);
        free(survey->memory);
        free(survey);
        return NULL;
}

void survey_set_crew(Survey *survey, Crew *crew) {
        survey->crew = crew;
}

void survey_set_groups(Survey *survey, ControlGroups *groups) {
        survey->groups = groups;
}

void survey_note_session(Survey *survey, uint32_t member, pid_t session) {
        for (uint32_t i = 0; i < survey->n_members; i++)
                if (survey->sessions[i] == session)
                        survey->sessions[i] = 0; /* its pid came round: nobody of the former session is left */
        if (member < survey->n_members)
                survey->sessions[member] = session;
}

typedef struct Walk {
        Survey *survey;
        uint32_t member;
        int signal_number;
        const char *reason;
} Walk;

static bool is_polite(int signal_number) {
        return signal_number != SIGKILL && signal_number != 0;
}

static void tell(const Walk *walk, const KinProcess *process) {
        crew_told(walk->survey->crew, walk->member, process->pid, process->comm[0] ? process->comm : NULL,
                  walk->signal_number, walk->reason);
}

/* SIGKILL takes a moment: whoever is found again meanwhile was told already. */
static void tell_once(const Walk *walk, const KinProcess *process, Memory *memory) {
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
        Memory *memory = remember(walk->survey, process);
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
        if (is_polite(walk->signal_number) && roster_has_ended(pid))
                return; /* by itself, and not because it was asked: its end is told next */
        if (walk->signal_number != 0 && child_signal(pid, walk->signal_number) < 0)
                return; /* collected in this very moment: its end is told next */
        if (is_polite(walk->signal_number))
                (void)child_signal(pid, SIGCONT);
        /* The name of a main process is its service's; only a killing is worth a look into /proc. */
        bool known = !is_polite(walk->signal_number) && kin_read(pid, &process) == 0;
        tell_once(walk, &process, known ? remember(walk->survey, &process) : NULL);
}

/* While a main process lives, its tree can still be read: whoever of it clears its environment and its session later is
 * known then. Worth it only where it is cheap; in a crowd the session and ENDWELL_OWNER must do. */
static int note_process(void *userdata, const KinProcess *process) {
        const Walk *walk = userdata;
        Memory *memory = remember(walk->survey, process);
        if (memory)
                memory->member = walk->member;
        return 0;
}

/* Without /proc: the group that the main process leads is what is known of its tree. */
static void signal_group(const Walk *walk, Whom whom) {
        pid_t main_pid = crew_view(walk->survey->crew, walk->member).pid, group = walk->survey->sessions[walk->member];
        KinProcess process = { .pid = whom == WHOM_REST ? group : main_pid };
        if (whom == WHOM_MAIN && is_polite(walk->signal_number) && roster_has_ended(main_pid))
                return;
        if (process.pid <= 0 ||
            (walk->signal_number != 0 && (whom == WHOM_MAIN ? child_signal(main_pid, walk->signal_number)
                                                            : child_signal_group(group, walk->signal_number)) < 0))
                return;
        if (is_polite(walk->signal_number))
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
                        tell_once(walk, &listed->processes[i], remember(walk->survey, &listed->processes[i]));
                else
                        (void)signal_process(walk, &listed->processes[i]);
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
        if (whom != WHOM_MAIN)
                roster_each(survey->roster, signal_orphan, &walk);
        if (by_group && !crowd)
                kill_group(&walk, &listed);
}
