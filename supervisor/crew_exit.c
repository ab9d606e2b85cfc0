/* crew_exit.c - what a main process's end means: its record, the rest of its tree, and what comes next. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/crew_internal.h"

/* What an asked process ends with is never held against it: neither the code nor the signal of the asking. */
static bool is_clean(const ServiceConfig *service, const Member *member, Ended how) {
        if (how.code == CLD_EXITED)
                return how.status == 0 || exit_set_has_code(service->success, how.status) ||
                       (member->asked && how.status == 128 + service->kill_signal);
        if (exit_set_has_signal(service->success, how.status))
                return true;
        if (!member->asked || how.code != CLD_KILLED)
                return false;
        return how.status == service->kill_signal ||
               (member->drained && (how.status == service->drained_signal || how.status == SIGKILL));
}

const char *crew_code_word(int code) {
        return code == CLD_EXITED ? "exited" : code == CLD_DUMPED ? "dumped" : "killed";
}

/* "exec /usr/sbin/nginx: No such file or directory": the step that failed, on what, and why. */
void crew_write_error(char *text, size_t size, const char *step, int error, const char *program) {
        const char *what = strcmp(step, "exec") == 0 ? program : "";
        snprintf(text, size, "%s%s%.100s: %s", step, *what ? " " : "", what, strerrordesc_np(error));
}

static void record_exit(Crew *crew, const Member *member, Ended how) {
        char error[ERROR_TEXT_MAX];
        if (member->error_step)
                crew_write_error(error, sizeof error, member->error_step, member->error_number,
                                 crew_service(crew, member)->argv[0]);
        crew_record_member(crew, member,
                           &(Event){ .kind = EVENT_SERVICE_EXITED,
                                     .code_word = crew_code_word(how.code),
                                     .status = how.status,
                                     .clean = member->clean && !member->unready,
                                     .asked = member->asked,
                                     .escalated = member->kill_reason && !member->drained, /* that is its way */
                                     .error = member->error_step ? error : NULL,
                                     .took_usec = usec_sub(member->exited_usec, member->spawned_usec),
                                     .max_rss_kib = how.max_rss_kib,
                                     .cpu_usec = how.cpu_usec });
}

void crew_on_spawn_failed(Crew *crew, uint32_t index, const char *step, int error) {
        if (crew->finished)
                return;
        crew->members[index].error_step = step;
        crew->members[index].error_number = error;
}

void crew_on_exited(Crew *crew, uint32_t index, Ended how) {
        Member *member = &crew->members[index];
        if (crew->finished)
                return;
        if (!life_has_main(member->life.state)) { /* it was given up long ago; what was below it is ours to find now */
                crew->survey_stale = true;
                return;
        }
        const ServiceConfig *service = crew_service(crew, member);
        member->has_exited = true;
        member->how.code = (uint8_t)how.code;
        member->how.status = (uint8_t)how.status;
        member->oom = how.oom && !member->kill_reason;
        member->exited_usec = crew_now(crew);
        member->clean = !member->error_step && is_clean(service, member, how);
        member->unready = crew_ended_unready(crew, member);
        if (service->type == SERVICE_ONESHOT && member->clean && !member->asked) {
                crew_record_member(crew, member,
                                   &(Event){ .kind = EVENT_SERVICE_READY,
                                             .took_usec = usec_sub(member->exited_usec, member->spawned_usec) });
                crew_mark_settled(crew, member);
        }
        record_exit(crew, member, how);
        member->pid = 0;
        crew_live(crew, member, LIFE_MAIN_GONE);
        crew_settle(crew);
}

/* How long the rest of a tree may take whose main process ended by itself and clean. */
static usec_t clean_tree_timeout(const Crew *crew, const Member *member) {
        usec_t timeout = crew_service(crew, member)->timeout_stop_usec;
        if (timeout == USEC_UNSET)
                timeout = crew->conductor.budget.timeout_usec[crew_service(crew, member)->phase];
        return usec_min(timeout, CLEAN_TREE_USEC);
}

/* The tree of a service that crashed is killed; a single command's code is nobody's crash, whatever it is: what the
 * command leaves behind is asked, as nothing comes after it. */
static bool may_tidy_up(const Crew *crew, const Member *member) {
        return member->clean || (crew->config->single && !member->error_step);
}

void crew_clear(Crew *crew, Member *member) {
        usec_t now = crew_now(crew);
        if (member->kill_reason)
                member->clear_limit_usec = now;
        else if (!member->asked)
                member->clear_limit_usec =
                        may_tidy_up(crew, member) ? usec_add(now, clean_tree_timeout(crew, member)) : now;
        member->new_orphans = member->orphans > 0;
        crew_want_survey(crew);
}

