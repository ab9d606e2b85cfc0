/* crew_health.c - what makes a run ready, and what makes it ill: its own word, its probes, its watchdog. */
#include <signal.h>

#include "supervisor/crew_internal.h"

const ProbeRun *crew_unready_probe(const Crew *crew, const Member *member) {
        static const ProbeKind kinds[] = { PROBE_STARTUP, PROBE_READINESS };
        for (unsigned i = 0; i < 2; i++) {
                const ProbeRun *run = crew_probe_of(crew, member, kinds[i]);
                if (run && run->probe.opinion != PROBE_GOOD)
                        return run;
        }
        return NULL;
}

void crew_try_ready(Crew *crew, Member *member) {
        ServiceType type = crew_service(crew, member)->type;
        bool says = type == SERVICE_SIMPLE ? member->executed : type != SERVICE_ONESHOT && member->said_ready;
        if (says && !crew_unready_probe(crew, member))
                crew_live(crew, member, LIFE_IS_READY);
}

/* Who tells that it is ready and ends by itself before has not started, whatever its exit code: else those who wait for
 * it would start without it. In an ending nobody waits for it any more. */
bool crew_ended_unready(const Crew *crew, const Member *member) {
        ServiceType type = crew_service(crew, member)->type;
        if (member->asked || member->ready_usec > 0 || type == SERVICE_ONESHOT || crew_is_ending(crew))
                return false;
        return type != SERVICE_SIMPLE || crew_probe_of(crew, member, PROBE_STARTUP) ||
               crew_probe_of(crew, member, PROBE_READINESS);
}

static void say_ready(Crew *crew, Member *member) {
        if (!life_has_main(member->life.state))
                return;
        member->said_ready = true;
        crew_try_ready(crew, member);
}

void crew_hear_ready(Crew *crew, Member *member) {
        if (crew_service(crew, member)->type == SERVICE_NOTIFY)
                say_ready(crew, member);
}

void crew_on_ready_line(Crew *crew, uint32_t index) {
        Member *member = &crew->members[index];
        if (crew->finished || crew_service(crew, member)->type != SERVICE_NOTIFY_FD)
                return;
        say_ready(crew, member);
        crew_settle(crew);
}

/* A readiness probe breaks it. */
usec_t crew_longest_stretch(const Crew *crew, const Member *member, usec_t until) {
        const ProbeRun *run = crew_probe_of(crew, member, PROBE_READINESS);
        if (member->ready_usec == 0)
                return 0;
        if (!run)
                return usec_sub(until, member->ready_usec);
        usec_t since = usec_max(member->ready_usec, run->since_usec);
        return usec_max(run->longest_usec, run->probe.opinion == PROBE_GOOD ? usec_sub(until, since) : 0);
}

/* Being asked ends it: how long a wedged process takes to stop is no merit of its. Of a run whose readiness comes and
 * goes it still holds that it did not end within a second of being ready. */
usec_t crew_ready_for(const Crew *crew, const Member *member) {
        usec_t until = member->asked ? member->asked_usec : member->exited_usec;
        if (!member->has_exited || member->ready_usec == 0)
                return 0;
        return usec_max(crew_longest_stretch(crew, member, until),
                        usec_min(usec_sub(until, member->ready_usec), RESPAWN_EARLY_USEC));
}

static bool may_fall_ill(const Member *member) {
        return (member->life.state == LIFE_STARTING || member->life.state == LIFE_READY) &&
               !life_will_rest(member->life);
}

void crew_unwell(Crew *crew, Member *member, Illness illness) {
        if (may_fall_ill(member))
                member->illness = illness & 3;
        crew_live(crew, member, LIFE_UNHEALTHY);
}

const char *crew_illness_word(const Member *member) {
        switch ((Illness)member->illness) {
        case ILL_STARTUP: return "startup";
        case ILL_LIVENESS: return "liveness";
        case ILL_WATCHDOG: return "watchdog";
        case ILL_NOT: break;
        }
        return NULL;
}

static usec_t watchdog_of(const Crew *crew, const Member *member) {
        usec_t own = crew->watchdogs_usec[crew_index(crew, member)];
        usec_t usec = own > 0 ? own : crew_service(crew, member)->watchdog_usec;
        return usec > 0 ? usec : USEC_INFINITY;
}

/* A sign of life, or the beginning: in this state the member's alarm is its watchdog's. */
void crew_watch(Crew *crew, Member *member) {
        if (member->life.state == LIFE_READY && !life_will_rest(member->life))
                crew_alarm_member(crew, member, usec_add(crew_now(crew), watchdog_of(crew, member)));
}

void crew_watchdog_expired(Crew *crew, Member *member, const char *text) {
        usec_t usec = watchdog_of(crew, member);
        if (may_fall_ill(member))
                crew_record_member(crew, member,
                                   &(Event){ .kind = EVENT_WATCHDOG_EXPIRED,
                                             .text = text,
                                             .usec = usec == USEC_INFINITY ? 0 : usec }); /* off, and triggered */
        crew_unwell(crew, member, ILL_WATCHDOG);
}

/* The new span counts from the last sign of life, not from now: else who changes it in time would never be late. */
static void change_watchdog(Crew *crew, Member *member, usec_t usec) {
        usec_t due = alarms_when(&crew->alarms, crew_index(crew, member)), before = watchdog_of(crew, member);
        crew->watchdogs_usec[crew_index(crew, member)] = usec;
        if (member->life.state != LIFE_READY || due == USEC_INFINITY)
                crew_watch(crew, member);
        else
                crew_alarm_member(crew, member, usec_add(usec_sub(due, before), usec));
}

void crew_hear_watchdog(Crew *crew, Member *member, const NotifyWords *words) {
        if (words->watchdog_usec > 0 && life_has_main(member->life.state))
                change_watchdog(crew, member, words->watchdog_usec);
        if (words->watchdog)
                crew_watch(crew, member);
        if (words->watchdog_trigger) /* whether it means anything now is its life's to say */
                crew_watchdog_expired(crew, member, "WATCHDOG=trigger");
}
