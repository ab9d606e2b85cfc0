/* crew_strays.c - the adopted orphans one by one, and those of them that no run waits for: the strays.
 *
 * A stray is nobody's, or of a member that rests already; it belongs to the phase that is ending. */
#include <signal.h>
#include <stdlib.h>

#include "supervisor/crew_internal.h"

static Orphan *find(Crew *crew, pid_t pid) {
        for (unsigned i = 0; i < crew->n_orphans; i++)
                if (crew->orphans[i].pid == pid)
                        return &crew->orphans[i];
        return NULL;
}

static bool lives_on_as_configured(const Crew *crew, uint32_t member) {
        return member != CREW_NOBODY && crew_service(crew, &crew->members[member])->kill_mode == KILL_PROCESS;
}

static bool is_stray(const Crew *crew, uint32_t member) {
        return member == CREW_NOBODY ||
               (life_is_resting(crew->members[member].life.state) && !lives_on_as_configured(crew, member));
}

static Crowd *crowd_of(Crew *crew, uint32_t member) {
        return member == CREW_NOBODY ? &crew->crowd : &crew->members[member].crowd;
}

void crew_orphan_add(Crew *crew, uint32_t member, pid_t pid) {
        if (!crew->orphans)
                crew->orphans = malloc(ORPHANS_MAX * sizeof *crew->orphans);
        if (crew->orphans && crew->n_orphans < ORPHANS_MAX)
                crew->orphans[crew->n_orphans++] = (Orphan){ .pid = pid, .member = member };
        else {
                crowd_of(crew, member)->n++;
                crew->n_unlisted++;
        }
        crew->new_strays |= is_stray(crew, member);
}

/* In a crowd nobody knows whether it was one that was given up. That it was is the safe answer: at worst one that
 * cannot be killed is awaited once more, until the phase's limit. */
void crew_orphan_remove(Crew *crew, uint32_t member, pid_t pid) {
        Orphan *orphan = find(crew, pid);
        Crowd *crowd = crowd_of(crew, member);
        if (orphan)
                *orphan = crew->orphans[--crew->n_orphans];
        else if (crowd->n > 0) {
                crowd->n--;
                crowd->given_up -= crowd->given_up > 0;
                crew->n_unlisted--;
        }
}

/* All that are left of a member, or of nobody, were named: those of the list one by one, the crowd as a whole. */
void crew_orphan_give_up(Crew *crew, uint32_t member, pid_t pid) {
        Orphan *orphan = find(crew, pid);
        Crowd *crowd = crowd_of(crew, member);
        if (orphan)
                orphan->given_up = true;
        crowd->given_up = crowd->n;
}

static unsigned awaited_in_crowds(const Crew *crew) {
        unsigned strays = crew->crowd.n - crew->crowd.given_up;
        for (uint32_t i = 0; i < crew->n_members; i++)
                if (is_stray(crew, i))
                        strays += crew->members[i].crowd.n - crew->members[i].crowd.given_up;
        return strays;
}

unsigned crew_awaited_strays(const Crew *crew) {
        unsigned strays = crew->n_unlisted > 0 ? awaited_in_crowds(crew) : 0;
        for (unsigned i = 0; i < crew->n_orphans; i++)
                strays += !crew->orphans[i].given_up && is_stray(crew, crew->orphans[i].member);
        return strays;
}

void crew_signal_strays(Crew *crew, int signal_number, const char *reason) {
        if (crew->unattributed > 0)
                crew->stage->signal(crew->self, CREW_NOBODY, WHOM_ALL, signal_number, reason);
        for (uint32_t i = 0; i < crew->n_members; i++)
                if (crew->members[i].orphans > 0 && is_stray(crew, i))
                        crew->stage->signal(crew->self, i, WHOM_REST, signal_number, reason);
}

void crew_treat_strays(Crew *crew) {
        if (!crew->new_strays)
                return;
        crew->new_strays = false;
        if (crew_awaited_strays(crew) == 0)
                return;
        if (!crew->strays_killed) {
                crew_signal_strays(crew, SIGTERM, "orphan");
                return;
        }
        crew_alarm(crew, CREW_ALARM_STRAYS, usec_add(crew_now(crew), crew_patience(crew)));
        crew_signal_strays(crew, SIGKILL, crew_kill_reason(crew, NULL));
}

void crew_strays_time_up(Crew *crew) {
        if (crew_awaited_strays(crew) > 0)
                crew_signal_strays(crew, 0, "outlived SIGKILL");
        crew_want_survey(crew);
}

/* At the beginning of a step: what is left of the strays is asked, or killed, once more. */
void crew_begin_with_strays(Crew *crew, bool killing) {
        crew->strays_killed = killing;
        crew->new_strays = crew_awaited_strays(crew) > 0;
        crew_alarm(crew, CREW_ALARM_STRAYS, USEC_INFINITY);
}
