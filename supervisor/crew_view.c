/* crew_view.c - what others may read of the crew. */
#include <signal.h>
#include <stdio.h>

#include "supervisor/crew_internal.h"

size_t crew_size(const Crew *crew) {
        return crew->n_members;
}

uint32_t crew_first_member(const Crew *crew, uint32_t service) {
        return crew->tallies[service].first_member;
}

void crew_name(const Crew *crew, uint32_t index, char *ret_name, size_t size) {
        const Member *member = &crew->members[index];
        const ServiceConfig *service = crew_service(crew, member);
        if (service->instances > 1)
                snprintf(ret_name, size, "%s@%u", service->name, member->number);
        else
                snprintf(ret_name, size, "%s", service->name);
}

bool crew_is_awaited(const Crew *crew, const Member *member) {
        const ServiceConfig *service = crew_service(crew, member);
        Step step = crew->conductor.sequence.step;
        if (step == STEP_SERVING)
                return member->steered || (crew->started && !crew->startup_told && !member->settled &&
                                           service->phase == crew->start_phase);
        return step >= STEP_ENTERING && step <= STEP_CLOSING && service->phase <= crew->conductor.sequence.phase &&
               !life_is_resting(member->life.state);
}

MemberView crew_view(const Crew *crew, uint32_t index) {
        const Member *member = &crew->members[index];
        bool is_up = member->life.state == LIFE_STARTING || member->life.state == LIFE_READY;
        const ProbeRun *unready = is_up ? crew_unready_probe(crew, member) : NULL;
        MemberView view = {
                .service = crew_service(crew, member),
                .service_index = member->service,
                .number = member->number,
                .state = life_state_to_string(member->life.state),
                .pid = member->pid,
                .attempt = member->attempt,
                .failures = member->respawn.failures,
                .restarts = member->attempt > 0 ? member->attempt - 1 : 0,
                .orphans = member->orphans,
                .active = member->active,
                .since_usec = member->since_usec,
                /* A watchdog's is none: it moves with each sign of life. */
                .limit_usec = member->life.state == LIFE_READY ? USEC_INFINITY : alarms_when(&crew->alarms, index),
                .status = member->status ? member->status->text : NULL,
                .unready_probe = unready ? probe_kind_to_string((ProbeKind)unready->kind) : NULL,
                .unready_detail = unready ? unready->detail : NULL,
                .ready = member->life.state == LIFE_READY && !unready,
                .rests = life_is_resting(member->life.state),
                .awaited = crew_is_awaited(crew, member),
        };
        owner_write(&member->owner, view.owner);
        return view;
}

uint32_t crew_find_owner(const Crew *crew, const char *text) {
        Owner owner;
        if (owner_read(text, &owner) < 0)
                return CREW_NOBODY;
        for (uint32_t i = 0; i < crew->n_members; i++)
                if (owner_is(&crew->members[i].owner, &owner))
                        return i;
        return CREW_NOBODY;
}

size_t crew_hook_runs(const Crew *crew) {
        return crew->n_runs;
}

HookView crew_hook_view(const Crew *crew, uint32_t index) {
        const HookRun *run = &crew->runs[index];
        return (HookView){ .hook = &crew->config->hooks[run->hook],
                           .member = run->member,
                           .pid = run->pid,
                           .since_usec = run->since_usec,
                           .attempt = run->slot.run,
                           .state = run->slot.state,
                           .epoch = run->slot.epoch,
                           .status = run->slot.status };
}

static const char *phase_of(const Crew *crew) {
        const Sequence *sequence = &crew->conductor.sequence;
        if (sequence->step >= STEP_ENTERING && sequence->step <= STEP_CLOSING)
                return sequence->development ? "all" : crew->phase_names[sequence->phase];
        if (sequence->step == STEP_SERVING && !crew->startup_told && crew->start_phase >= 0)
                return crew->phase_names[crew->start_phase];
        return NULL;
}

CrewView crew_overview(const Crew *crew) {
        const Conductor *conductor = &crew->conductor;
        bool starting = conductor->sequence.step == STEP_SERVING && !crew->startup_told;
        return (CrewView){
                .step = starting ? "starting" : step_to_string(conductor->sequence.step),
                .phase = phase_of(crew),
                .cause = crew->cause,
                .ready = crew->ready,
                .ending = conductor_is_ending(conductor),
                .fast = conductor->sequence.fast,
                .epoch = crew->epoch,
                .started_usec = crew->started_usec,
                .readiness_usec = crew->readiness_usec,
                .ending_since_usec = conductor->since_usec,
                .deadline_usec = conductor_deadline_usec(conductor),
                .limit_usec = conductor->limit_usec,
                .orphans = crew->unattributed,
                .ledger = crew->ledger,
        };
}

usec_t crew_clock_usec(const Crew *crew) {
        return crew_now(crew);
}

unsigned crew_awaited(const Crew *crew) {
        unsigned awaited = 0;
        for (uint32_t i = 0; i < crew->n_members; i++)
                awaited += crew_is_awaited(crew, &crew->members[i]);
        return awaited;
}

static const char *service_result(const Member *member) {
        if (member->illness == ILL_WATCHDOG)
                return "watchdog";
        if (member->overdue || member->illness != ILL_NOT)
                return "timeout";
        if (member->unready && member->clean)
                return "protocol";
        if (!member->has_exited || member->clean)
                return "success";
        if (member->kill_reason && member->how.code == CLD_KILLED)
                return "timeout";
        return member->how.code == CLD_EXITED ? "exit-code" : member->how.code == CLD_DUMPED ? "core-dump" : "signal";
}

MemberResult crew_result(const Crew *crew, uint32_t index) {
        const Member *member = &crew->members[index];
        const char *code = crew_code_word(member->how.code);
        return (MemberResult){ .service_result = service_result(member),
                               .exit_code = member->has_exited ? code : NULL,
                               .exit_status = member->how.status };
}
