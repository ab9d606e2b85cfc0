/* crew_ending.c - the conductor's stage: phases, stops in their order, kills, the strays, and the last event. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/crew_internal.h"

static usec_t stage_now(void *self) {
        return crew_now(self);
}

static void stage_record(void *self, Event *event) {
        crew_record(self, event);
}

void crew_end_because(Crew *crew, const char *cause, const char *service, bool fast) {
        if (crew->finished)
                return;
        if (!crew_is_ending(crew)) {
                crew->cause = cause;
                crew->cause_service = service;
        }
        conductor_tell(&crew->conductor, fast ? HAPPENING_FAST_ASKED : HAPPENING_ENDING_ASKED);
}

/* From here on nothing starts: what waits for its turn or its restart rests at once, what is between two runs will not
 * have the next one. */
static bool stage_withdraw(void *self, bool fast) {
        Crew *crew = self;
        crew->epoch++;
        crew_record(crew, &(Event){ .kind = EVENT_ENDING_STARTED,
                                    .cause = crew->cause,
                                    .service = crew->cause_service,
                                    .fast = crew->conductor.sequence.fast,
                                    .deadline_usec = crew->conductor.budget.deadline_usec });
        crew->ready = false;
        crew->readiness_usec = crew_now(crew);
        crew_record(crew, &(Event){ .kind = EVENT_READINESS_CHANGED, .ready = false, .reason = "ending" });
        crew_forget_steering(crew);
        for (uint32_t i = 0; i < crew->n_members; i++) {
                Member *member = &crew->members[i];
                if (member->life.state == LIFE_WAITING || member->life.state == LIFE_BACKOFF)
                        crew_live(crew, member, LIFE_STOP_WANTED);
                else
                        member->life.stop = true;
                /* Who still starts is stopped when its phase is, not when its start has taken too long; and no watchdog
                 * kills any more. */
                if ((member->life.state == LIFE_STARTING && !member->overdue) || member->life.state == LIFE_READY)
                        crew_alarm_member(crew, member, USEC_INFINITY);
                crew_call_off_probes(crew, member);
        }
        for (uint32_t s = 0; s < crew->config->n_services; s++)
                crew_consider_sockets(crew, s);
        return !fast && crew->stage->withdraw(crew->self);
}

static bool is_in(const Crew *crew, uint16_t service, int phase) {
        return (int)crew->config->services[service].phase <= phase;
}

static unsigned alive_until(const Crew *crew, int phase) {
        unsigned alive = 0;
        for (int p = 0; p <= phase; p++)
                alive += crew->alive[p];
        return alive;
}

/* A second; but while later phases have members, at most half of what the next of them has until its own limit: whom
 * the kernel cannot kill must not cost them their asking. */
usec_t crew_patience(const Crew *crew) {
        const Conductor *conductor = &crew->conductor;
        unsigned phase = conductor->sequence.phase + 1;
        if (!crew_is_ending(crew) || conductor->sequence.development)
                return GIVE_UP_USEC;
        while (phase < conductor->budget.n_phases && crew->alive[phase] == 0)
                phase++;
        if (phase >= conductor->budget.n_phases)
                return GIVE_UP_USEC;
        usec_t limit = usec_add(conductor->since_usec, budget_limit(&conductor->budget, phase));
        return usec_min(GIVE_UP_USEC, usec_max(GIVE_UP_MIN_USEC, usec_sub(limit, crew_now(crew)) / 2));
}

static PhaseTally stage_tally(void *self, unsigned phase) {
        Crew *crew = self;
        if (crew->counted_phase != (int)phase) {
                crew->counted_phase = (int)phase;
                memset(crew->gone, 0, sizeof crew->gone);
                memset(crew->killed, 0, sizeof crew->killed);
                memset(crew->left, 0, sizeof crew->left);
        }
        PhaseTally tally = { .members = alive_until(crew, (int)phase) };
        for (unsigned p = 0; p <= phase; p++) {
                tally.gone += crew->gone[p];
                tally.killed += crew->killed[p];
                tally.left += crew->left[p];
        }
        return tally;
}

static void stage_enter(void *self, unsigned phase) {
        Crew *crew = self;
        crew_begin_with_strays(crew, false);
        crew_alarm(crew, CREW_ALARM_PROGRESS, usec_add(crew_now(crew), PROGRESS_USEC));
        crew_run_hooks(crew, NULL, (int)phase, HOOK_BEGIN);
}

static void stage_stop(void *self, unsigned phase, bool everything) {
        Crew *crew = self;
        crew->stop_phase = (int)phase;
        crew->stop_everything = everything;
        crew->stops_dirty = true;
        crew_begin_with_strays(crew, false);
        if (crew->conductor.sequence.fast)
                crew_signal_hooks(crew, NULL, SIGKILL);
        crew_alarm(crew, CREW_ALARM_PROGRESS, usec_add(crew_now(crew), PROGRESS_USEC));
}

