/* laws_journal.c - the journal's events judged one by one, and the whole at its end; see laws.h. */
#include "shutdown/journal_reader.h"
#include "tests/sim/laws_internal.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

static uint32_t member_of(const Laws *laws, const Event *event) {
        const Schedule *schedule = laws->world->schedule;
        for (size_t s = 0; event->service && s < schedule->config.n_services; s++)
                if (strcmp(schedule->services[s].name, event->service) == 0 && event->instance >= 1 &&
                    event->instance <= schedule->services[s].instances)
                        return schedule->first_member[s] + event->instance - 1;
        return CREW_NOBODY;
}

static usec_t deadline_of(const Laws *laws) {
        return usec_add(usec_min(laws->asked_usec, laws->ending_usec),
                        laws->world->schedule->config.budget.deadline_usec);
}

static void on_ending_started(Laws *laws, const Event *event) {
        if (laws->ending)
                laws_break(laws, "L2", "the ending started twice");
        laws->ending = true;
        laws->fast |= event->fast;
        laws->ending_usec = laws->world->now_usec;
        if (laws->asked_usec == USEC_INFINITY)
                laws->asked_usec = laws->ending_usec;
}

static void on_phase_started(Laws *laws, const Event *event) {
        const Config *config = &laws->world->schedule->config;
        if (!laws->ready_told_away)
                laws_break(laws, "L2", "a phase began before readiness was withdrawn");
        if (laws->phases_started != laws->phases_finished)
                laws_break(laws, "L2", "phase %s began inside another", event->phase);
        if (!laws_is_development(laws) && (laws->phases_started >= config->n_phases ||
                                           strcmp(event->phase, config->phases[laws->phases_started].name) != 0))
                laws_break(laws, "L2", "phase %s is not the next one", event->phase);
        laws->phases_started++;
}

static void on_phase_finished(Laws *laws, const Event *event) {
        const Config *config = &laws->world->schedule->config;
        if (laws->phases_started != laws->phases_finished + 1)
                laws_break(laws, "L2", "phase %s finished and was not there", event->phase);
        else if (!laws_is_development(laws) && strcmp(event->phase, config->phases[laws->phases_finished].name) != 0)
                laws_break(laws, "L2", "phase %s finished in place of %s", event->phase,
                           config->phases[laws->phases_finished].name);
        laws->phases_finished++;
}

static void on_readiness(Laws *laws, const Event *event) {
        if (laws->ready_told_away && event->ready)
                laws_break(laws, "L6", "readiness was given back after the ending began");
        if (laws->ending && !event->ready)
                laws->ready_told_away = true;
        if (laws->ending && event->ready)
                laws_break(laws, "L6", "readiness was given after the ending began");
        for (uint32_t m = 0; event->ready && m < laws->world->schedule->config.n_members; m++)
                if (!laws_is_resting(laws, m) && !laws_service(laws, m)->aside && !laws_service(laws, m)->by_hand &&
                    (!laws->members[m].ever_ready || (laws_is_up(laws, m) && laws_is_unready(laws, m))))
                        laws_break(laws, "L6", "readiness was given, and member %u never was ready, or is not now", m);
                else if (laws->members[m].held && laws_service(laws, m)->essential && !laws_service(laws, m)->by_hand &&
                         strcmp(crew_view(laws->world->crew, m).state, "stopped") == 0)
                        laws_break(laws, "L6", "readiness was given, and member %u is essential, and stopped", m);
}

/* The command of a check has no pid in the journal, but the name of its probe. */
static bool is_of_check(const Laws *laws, const Process *process, const Event *event) {
        return process->kind == PROCESS_PROBE && !process->given_up && process->tree == member_of(laws, event) &&
               strcmp(probe_kind_to_string(laws->probes[process->probe_run].kind), event->probe) == 0;
}