/* Source: contracts/events.md, service_gone. */
static const char *gone_cause(const Member *member) {
        const char *reason = member->kill_reason;
        if (member->error_step || member->start_hook_failed)
                return "crashed";
        if (member->oom)
                return "oom";
        if (member->illness != ILL_NOT || member->overdue)
                return "timeout"; /* whatever was needed then */
        if (member->unready)
                return "crashed";
        if (!reason) /* what it exits with when it was asked is its own affair; a signal that is not ours is none */
                return !member->has_exited || member->clean || (member->asked && member->how.code == CLD_EXITED)
                               ? "clean"
                               : "crashed";
        if (strcmp(reason, "drained") == 0)
                return "clean";
        return strcmp(reason, "died") == 0 ? "crashed" : "interrupted";
}

/* What lives on as configured must be in the journal, whenever it is found and whoever left it (a hook, say). */
void crew_name_descendants(Crew *crew, Member *member) {
        if (crew_service(crew, member)->kill_mode != KILL_PROCESS || member->orphans <= member->descendants_named)
                return;
        member->descendants_named = member->orphans;
        crew_record_member(crew, member, &(Event){ .kind = EVENT_DESCENDANTS_LEFT, .left = member->orphans });
}

static void tree_gone(Crew *crew, Member *member) {
        usec_t since = member->asked ? member->asked_usec : member->exited_usec;
        if (crew_service(crew, member)->kill_mode == KILL_PROCESS && member->orphans > 0)
                crew_name_descendants(crew, member);
        else
                crew_record_member(crew, member,
                                   &(Event){ .kind = EVENT_SERVICE_GONE,
                                             .cause = gone_cause(member),
                                             .certain = crew->unattributed == 0 && !crew->blind,
                                             .killed = member->killed,
                                             .took_usec = usec_sub(crew_now(crew), since) });
        crew_live(crew, member, LIFE_TREE_GONE);
}

/* A fresh survey is there, or one of its hooks or checks ended: is anything of this member left, and was it told to go?
 */
void crew_tree_check(Crew *crew, Member *member) {
        if (member->life.state != LIFE_CLEARING)
                return;
        if (member->orphans == 0 || crew_service(crew, member)->kill_mode == KILL_PROCESS) {
                if (!crew_member_hooks_run(member) && !crew_member_checks_run(crew, member))
                        tree_gone(crew, member);
                return;
        }
        if (!member->new_orphans)
                return;
        if (member->life.killed)
                crew_kill(crew, member); /* the second until it is given up begins again, for the new ones */
        else if (crew_now(crew) >= member->clear_limit_usec)
                crew_live(crew, member, LIFE_FORCED);
        else {
                crew_member_signal(crew, member, WHOM_REST, SIGTERM, "rest");
                crew_alarm_member(crew, member, member->clear_limit_usec);
        }
}

/* Found after its tree was asked, or killed, while the main process is still there. */
static void treat_late_orphans(Crew *crew, Member *member) {
        if (member->life.state == LIFE_KILLING)
                crew_kill(crew, member);
        else if (member->life.state == LIFE_STOPPING && crew_service(crew, member)->kill_mode == KILL_CONTROL_GROUP)
                crew_member_signal(crew, member, WHOM_REST, SIGTERM, "rest");
}

void crew_on_surveyed(Crew *crew) {
        if (crew->finished)
                return;
        crew->survey_asked = crew->survey_stale = false;
        for (uint32_t i = 0; (crew->n_clearing > 0 || crew->late_orphans) && i < crew->n_members; i++) {
                Member *member = &crew->members[i];
                if (member->life.state == LIFE_CLEARING)
                        crew_tree_check(crew, member);
                else if (member->new_orphans)
                        treat_late_orphans(crew, member);
        }
        crew->late_orphans = false;
        crew_settle(crew);
}

static void record_orphan(Crew *crew, Member *member, Event *event) {
        if (member) {
                event->service = crew_service(crew, member)->name;
                event->instance = member->number;
                event->instances = crew_service(crew, member)->instances;
        }
        crew_record(crew, event);
}

void crew_on_orphan_adopted(Crew *crew, uint32_t index, pid_t pid, const char *comm) {
        if (crew->finished)
                return;
        Member *member = index == CREW_NOBODY ? NULL : &crew->members[index];
        record_orphan(crew, member, &(Event){ .kind = EVENT_ORPHAN_ADOPTED, .pid = pid, .comm = comm });
        if (!member)
                crew->unattributed++;
        else {
                member->orphans++;
                member->new_orphans = true;
                crew->late_orphans |= life_has_main(member->life.state);
                if (life_is_resting(member->life.state))
                        crew_name_descendants(crew, member);
        }
        crew_orphan_add(crew, index, pid);
}