static bool dependents_rest(const Crew *crew, const ServiceConfig *service) {
        const Relation *before = service_before(service);
        for (unsigned i = 0; i < before->n; i++) {
                uint16_t other = before->items[i];
                if (crew->tallies[other].resting < crew->config->services[other].instances)
                        return false;
        }
        return true;
}

static void release(Crew *crew, size_t index) {
        const Sequence *sequence = &crew->conductor.sequence;
        LifeHappening what = sequence->fast || sequence->development ? LIFE_HURRY_WANTED : LIFE_STOP_WANTED;
        Member *member = &crew->members[crew->tallies[index].first_member];
        crew->tallies[index].released = true;
        for (unsigned i = 0; i < crew->config->services[index].instances; i++, member++)
                if (!life_is_resting(member->life.state))
                        crew_live(crew, member, what);
}

void crew_release_stops(Crew *crew) {
        crew->stops_dirty = false;
        if (crew->n_due > 0)
                crew_release_steered(crew);
        if (crew->stop_phase < 0)
                return;
        for (size_t s = 0; s < crew->config->n_services; s++) {
                if (crew->tallies[s].released || !is_in(crew, (uint16_t)s, crew->stop_phase))
                        continue;
                if (crew->stop_everything || dependents_rest(crew, &crew->config->services[s]))
                        release(crew, s);
        }
}

static void stage_hurry(void *self) {
        Crew *crew = self;
        for (uint32_t i = 0; i < crew->n_members; i++)
                if (crew->tallies[crew->members[i].service].released && !life_is_resting(crew->members[i].life.state))
                        crew_live(crew, &crew->members[i], LIFE_HURRY_WANTED);
        crew_hurry_hooks(crew, NULL);
        crew->stops_dirty = true;
}

/* In a fast ending a post-stop hook has a second of its own, which began when its member was gone. */
static bool is_spared(const Crew *crew, const Member *member) {
        return crew->conductor.sequence.fast && member->life.state == LIFE_POST_STOP;
}

static void stage_kill(void *self) {
        Crew *crew = self;
        crew->stop_phase = (int)crew->conductor.sequence.phase;
        crew_begin_with_strays(crew, true);
        for (uint32_t i = 0; i < crew->n_members; i++) {
                Member *member = &crew->members[i];
                if (is_in(crew, member->service, crew->stop_phase) && !life_is_resting(member->life.state)) {
                        crew->tallies[member->service].released = true;
                        member->life.stop = true;
                        if (!is_spared(crew, member))
                                crew_live(crew, member, LIFE_FORCED);
                }
        }
        crew_cut_hooks(crew, NULL);
        crew->stops_dirty = true;
}

static void stage_close(void *self, unsigned phase) {
        crew_run_hooks(self, NULL, (int)phase, HOOK_END);
}

static void stage_abandon(void *self) {
        Crew *crew = self;
        for (uint32_t i = 0; i < crew->n_members; i++)
                if (!life_is_resting(crew->members[i].life.state))
                        crew_live(crew, &crew->members[i], LIFE_ABANDONED);
        if (crew_awaited_strays(crew) > 0)
                crew_signal_strays(crew, 0, "the deadline");
        for (uint32_t i = 0; i < crew->n_runs; i++)
                if (crew->runs[i].slot.state == HOOK_RUNNING)
                        crew_record(crew, &(Event){ .kind = EVENT_SERVICE_LEFT,
                                                    .pid = crew->runs[i].pid,
                                                    .comm = crew->config->hooks[crew->runs[i].hook].name,
                                                    .reason = "a hook at the deadline" });
}

static void stage_finish(void *self) {
        Crew *crew = self;
        char text[VERDICT_TEXT_MAX];
        int code = verdict_code(&crew->verdict);
        usec_t took = usec_sub(crew_now(crew), crew->conductor.since_usec);
        verdict_explain(&crew->verdict, text);
        crew_record(crew, &(Event){ .kind = EVENT_ENDING_FINISHED,
                                    .code = code,
                                    .reason = text,
                                    .took_usec = took,
                                    .killed = crew->verdict.killed,
                                    .left = crew->verdict.left,
                                    .hooks_failed = crew->verdict.hooks_failed,
                                    .released = crew->ledger.released,
                                    .buried = crew->ledger.buried,
                                    .sessions = crew->ledger.sessions,
                                    .left_of_grace_usec = (int64_t)crew->config->grace_usec - (int64_t)took });
        crew->finished = true;
        crew->stage->finish(crew->self, code, text);
}

const ConductorStage crew_conductor_stage = {
        .now = stage_now,
        .record = stage_record,
        .withdraw = stage_withdraw,
        .enter = stage_enter,
        .stop = stage_stop,
        .hurry = stage_hurry,
        .kill = stage_kill,
        .close = stage_close,
        .abandon = stage_abandon,
        .finish = stage_finish,
        .tally = stage_tally,
};

