/* crew_life.c - carries out the orders of one member's life; see crew_internal.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/crew_internal.h"

/* Who holds a run's jobs. Uniqueness is what counts, and the stage's numbers are good for that. */
static Owner new_owner(Crew *crew) {
        uint32_t random[4];
        for (int i = 0; i < 4; i++)
                random[i] = crew->stage->random(crew->self);
        return owner_make(random);
}

static void begin_run(Crew *crew, Member *member) {
        member->attempt++;
        member->killed = member->active = 0;
        member->ready_usec = member->asked_usec = member->spawned_usec = member->exited_usec = 0;
        member->kill_reason = member->error_step = NULL;
        member->has_exited = member->asked = member->clean = member->said_stopping = member->drained = false;
        member->overdue = member->start_hook_failed = member->oom = false;
        member->executed = member->said_ready = member->unready = false;
        member->illness = ILL_NOT;
        member->pid = 0;
        if (crew->watchdogs_usec[crew_index(crew, member)] > 0) /* else its page is never touched */
                crew->watchdogs_usec[crew_index(crew, member)] = 0;
        crew_forget_probes(crew, member);
        member->owner = new_owner(crew);
        crew_record_member(crew, member, &(Event){ .kind = EVENT_SERVICE_STARTING });
}

static void run_pre_start(Crew *crew, Member *member) {
        begin_run(crew, member);
        if (crew_run_hooks(crew, member, -1, HOOK_PRE_START) == 0)
                crew_live(crew, member, member->start_hook_failed ? LIFE_HOOKS_FAILED : LIFE_HOOKS_DONE);
}

/* Not even a child could be made (EAGAIN, ENOMEM, EMFILE): a failed run like any other, so that it is retried and given
 * up. Whoever knows what it was that failed before the fork has said so already. */
static void spawn_failed(Crew *crew, Member *member, int error) {
        if (!member->error_step)
                crew_on_spawn_failed(crew, crew_index(crew, member), "fork", error);
        crew_on_exited(crew, crew_index(crew, member), (Ended){ .code = CLD_EXITED, .status = 125 });
}

static void spawn(Crew *crew, Member *member) {
        pid_t pid;
        usec_t now = crew_now(crew);
        member->spawned_usec = now;
        crew_alarm_member(crew, member, usec_add(now, crew_service(crew, member)->timeout_start_usec));
        int r = crew->stage->spawn(crew->self, crew_index(crew, member), &pid);
        if (r < 0)
                spawn_failed(crew, member, -r);
        else
                member->pid = pid;
}

static void greet(Crew *crew, Member *member) {
        usec_t now = crew_now(crew);
        member->ready_usec = now;
        crew_record_member(crew, member,
                           &(Event){ .kind = EVENT_SERVICE_READY, .took_usec = usec_sub(now, member->spawned_usec) });
        crew_watch(crew, member);
        crew_mark_settled(crew, member);
        crew_run_hooks(crew, member, -1, HOOK_POST_START);
}

usec_t crew_phase_limit(const Crew *crew, unsigned phase) {
        const Conductor *conductor = &crew->conductor;
        if (!crew_is_ending(crew))
                return USEC_INFINITY;
        bool has_come = conductor->sequence.development || phase <= conductor->sequence.phase;
        if (has_come && conductor->limit_usec != USEC_INFINITY)
                return conductor->limit_usec;
        return usec_add(conductor->since_usec, budget_limit(&conductor->budget, phase));
}

/* How long a member has from being asked until it is killed. In an ending an unset limit is what is left of the phase
 * divided by the length of the chain that has still to stop after it. */
static usec_t stop_timeout(const Crew *crew, const Member *member, usec_t now) {
        const ServiceConfig *service = crew_service(crew, member);
        if (service->timeout_stop_usec != USEC_UNSET)
                return service->timeout_stop_usec;
        if (!crew_is_ending(crew))
                return crew->conductor.budget.timeout_usec[service->phase];
        return usec_sub(crew_phase_limit(crew, service->phase), now) / (service->depth > 0 ? service->depth : 1);
}

