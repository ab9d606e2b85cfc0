/* survey.c - see survey.h. */
#include "supervisor/survey_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/kin.h"
#include "base/take.h"
#include "supervisor/child.h"
#include "supervisor/priority.h"

#define DUTY          10 /* a survey that is not cheap may take one tenth of the time */
#define CHEAP_USEC    250
#define ANCESTORS_MAX 1024
#define MEMORY_SIZE   4096 /* processes remembered, by pid: a later one takes the place of an earlier one */

SurveyMemory *survey_remember(Survey *survey, const KinProcess *process) {
        if (!survey->memory)
                survey->memory = calloc(MEMORY_SIZE, sizeof *survey->memory);
        if (!survey->memory)
                return NULL; /* a process may then be asked twice, and is attributed by less */
        SurveyMemory *memory = &survey->memory[(size_t)process->pid % MEMORY_SIZE];
        if (memory->pid != process->pid || memory->start_ticks != process->start_ticks)
                *memory = (SurveyMemory){ .pid = process->pid,
                                          .start_ticks = process->start_ticks,
                                          .member = CREW_NOBODY };
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
        const SurveyMemory *seen = survey->memory ? &survey->memory[(size_t)process->pid % MEMORY_SIZE] : NULL;
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

void survey_look(Survey *survey) {
        carry_out(survey);
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