/* What the conductor awaits in its present step, told as soon as it is so and as often as it is asked. */
static void check_once(Crew *crew) {
        const Sequence *sequence = &crew->conductor.sequence;
        Step step = sequence->step;
        if (step == STEP_ENTERING && crew->phase_hooks_running == 0) {
                conductor_tell(&crew->conductor, HAPPENING_HOOKS_DONE);
                if (sequence->step != step)
                        return;
        }
        if (alive_until(crew, (int)sequence->phase) > 0)
                return;
        crew_treat_strays(crew);
        if (crew_awaited_strays(crew) > 0 || (crew->phase_hooks_running > 0 && step != STEP_ENTERING))
                return;
        if (crew->survey_stale)
                crew_want_survey(crew);
        else
                conductor_tell(&crew->conductor, step == STEP_CLOSING ? HAPPENING_HOOKS_DONE : HAPPENING_GROUP_EMPTY);
}

void crew_check_group(Crew *crew) {
        Sequence before;
        do {
                before = crew->conductor.sequence;
                if (before.step < STEP_ENTERING || before.step > STEP_CLOSING || crew->stops_dirty)
                        return;
                if (before.step != STEP_ENTERING)
                        crew_treat_strays(crew);
                check_once(crew);
        } while (!crew->finished &&
                 (before.step != crew->conductor.sequence.step || before.phase != crew->conductor.sequence.phase));
}

void crew_add_name(const Crew *crew, uint32_t member, char *names, size_t size) {
        char name[64];
        crew_name(crew, member, name, sizeof name);
        size_t used = strlen(names);
        if (used + strlen(name) + 2 < size)
                snprintf(names + used, size - used, "%s%s", used > 0 ? " " : "", name);
}

void crew_tell_progress(Crew *crew) {
        const Sequence *sequence = &crew->conductor.sequence;
        if (sequence->step == STEP_SERVING)
                crew_tell_start(crew);
        if (sequence->step < STEP_ENTERING || sequence->step > STEP_CLOSING)
                return;
        crew_alarm(crew, CREW_ALARM_PROGRESS, usec_add(crew_now(crew), PROGRESS_USEC));
        char names[NAMED_MAX * 48] = "";
        unsigned left = 0, active = 0;
        for (uint32_t i = 0; i < crew->n_members; i++) {
                const Member *member = &crew->members[i];
                if (life_is_resting(member->life.state) || !is_in(crew, member->service, (int)sequence->phase))
                        continue;
                active += member->active;
                if (left++ < NAMED_MAX)
                        crew_add_name(crew, i, names, sizeof names);
        }
        left += crew_awaited_strays(crew);
        if (left > 0)
                crew_record(crew, &(Event){ .kind = EVENT_DRAIN_PROGRESS,
                                            .phase = sequence->development ? "all" : crew->phase_names[sequence->phase],
                                            .left = left,
                                            .active = active,
                                            .waiting_for = names });
}

static void count_kill(Crew *crew, Member *member, const char *reason) {
        if (member)
                member->killed++;
        if (!crew_is_ending(crew) || strcmp(reason, "drained") == 0 || strcmp(reason, "died") == 0)
                return;
        if (member && member->forced_in_ending)
                return;
        if (member)
                member->forced_in_ending = true;
        crew->killed[member ? crew_service(crew, member)->phase : crew->conductor.sequence.phase]++;
}

/* A signal that does not mean that it shall end. */
static bool is_no_asking(const char *reason) {
        return strcmp(reason, "reload") == 0 || strcmp(reason, "request") == 0;
}

void crew_told(Crew *crew, uint32_t index, pid_t pid, const char *comm, int signal_number, const char *reason) {
        if (crew->finished)
                return;
        char word[SIGNAL_TEXT_MAX];
        Member *member = index == CREW_NOBODY ? NULL : &crew->members[index];
        Event event = { .kind = signal_number == 0         ? EVENT_SERVICE_LEFT
                                : is_no_asking(reason)     ? EVENT_SERVICE_SIGNALLED
                                : signal_number == SIGKILL ? EVENT_SERVICE_KILLED
                                                           : EVENT_SERVICE_ASKED,
                        .pid = pid,
                        .comm = comm,
                        .signal = signal_number ? signal_to_string(signal_number, word) : NULL,
                        .reason = reason };
        crew->told++;
        if (event.kind == EVENT_SERVICE_KILLED)
                count_kill(crew, member, reason);
        if (signal_number == 0)
                crew_orphan_give_up(crew, index, pid);
        if (member)
                crew_record_member(crew, member, &event);
        else
                crew_record(crew, &event);
}

/* Names every process that is given up; when none can be found (no /proc), at least the member. */
void crew_name_left(Crew *crew, uint32_t index, const char *reason) {
        unsigned before = crew->told;
        crew->stage->signal(crew->self, index, crew_whom_to_kill(crew, &crew->members[index]), 0, reason);
        if (crew->told == before)
                crew_told(crew, index, crew->members[index].pid, NULL, 0, reason);
}