static usec_t stop_limit(const Crew *crew, const Member *member, usec_t now) {
        usec_t limit = usec_add(now, stop_timeout(crew, member, now));
        if (crew_is_ending(crew) && (crew->conductor.sequence.fast || crew->conductor.sequence.development))
                limit = usec_min(limit, usec_add(now, FAST_USEC));
        return usec_min(limit, crew_phase_limit(crew, crew_service(crew, member)->phase));
}

/* NULL: they ran, or nobody expects them to: in a short ending, and of who failed before it was ready. Whoever is ill
 * has nothing to hand over that it could be trusted with, and its hooks would only put off its next run. */
static const char *why_hooks_are_missed(const Crew *crew, const Member *member) {
        if (crew->conductor.sequence.fast || crew->conductor.sequence.development)
                return NULL;
        if (member->ready_usec > 0)
                return crew_illness_word(member);
        bool was_to_go = life_will_rest(member->life) || member->life.again;
        return was_to_go && !member->overdue && member->illness == ILL_NOT ? "never_ready" : NULL;
}

static void ask(Crew *crew, Member *member) {
        const ServiceConfig *service = crew_service(crew, member);
        usec_t now = crew_now(crew);
        crew_close_before_stop(crew, member);
        if (crew->conductor.sequence.fast)
                crew_signal_hooks(crew, member, SIGKILL);
        member->asked = true;
        member->asked_usec = now;
        member->clear_limit_usec = stop_limit(crew, member, now);
        crew_alarm_member(crew, member, member->clear_limit_usec);
        const char *why_not = why_hooks_are_missed(crew, member);
        if (why_not)
                crew_refuse_hooks(crew, member, HOOK_PRE_STOP, why_not);
        const char *ill = crew_illness_word(member);
        const char *reason = member->overdue        ? "start_timeout"
                             : ill                  ? ill
                             : crew_is_ending(crew) ? "ending"
                             : member->life.again   ? "restart"
                                                    : "stop";
        int number =
                member->illness == ILL_WATCHDOG ? SIGABRT : service->kill_signal; /* its core shows where it hung */
        unsigned told = crew->told;
        crew_member_signal(crew, member, WHOM_MAIN, number, reason);
        member->asked = crew->told > told; /* else it had ended by itself before, and that is heard next */
        if (service->kill_mode == KILL_CONTROL_GROUP) {
                crew_member_signal(crew, member, WHOM_REST, SIGTERM, reason);
                crew_want_survey(crew); /* who of it was orphaned before is asked as soon as it is found */
        }
}

static void hurry(Crew *crew, Member *member) {
        usec_t soon = usec_add(crew_now(crew), FAST_USEC);
        crew_alarm_member(crew, member, usec_min(alarms_when(&crew->alarms, crew_index(crew, member)), soon));
        member->clear_limit_usec = usec_min(member->clear_limit_usec, soon);
        crew_hurry_hooks(crew, member);
}

static void run_hooks_and_go_on(Crew *crew, Member *member, HookOn on) {
        if (crew_run_hooks(crew, member, -1, on) == 0 && member->hooks_running[on] == 0)
                crew_live(crew, member, LIFE_HOOKS_DONE);
        else if (on == HOOK_PRE_STOP)
                crew_alarm_member(crew, member, crew_phase_limit(crew, crew_service(crew, member)->phase));
}

/* A person stopped it: it is not over, as it may be started again; unless it had failed for good by itself before. */
static bool was_stopped(Crew *crew, const Member *member) {
        return !crew_is_ending(crew) &&
               (member->life.state == LIFE_STOPPED ||
                (member->life.state == LIFE_LEFT && member->life.held && !crew_failure_in_ending(crew, member)));
}