/* Of a start-up that goes on, and seldom: after five seconds, and five seconds after the last one. */
static void on_startup_progress(Laws *laws, const Event *event) {
        usec_t now = laws->world->now_usec, since = laws->progress_usec ? laws->progress_usec : WORLD_BEGINS_USEC;
        if (laws->started || laws->ending)
                laws_break(laws, "E", "start-up waits for %s, and is over", event->detail);
        if (now < since + 5 * USEC_PER_SEC)
                laws_break(laws, "E", "what start-up waits for is told too often");
        if (event->left == 0 || !event->waiting_for || !*event->waiting_for || !event->detail || !*event->detail)
                laws_break(laws, "E", "start-up waits for nobody");
        laws->progress_usec = now;
}

/* A process may be given up when it outlived SIGKILL by a second, or at the deadline; in an ending sooner, so that
 * later phases have their time, but never at once. */
static void on_left(Laws *laws, const Event *event) {
        World *world = laws->world;
        laws->left += laws->ending; /* before, it was in the way of a restart only */
        usec_t now = world->now_usec;
        for (uint32_t i = 0; i < world->n_processes; i++) {
                Process *process = &world->processes[i];
                bool is_meant = event->probe ? is_of_check(laws, process, event) : process->pid == event->pid;
                if (process->state == PROCESS_FREE || !is_meant)
                        continue;
                usec_t patience = laws->ending ? 100 * USEC_PER_MSEC : USEC_PER_SEC;
                bool outlived = process->killed_usec != USEC_INFINITY && now >= process->killed_usec + patience;
                if (!outlived && now < deadline_of(laws))
                        laws_break(laws, "E", "pid %d was given up too early", (int)event->pid);
                if (process->kind == PROCESS_HOOK && !process->given_up)
                        laws_on_hook_gone(laws, process->hook_run, NULL);
                process->given_up = true;
                /* What is below it cannot be reached either: it is not PID 1's to collect. */
                for (uint32_t n = 0; n < world->n_processes; n++)
                        if (world->processes[n].state != PROCESS_FREE && world_is_below(world, n, i))
                                world->processes[n].given_up = true;
                return;
        }
        if (event->pid > 0 || event->probe)
                laws_break(laws, "E", "pid %d was given up and does not exist", (int)event->pid);
}

static void on_started(Laws *laws, uint32_t member, const Event *event) {
        if (member == CREW_NOBODY)
                return;
        uint32_t slot = laws->world->main_slot[member];
        if (slot == NO_SLOT || laws->world->processes[slot].pid != event->pid)
                laws_break(laws, "E", "the journal says that member %u is pid %d", member, (int)event->pid);
}

/* What a process ends with that we asked or killed is never held against it. */
static void on_gave_up(Laws *laws, uint32_t member, const Event *event) {
        laws->essentials += event->essential;
        if (member == CREW_NOBODY) {
                laws_break(laws, "E", "nobody gave up");
                return;
        }
        MemberTruth *truth = &laws->members[member];
        bool by_others = event->reason && strcmp(event->reason, "what it requires failed") == 0;
        bool asked = truth->asked_usec != USEC_INFINITY && truth->asked_usec >= laws->ending_usec;
        truth->gave_up = true;
        if (laws->ending && event->essential && !by_others && (asked || truth->killed))
                laws_break(laws, "L9", "member %u failed for good, says the journal, and was %s by us", member,
                           asked ? "asked" : "killed");
}

/* The reaper hands a run's jobs back by this event: nothing of it may be alive, and when it is said to be certain, not
 * even what nobody can attribute. */
static void on_gone(Laws *laws, uint32_t member, const Event *event) {
        const World *world = laws->world;
        for (uint32_t i = 0; i < world->n_processes; i++) {
                const Process *process = &world->processes[i];
                if (!process_is_alive(process) || process->tree != member || laws_is_given_up(laws, process) ||
                    (process->script.anonymous && !event->certain))
                        continue;
                laws_break(laws, "H", "member %u is gone, says the journal, %s, and pid %d of it lives", member,
                           event->certain ? "certainly" : "perhaps", (int)process->pid);
        }
}