void crew_on_orphan_gone(Crew *crew, uint32_t index, pid_t pid, const char *comm, Ended how) {
        if (crew->finished)
                return;
        Member *member = index == CREW_NOBODY ? NULL : &crew->members[index];
        record_orphan(crew, member,
                      &(Event){ .kind = EVENT_ORPHAN_GONE,
                                .pid = pid,
                                .comm = comm,
                                .code_word = crew_code_word(how.code),
                                .status = how.status });
        crew_orphan_remove(crew, index, pid);
        if (member)
                member->orphans -= member->orphans > 0;
        else
                crew->unattributed -= crew->unattributed > 0;
        crew->survey_stale = true; /* its children are ours now */
        if (crew->n_clearing > 0)
                crew_want_survey(crew);
        crew_settle(crew);
}

/* In an ending nothing restarts, so an unasked failure is one for good. Whom we killed at a limit before its turn to be
 * asked came did not fail. */
static bool failed_in_ending(const Crew *crew, const Member *member) {
        return crew_is_ending(crew) && member->has_exited && !member->asked && !member->clean &&
               (!member->kill_reason || strcmp(member->kill_reason, "died") == 0) &&
               member->exited_usec >= crew->conductor.since_usec;
}

void crew_give_up(Crew *crew, Member *member, const char *reason) {
        crew_record_member(crew, member,
                           &(Event){ .kind = EVENT_SERVICE_GAVE_UP,
                                     .essential = crew_service(crew, member)->essential,
                                     .failures = member->respawn.failures,
                                     .reason = reason });
        crew_live(crew, member, LIFE_FAILS);
}

static Outcome outcome(const Member *member) {
        if (member->overdue || member->illness != ILL_NOT || member->start_hook_failed || !member->clean)
                return OUTCOME_FAILED;
        if (member->unready)
                return OUTCOME_FAILED;
        bool recycle = member->said_stopping && member->how.code == CLD_EXITED && member->how.status == 0;
        return recycle ? OUTCOME_RECYCLE : OUTCOME_CLEAN;
}

static const char *failure_reason(const Member *member, Restart restart) {
        if (member->start_hook_failed)
                return "a pre-start hook failed";
        if (member->overdue)
                return "not ready in time";
        if (member->illness != ILL_NOT)
                return member->illness == ILL_WATCHDOG   ? "its watchdog expired"
                       : member->illness == ILL_LIVENESS ? "its liveness probe failed"
                                                         : "its start-up probe failed";
        if (member->error_step)
                return "could not be started";
        if (member->unready && member->clean)
                return "ended before it was ready";
        return restart == RESTART_NO ? "failed, Restart=no" : "StartLimitBurst is reached";
}

static void restart(Crew *crew, Member *member, usec_t delay) {
        crew_record_member(crew, member,
                           &(Event){ .kind = EVENT_SERVICE_RESTART_SCHEDULED,
                                     .delay_usec = delay,
                                     .failures = member->respawn.failures });
        crew_alarm_member(crew, member, usec_add(crew_now(crew), delay));
        crew_live(crew, member, LIFE_RESTARTS);
}

static RespawnAnswer ask_respawn(Crew *crew, const Member *member) {
        const ServiceConfig *service = crew_service(crew, member);
        RespawnRules rules = { .restart = service->restart,
                               .oneshot = service->type == SERVICE_ONESHOT,
                               .burst = service->start_limit_burst,
                               .delay_usec = service->restart_usec,
                               .delay_max_usec = service->restart_max_usec };
        return respawn_decide(&rules, member->respawn, outcome(member), crew_ready_for(crew, member),
                              crew->stage->random(crew->self));
}

/* Whether an ending that came between a run's end and its judgement must still call it a failure for good: nothing
 * restarts any more, but what had failed before did so all the same. */
const char *crew_failure_in_ending(Crew *crew, const Member *member) {
        if (member->requirement_failed)
                return "what it requires failed";
        if (failed_in_ending(crew, member))
                return "failed during the ending";
        bool failed_before = member->has_exited && !member->asked && member->exited_usec < crew->conductor.since_usec;
        if (failed_before && ask_respawn(crew, member).next == NEXT_GIVE_UP)
                return failure_reason(member, crew_service(crew, member)->restart);
        return NULL;
}

void crew_settle_run(Crew *crew, Member *member) {
        if (member->due) /* it went by itself */
                crew_go(crew, member);
        if (life_will_rest(member->life)) {
                const char *failure = crew_failure_in_ending(crew, member);
                if (failure)
                        crew_give_up(crew, member, failure);
                else
                        crew_live(crew, member, LIFE_RESTS);
                return;
        }
        if (member->life.again) {
                member->respawn = (Respawn){ 0 };
                crew_live(crew, member, LIFE_RESTARTS);
                return;
        }
        RespawnAnswer answer = ask_respawn(crew, member);
        member->respawn = answer.respawn;
        switch (answer.next) {
        case NEXT_REST: crew_live(crew, member, LIFE_RESTS); break;
        case NEXT_RESTART: restart(crew, member, answer.delay_usec); break;
        case NEXT_GIVE_UP:
                crew_give_up(crew, member, failure_reason(member, crew_service(crew, member)->restart));
                break;
        }
}
