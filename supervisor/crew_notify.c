/* crew_notify.c - what the members say: readiness, status, more time, marks of their own hooks. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/crew_internal.h"

/* The text is kept for `status`; the journal hears of it at most once a second, so that a service that counts aloud
 * does not push everything else out of it. */
static void take_status(Crew *crew, Member *member, const char *text) {
        size_t size = strlen(text) + 1;
        if (member->status && strcmp(member->status->text, text) == 0)
                return;
        usec_t now = crew_now(crew), recorded = member->status ? member->status->recorded_usec : 0;
        bool tells = recorded == 0 || now >= usec_add(recorded, STATUS_USEC);
        MemberStatus *status = malloc(sizeof *status + size);
        if (status) {
                memcpy(status->text, text, size);
                free(member->status);
                member->status = status;
        }
        if (member->status) /* without memory the old text stays, nothing else suffers */
                member->status->recorded_usec = tells ? now : recorded;
        if (!tells)
                return;
        crew_record_member(crew, member, &(Event){ .kind = EVENT_SERVICE_STATUS, .text = text });
}

/* Moves the service's own limit, never the phase's nor the deadline. */
static void extend(Crew *crew, Member *member, usec_t by) {
        usec_t now = crew_now(crew), limit = usec_add(now, by);
        LifeState state = member->life.state;
        if (state != LIFE_STARTING && state != LIFE_STOPPING && !(state == LIFE_CLEARING && !member->life.killed))
                return;
        if (member->drained)
                return;
        limit = usec_max(limit, alarms_when(&crew->alarms, crew_index(crew, member)));
        if (state != LIFE_STARTING) {
                limit = usec_min(limit, crew_phase_limit(crew, crew_service(crew, member)->phase));
                member->clear_limit_usec = limit;
        }
        crew_alarm_member(crew, member, limit);
        crew_record_member(crew, member, &(Event){ .kind = EVENT_SERVICE_EXTENDED, .usec = by });
}

static void take_drained(Crew *crew, Member *member) {
        const ServiceConfig *service = crew_service(crew, member);
        if (service->drain_until != DRAIN_NOTIFY || member->life.state != LIFE_STOPPING || member->drained)
                return;
        member->drained = true;
        usec_t limit = usec_min(usec_add(crew_now(crew), DRAINED_KILL_USEC),
                                alarms_when(&crew->alarms, crew_index(crew, member)));
        crew_alarm_member(crew, member, limit);
        crew_member_signal(crew, member, WHOM_MAIN, service->drained_signal, "drained");
}

void crew_on_executed(Crew *crew, uint32_t index) {
        Member *member = &crew->members[index];
        if (crew->finished || !life_has_main(member->life.state) || member->error_step)
                return;
        crew_record_member(crew, member,
                           &(Event){ .kind = EVENT_SERVICE_STARTED,
                                     .took_usec = usec_sub(crew_now(crew), member->spawned_usec) });
        member->executed = true;
        crew_begin_probes(crew, member);
        crew_try_ready(crew, member);
        crew_settle(crew);
}

void crew_on_main_pid(Crew *crew, uint32_t index, pid_t pid, bool was_orphan) {
        Member *member = &crew->members[index];
        if (crew->finished || !life_has_main(member->life.state))
                return;
        member->pid = pid;
        member->orphans -= was_orphan && member->orphans > 0;
        if (was_orphan)
                crew_orphan_remove(crew, index, pid);
}

void crew_on_notify(Crew *crew, uint32_t index, pid_t sender, const NotifyWords *words) {
        Member *member = &crew->members[index];
        if (crew->finished)
                return;
        if (words->stopping && life_has_main(member->life.state))
                member->said_stopping = true;
        if (words->has_active)
                member->active = words->active;
        if (words->has_status)
                take_status(crew, member, words->status);
        if (words->extend_timeout_usec > 0)
                extend(crew, member, words->extend_timeout_usec);
        if (words->ready)
                crew_hear_ready(crew, member);
        crew_hear_watchdog(crew, member, words);
        if (words->drained)
                take_drained(crew, member);
        if (words->hook[0])
                crew_on_mark(crew, index, words->hook, words->hook_edge, sender, words->has_rc ? words->rc : 0);
        crew_settle(crew);
}

static HookSlot *known_slot(Crew *crew, uint32_t index, const char *name) {
        for (size_t h = 0; h < crew->config->n_hooks; h++) {
                const HookConfig *hook = &crew->config->hooks[h];
                if (strcmp(hook->name, name) != 0)
                        continue;
                if (hook->service < 0)
                        return &crew->runs[crew->first_run[h]].slot;
                if (index != CREW_NOBODY && crew->members[index].service == hook->service)
                        return &crew->runs[crew->first_run[h] + crew->members[index].number - 1U].slot;
        }
        return NULL;
}

/* Applications may mark hooks that the configuration does not name; so many are remembered, the rest is only recorded.
 */
static HookSlot *foreign_slot(Crew *crew, uint32_t index, const char *name) {
        for (unsigned i = 0; i < crew->n_foreign; i++)
                if (crew->foreign[i].member == index && strcmp(crew->foreign[i].name, name) == 0)
                        return &crew->foreign[i].slot;
        if (!crew->foreign)
                crew->foreign = malloc(FOREIGN_MARKS_MAX * sizeof *crew->foreign);
        if (!crew->foreign || crew->n_foreign == FOREIGN_MARKS_MAX)
                return NULL;
        ForeignMark *mark = &crew->foreign[crew->n_foreign++];
        *mark = (ForeignMark){ .member = index };
        strncpy(mark->name, name, sizeof mark->name - 1);
        return &mark->slot;
}

static void record_about(Crew *crew, uint32_t index, Event *event) {
        if (index != CREW_NOBODY)
                crew_record_member(crew, &crew->members[index], event);
        else
                crew_record(crew, event);
}

void crew_on_mark(Crew *crew, uint32_t index, const char *name, NotifyEdge edge, pid_t pid, int rc) {
        if (crew->finished)
                return;
        usec_t now = crew_now(crew);
        record_about(crew, index,
                     &(Event){ .kind = EVENT_HOOK_MARKED,
                               .hook = name,
                               .edge = edge == NOTIFY_EDGE_END ? "end" : "begin",
                               .pid = pid,
                               .rc = rc });
        if (edge == NOTIFY_EDGE_END)
                return;
        HookSlot *slot = known_slot(crew, index, name);
        if (!slot)
                slot = foreign_slot(crew, index, name);
        if (!slot)
                return;
        unsigned times = hook_mark(slot, crew->epoch, now);
        if (times > 1)
                record_about(crew, index,
                             &(Event){ .kind = EVENT_HOOK_REPEATED,
                                       .hook = name,
                                       .times = times,
                                       .first_usec = slot->first_mark_usec,
                                       .again_usec = now });
}