static void count_over(Crew *crew, Member *member) {
        if (was_stopped(crew, member))
                return;
        member->counted_over = true;
        crew->tallies[member->service].over++;
        crew->n_over += !crew_service(crew, member)->builtin;
}

static void judge_left(Crew *crew, Member *member) {
        bool was_to_go = crew_is_ending(crew) || member->life.held;
        const char *failure = was_to_go ? crew_failure_in_ending(crew, member) : "something of it cannot be killed";
        crew->tallies[member->service].failed += failure != NULL;
        if (failure)
                crew_give_up(crew, member, failure);
}

/* The container ends with an essential service, and with the last that could still run. */
static void consider_the_end(Crew *crew, const Member *member) {
        const ServiceConfig *service = crew_service(crew, member);
        bool service_is_over = crew->tallies[member->service].over == service->instances;
        if (member->life.state != LIFE_DONE && service->essential)
                crew_end_because(crew, crew->startup_told ? "essential" : "start_failed", service->name, false);
        else if ((crew->n_over == crew->n_written && !service->builtin) ||
                 (service->essential && service->type != SERVICE_ONESHOT && service_is_over))
                crew_end_because(crew, "finished", crew->n_over < crew->n_written ? service->name : NULL, false);
}

static void rest(Crew *crew, Member *member) {
        const ServiceConfig *service = crew_service(crew, member);
        ServiceTally *tally = &crew->tallies[member->service];
        if (member->life.state == LIFE_LEFT) {
                crew_name_left(crew, crew_index(crew, member), "outlived SIGKILL");
                crew->left[service->phase]++;
                crew->survey_stale =
                        true; /* its main process did not die, so nobody has looked for what it left elsewhere */
        } else
                crew->gone[service->phase]++;
        crew_give_up_checks(crew, member, "outlived SIGKILL");
        crew_drop_store(crew, member);
        crew_name_descendants(crew, member);
        crew->new_strays |= member->orphans > 0; /* what is left of it, if anything, is a stray now */
        crew_alarm_member(crew, member, USEC_INFINITY);
        tally->resting++;
        tally->failed += member->life.state == LIFE_FAILED;
        crew->alive[service->phase]--;
        count_over(crew, member);
        crew_mark_settled(crew, member);
        if (service_after(service)->n > 0 && tally->resting == service->instances)
                crew->stops_dirty = true;
        if (member->life.state == LIFE_STOPPED)
                crew_record_member(crew, member, &(Event){ .kind = EVENT_SERVICE_STOPPED });
        if (member->life.state == LIFE_LEFT)
                judge_left(crew, member);
        if (crew_is_ending(crew))
                return;
        crew->starts_dirty = true;
        if (!was_stopped(crew, member))
                consider_the_end(crew, member);
}

static void carry_out(Crew *crew, Member *member, LifeOrder order) {
        switch (order) {
        case LIFE_ORDER_RUN_PRE_START: run_pre_start(crew, member); break;
        case LIFE_ORDER_SPAWN: spawn(crew, member); break;
        case LIFE_ORDER_GREET: greet(crew, member); break;
        case LIFE_ORDER_RUN_PRE_STOP: run_hooks_and_go_on(crew, member, HOOK_PRE_STOP); break;
        case LIFE_ORDER_ASK: ask(crew, member); break;
        case LIFE_ORDER_HURRY: hurry(crew, member); break;
        case LIFE_ORDER_KILL: crew_kill(crew, member); break;
        case LIFE_ORDER_CLEAR: crew_clear(crew, member); break;
        case LIFE_ORDER_STOP_HOOKS: crew_signal_hooks(crew, member, SIGTERM); break;
        case LIFE_ORDER_KILL_HOOKS: crew_cut_hooks(crew, member); break;
        case LIFE_ORDER_RUN_POST_STOP: run_hooks_and_go_on(crew, member, HOOK_POST_STOP); break;
        case LIFE_ORDER_SETTLE: crew_settle_run(crew, member); break;
        case LIFE_ORDER_REST: rest(crew, member); break;
        case LIFE_ORDER_SCHEDULE: /* crew_settle_run() set the alarm */
        case LIFE_ORDER_NONE:
        case _LIFE_ORDER_MAX: break;
        }
}

