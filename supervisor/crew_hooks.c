/* crew_hooks.c - hooks of members and phases: begins each once, cuts each at its limit, tells who waits for it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/crew_internal.h"

static bool is_stop_edge(HookOn on) {
        return on == HOOK_PRE_STOP || on == HOOK_POST_STOP || on == HOOK_BEGIN || on == HOOK_END;
}

static const HookConfig *config_of(const Crew *crew, const HookRun *run) {
        return &crew->config->hooks[run->hook];
}

static uint32_t alarm_of(const Crew *crew, const HookRun *run) {
        return crew->n_members + (uint32_t)(run - crew->runs);
}

static void record_hook(Crew *crew, const HookRun *run, Event *event) {
        const HookConfig *hook = config_of(crew, run);
        event->hook = hook->name;
        event->on = hook_on_to_string(hook->on);
        event->abort = hook->on_failure == ON_FAILURE_ABORT;
        if (hook->phase >= 0)
                event->phase = crew->phase_names[hook->phase];
        if (run->member == CREW_NOBODY) {
                crew_record(crew, event);
                return;
        }
        const Member *member = &crew->members[run->member];
        event->service = crew_service(crew, member)->name;
        event->instance = member->number;
        event->instances = crew_service(crew, member)->instances;
        event->attempt = member->attempt;
        crew_record(crew, event);
}

bool crew_member_hooks_run(const Member *member) {
        for (int on = HOOK_PRE_START; on <= HOOK_POST_STOP; on++)
                if (member->hooks_running[on] > 0)
                        return true;
        return false;
}

/* Until when a hook that begins now may run. A stop hook in an ending has what is left of its phase; in a fast one a
 * second. */
static usec_t limit_of(const Crew *crew, const HookConfig *hook, usec_t now) {
        usec_t limit = usec_add(now, hook->timeout_usec);
        if (!is_stop_edge(hook->on) || !crew_is_ending(crew))
                return limit;
        const Conductor *conductor = &crew->conductor;
        if (conductor->sequence.fast || conductor->sequence.development) {
                usec_t last = usec_sub(conductor_deadline_usec(conductor), conductor->budget.reserve_usec);
                return usec_min(usec_min(limit, usec_add(now, FAST_USEC)), last);
        }
        unsigned phase = hook->phase >= 0 ? (unsigned)hook->phase : crew->config->services[hook->service].phase;
        return usec_min(limit, crew_phase_limit(crew, phase));
}

/* Why a hook of this edge must not begin now; NULL: it may. */
static const char *refusal(const Crew *crew, const HookRun *run, unsigned attempt, usec_t now) {
        const HookConfig *hook = config_of(crew, run);
        if (crew_is_ending(crew) && !is_stop_edge(hook->on))
                return "ending";
        if (hook_ask(&run->slot, crew->epoch, attempt) != HOOK_MAY_BEGIN)
                return "already_ran";
        return limit_of(crew, hook, now) <= now ? "no_time" : NULL;
}

static void count(Crew *crew, const HookRun *run, int by) {
        if (run->member == CREW_NOBODY)
                crew->phase_hooks_running += (unsigned)by;
        else {
                uint16_t *running = &crew->members[run->member].hooks_running[config_of(crew, run)->on];
                *running = (uint16_t)(*running + by);
        }
}

static void note_start_failure(Crew *crew, const HookRun *run) {
        const HookConfig *hook = config_of(crew, run);
        if (!run->by_hand && hook->on == HOOK_PRE_START && hook->on_failure == ON_FAILURE_ABORT)
                crew->members[run->member].start_hook_failed = true;
}

static void refuse(Crew *crew, const HookRun *run, const char *why) {
        record_hook(crew, run, &(Event){ .kind = EVENT_HOOK_REFUSED, .reason = why, .status = run->slot.status });
}

/* 0; or -errno, and then it has ended already. */
static int begin_now(Crew *crew, HookRun *run, unsigned attempt) {
        usec_t now = crew_now(crew);
        hook_begin(&run->slot, crew->epoch, attempt);
        run->since_usec = now;
        run->timed_out = run->killed = false;
        run->pid = 0;
        int r = crew->stage->spawn_hook(crew->self, (uint32_t)(run - crew->runs), &run->pid);
        record_hook(crew, run, &(Event){ .kind = EVENT_HOOK_STARTED, .pid = run->pid });
        if (r < 0) {
                char error[ERROR_TEXT_MAX];
                const char *step = config_of(crew, run)->url ? "request" : "fork";
                crew_write_error(error, sizeof error, run->error_step ? run->error_step : step, -r, "");
                run->error_step = NULL;
                hook_finish(&run->slot, 125);
                note_start_failure(crew, run);
                record_hook(
                        crew, run,
                        &(Event){ .kind = EVENT_HOOK_FINISHED, .code_word = "exited", .status = 125, .error = error });
                return r;
        }
        count(crew, run, 1);
        alarms_set(&crew->alarms, alarm_of(crew, run), limit_of(crew, config_of(crew, run), now));
        return 0;
}