static void on_exited(Laws *laws, uint32_t member, const Event *event) {
        if (member == CREW_NOBODY)
                return;
        int code = strcmp(event->code_word, "exited") == 0 ? event->status : 128 + event->status;
        if (laws->members[member].exit_code != code)
                laws_break(laws, "E", "member %u ended with %d, says the journal, and it was %d", member, code,
                           laws->members[member].exit_code);
}

/* The delay lies between RestartSec and the largest one, ±10 %; that it grows is the unit test's to show. */
static void on_restart_scheduled(Laws *laws, uint32_t member, const Event *event) {
        if (laws->ending)
                laws_break(laws, "L5", "a restart was scheduled after the ending began");
        if (member == CREW_NOBODY)
                return;
        const ServiceConfig *service = laws_service(laws, member);
        usec_t low = service->restart_usec, high = usec_max(low, service->restart_max_usec);
        if (event->delay_usec < low - low / 10 || event->delay_usec > usec_add(high, high / 10))
                laws_break(laws, "G", "member %u is to restart after %.6f s", member, (double)event->delay_usec / 1e6);
        laws->members[member].turn++;
        laws->members[member].restart_usec = usec_add(laws->world->now_usec, event->delay_usec);
}

static void fold_what_was_written(Laws *laws, const Event *event) {
        char line[EVENT_LINE_MAX];
        Event copy = *event;
        copy.seq = laws->events;
        copy.mono_usec = copy.wall_usec = laws->world->now_usec;
        size_t length = event_write(&copy, line, sizeof line);
        if (laws->world->trace)
                printf("%12s  | %.*s", "", (int)length, line);
        EventLine read;
        if (event_line_read(line, length, &read) < 0) {
                laws_break(laws, "L9", "a line of the journal cannot be read back: %.200s", line);
                return;
        }
        laws->reread = verdict_fold(laws->reread, &read.event);
        event_line_done(&read);
}

static void judge(Laws *laws, const Event *event) {
        uint32_t member = member_of(laws, event);
        switch ((int)event->kind) {
        case EVENT_ENDING_STARTED: on_ending_started(laws, event); break;
        case EVENT_STARTUP_PROGRESS: on_startup_progress(laws, event); break;
        case EVENT_STARTUP_FINISHED: laws->started = true; break;
        case EVENT_PHASE_STARTED: on_phase_started(laws, event); break;
        case EVENT_PHASE_FINISHED: on_phase_finished(laws, event); break;
        case EVENT_READINESS_CHANGED: on_readiness(laws, event); break;
        case EVENT_SERVICE_STARTING: laws_on_starting(laws, member); break;
        case EVENT_SERVICE_STARTED: on_started(laws, member, event); break;
        case EVENT_SERVICE_EXITED: on_exited(laws, member, event); break;
        case EVENT_SERVICE_GONE: on_gone(laws, member, event); break;
        case EVENT_SERVICE_GAVE_UP: on_gave_up(laws, member, event); break;
        case EVENT_SERVICE_LEFT: on_left(laws, event); break;
        case EVENT_DESCENDANTS_LEFT: laws->descendants_left++; break;
        case EVENT_SERVICE_RESTART_SCHEDULED: on_restart_scheduled(laws, member, event); break;
        case EVENT_PROBE_CHANGED: laws_on_probe_changed(laws, member, event); break;
        case EVENT_HOOK_REFUSED: laws_on_hook_refused(laws, member, event); break;
        case EVENT_ENDING_FINISHED:
                laws->finished_event = true;
                laws->finished_code = event->code;
                break;
        default: break;
        }
}

void laws_on_event(Laws *laws, const Event *event) {
        laws->events++;
        if (laws->finished_event)
                laws_break(laws, "L10", "%s was recorded after ending_finished", event_kind_to_string(event->kind));
        if (!event_kind_to_string(event->kind))
                laws_break(laws, "E", "an event of no kind");
        laws->verdict = verdict_fold(laws->verdict, event);
        if (laws->sample_reading || laws->world->trace)
                fold_what_was_written(laws, event);
        judge(laws, event);
}