/* Who waits for its turn, and who waits for whom to be gone. */
static void note_state(Crew *crew, Member *member, LifeState before) {
        LifeState state = member->life.state;
        ServiceTally *tally = &crew->tallies[member->service];
        if (life_is_resting(before))
                crew_rise(crew, member, before);
        tally->waiting = (uint16_t)(tally->waiting + (state == LIFE_WAITING) - (before == LIFE_WAITING));
        if (state == LIFE_WAITING) {
                crew_unsettle(crew, member);
                crew->starts_dirty = true;
        }
        if (life_is_down(state))
                crew_is_gone(crew, member);
        if (state == LIFE_READY || life_is_resting(state))
                member->steered = false;
}

void crew_live(Crew *crew, Member *member, LifeHappening what) {
        LifeState before = member->life.state;
        if (what == LIFE_OVERDUE && before == LIFE_STARTING)
                member->overdue = true;
        LifeStep step = life_step(member->life, what);
        member->life = step.next;
        if (step.next.state != before) {
                note_state(crew, member, before);
                member->since_usec = crew_now(crew);
                if (step.next.state != LIFE_BACKOFF)
                        crew_alarm_member(crew, member, USEC_INFINITY);
                crew->n_clearing += (step.next.state == LIFE_CLEARING) - (before == LIFE_CLEARING);
                if (step.next.state != LIFE_STARTING && step.next.state != LIFE_READY)
                        crew_call_off_probes(crew, member);
                crew_consider_sockets(crew, member->service);
                crew_update_ready(crew, member);
        }
        carry_out(crew, member, step.order);
}

/* SIGTERM is followed by SIGCONT in the stage; what is told comes back by crew_told(). */
void crew_member_signal(Crew *crew, Member *member, Whom whom, int signal_number, const char *reason) {
        member->new_orphans = false;
        crew->stage->signal(crew->self, crew_index(crew, member), whom, signal_number, reason);
}

const char *crew_kill_reason(const Crew *crew, const Member *member) {
        if (member && member->drained)
                return "drained";
        if (member && member->has_exited && !member->asked && !member->clean && !crew->config->single)
                return "died";
        if (!crew_is_ending(crew)) {
                const char *ill = member ? crew_illness_word(member) : NULL;
                return member && member->overdue ? "start_timeout" : ill ? ill : "stop_timeout";
        }
        usec_t now = crew_now(crew);
        if (now >= usec_sub(conductor_deadline_usec(&crew->conductor), crew->conductor.budget.reserve_usec))
                return "deadline";
        if (crew->conductor.sequence.fast || crew->conductor.sequence.development)
                return "fast";
        return now >= crew->conductor.limit_usec ? "phase_limit" : "stop_timeout";
}

/* KillMode=process: whatever happens, only the main process is signalled; what it leaves is told, not killed. */
Whom crew_whom_to_kill(const Crew *crew, const Member *member) {
        return crew_service(crew, member)->kill_mode == KILL_PROCESS ? WHOM_MAIN : WHOM_ALL;
}

void crew_kill(Crew *crew, Member *member) {
        usec_t now = crew_now(crew);
        const char *reason = crew_kill_reason(crew, member);
        if (!member->kill_reason)
                member->kill_reason = reason;
        if (member->life.state == LIFE_KILLING && !member->asked)
                crew_close_before_stop(crew, member);
        crew_cut_hooks(crew, member);
        crew_alarm_member(crew, member, usec_add(now, crew_patience(crew)));
        crew_member_signal(crew, member, crew_whom_to_kill(crew, member), SIGKILL, reason);
}