static void begin(Crew *crew, HookRun *run, unsigned attempt) {
        const char *why_not = refusal(crew, run, attempt, crew_now(crew));
        if (why_not) {
                refuse(crew, run, why_not);
                return;
        }
        run->by_hand = false;
        (void)begin_now(crew, run, attempt); /* that it could not begin is in the journal */
}

/* Who is being killed was killed with the hooks that ran then: one that began later would outlive it, asked by nobody.
 */
static bool can_have_a_hook(const Member *member) {
        LifeState state = member->life.state;
        return life_has_main(state) && state != LIFE_KILLING && member->pid > 0;
}

int crew_run_hook(Crew *crew, uint32_t index) {
        HookRun *run = &crew->runs[index];
        const Member *member = run->member == CREW_NOBODY ? NULL : &crew->members[run->member];
        if (crew->finished)
                return -ESHUTDOWN;
        if (crew_is_ending(crew)) {
                refuse(crew, run, "ending");
                return -ESHUTDOWN;
        }
        if (config_of(crew, run)->log_pattern)
                return -EOPNOTSUPP;
        if (run->slot.state == HOOK_RUNNING || (run->slot.state == HOOK_FINISHED && run->slot.epoch == crew->epoch)) {
                refuse(crew, run, "already_ran");
                return run->slot.state == HOOK_RUNNING ? HOOK_ALREADY_RUNS : HOOK_ALREADY_RAN;
        }
        if (member && !can_have_a_hook(member))
                return -ENOTCONN;
        run->by_hand = true;
        int r = begin_now(crew, run, member ? member->attempt : 0);
        crew_settle(crew);
        return r < 0 ? r : HOOK_MAY_BEGIN;
}

static bool is_on_edge(const HookConfig *hook, const Member *member, int phase, HookOn on) {
        if (hook->on != on || hook->log_pattern) /* that one the service runs itself */
                return false;
        return member ? hook->service == member->service : hook->phase == phase;
}

unsigned crew_run_hooks(Crew *crew, Member *member, int phase, HookOn on) {
        for (size_t h = 0; h < crew->config->n_hooks; h++)
                if (is_on_edge(&crew->config->hooks[h], member, phase, on))
                        begin(crew, &crew->runs[crew->first_run[h] + (member ? member->number - 1U : 0)],
                              member ? member->attempt : 0);
        return member ? member->hooks_running[on] : crew->phase_hooks_running;
}

void crew_refuse_hooks(Crew *crew, const Member *member, HookOn on, const char *why) {
        for (size_t h = 0; h < crew->config->n_hooks; h++)
                if (is_on_edge(&crew->config->hooks[h], member, -1, on))
                        record_hook(crew, &crew->runs[crew->first_run[h] + member->number - 1U],
                                    &(Event){ .kind = EVENT_HOOK_REFUSED, .reason = why });
}

static bool is_of(const Crew *crew, const HookRun *run, const Member *member) {
        return run->slot.state == HOOK_RUNNING && run->member == (member ? crew_index(crew, member) : CREW_NOBODY);
}

/* Asked before each walk over all runs: thousands of members without a running hook are killed in one turn. */
static bool has_running(const Crew *crew, const Member *member) {
        return member ? crew_member_hooks_run(member) : crew->phase_hooks_running > 0;
}

void crew_signal_hooks(Crew *crew, const Member *member, int signal_number) {
        if (!has_running(crew, member))
                return;
        for (uint32_t i = 0; i < crew->n_runs; i++) {
                HookRun *run = &crew->runs[i];
                if (!is_of(crew, run, member) || run->killed)
                        continue;
                if (signal_number == SIGKILL) {
                        run->killed = true;
                        alarms_set(&crew->alarms, alarm_of(crew, run), usec_add(crew_now(crew), crew_patience(crew)));
                }
                crew->stage->signal_hook(crew->self, i, signal_number);
        }
}

/* A limit has passed, be it the phase's or the member's: that is a time-out, too. */
void crew_cut_hooks(Crew *crew, const Member *member) {
        if (!has_running(crew, member))
                return;
        for (uint32_t i = 0; i < crew->n_runs; i++)
                if (is_of(crew, &crew->runs[i], member) && !crew->runs[i].killed)
                        crew->runs[i].timed_out = true;
        crew_signal_hooks(crew, member, SIGKILL);
}

void crew_hurry_hooks(Crew *crew, const Member *member) {
        if (!has_running(crew, member))
                return;
        usec_t soon = usec_add(crew_now(crew), FAST_USEC);
        for (uint32_t i = 0; i < crew->n_runs; i++)
                if (is_of(crew, &crew->runs[i], member))
                        alarms_set(&crew->alarms, alarm_of(crew, &crew->runs[i]),
                                   usec_min(soon, alarms_when(&crew->alarms, alarm_of(crew, &crew->runs[i]))));
}

/* Its edge is where the member is; a person may run a hook anywhere. */
static bool is_awaited(const Member *member, HookOn on) {
        LifeState state = member->life.state;
        return (state == LIFE_PRE_START && on == HOOK_PRE_START) || (state == LIFE_PRE_STOP && on == HOOK_PRE_STOP) ||
               (state == LIFE_POST_STOP && on == HOOK_POST_STOP);
}

static void finish(Crew *crew, HookRun *run, Ended how, const char *error) {
        const HookConfig *hook = config_of(crew, run);
        bool failed = run->timed_out || error || how.code != CLD_EXITED || how.status != 0;
        int status = how.code == CLD_EXITED ? how.status : 128 + how.status;
        hook_finish(&run->slot, status);
        alarms_set(&crew->alarms, alarm_of(crew, run), USEC_INFINITY);
        record_hook(crew, run,
                    &(Event){ .kind = EVENT_HOOK_FINISHED,
                              .pid = run->pid,
                              .code_word = crew_code_word(how.code),
                              .status = how.status,
                              .error = error,
                              .timed_out = run->timed_out,
                              .took_usec = usec_sub(crew_now(crew), run->since_usec) });
        run->pid = 0;
        count(crew, run, -1);
        crew->survey_stale = true; /* it may have left children */
        if (failed)
                note_start_failure(crew, run);
        if (run->member == CREW_NOBODY)
                return;
        Member *member = &crew->members[run->member];
        if (member->life.state == LIFE_CLEARING)
                crew_want_survey(crew);
        else if (member->hooks_running[hook->on] == 0 && is_awaited(member, hook->on))
                crew_live(crew, member,
                          hook->on == HOOK_PRE_START && member->start_hook_failed ? LIFE_HOOKS_FAILED
                                                                                  : LIFE_HOOKS_DONE);
}

void crew_on_hook_exited(Crew *crew, uint32_t index, Ended how) {
        HookRun *run = &crew->runs[index];
        if (crew->finished || run->slot.state != HOOK_RUNNING)
                return;
        char error[ERROR_TEXT_MAX];
        if (run->error_step)
                crew_write_error(error, sizeof error, run->error_step, run->error_number,
                                 config_of(crew, run)->argv ? config_of(crew, run)->argv[0] : "");
        finish(crew, run, how, run->error_step ? error : NULL);
        run->error_step = NULL;
        crew_settle(crew);
}

void crew_on_hook_answered(Crew *crew, uint32_t index, bool ok, const char *detail) {
        HookRun *run = &crew->runs[index];
        if (crew->finished || run->slot.state != HOOK_RUNNING)
                return;
        finish(crew, run, (Ended){ .code = CLD_EXITED, .status = ok ? 0 : 1 }, ok || run->timed_out ? NULL : detail);
        crew_settle(crew);
}

void crew_on_hook_spawn_failed(Crew *crew, uint32_t index, const char *step, int error) {
        crew->runs[index].error_step = step;
        crew->runs[index].error_number = error;
}

/* The hook's own limit: its whole group is killed. What outlives that by a second is given up, so that nothing waits
 * for ever on a process that the kernel cannot kill. */
void crew_hook_time_up(Crew *crew, HookRun *run) {
        if (run->slot.state != HOOK_RUNNING)
                return;
        if (run->killed) {
                crew_record(crew, &(Event){ .kind = EVENT_SERVICE_LEFT,
                                            .pid = run->pid,
                                            .comm = config_of(crew, run)->name,
                                            .reason = "hook outlived SIGKILL" });
                finish(crew, run, (Ended){ .code = CLD_KILLED, .status = SIGKILL }, "it cannot be killed");
                return;
        }
        run->timed_out = run->killed = true;
        alarms_set(&crew->alarms, alarm_of(crew, run), usec_add(crew_now(crew), crew_patience(crew)));
        crew->stage->signal_hook(crew->self, (uint32_t)(run - crew->runs), SIGKILL);
}
