/* crew.c - birth of the crew, the happenings from outside, and the loop that brings everything to rest; see crew.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/crew_internal.h"

void crew_record(Crew *crew, Event *event) {
        event->epoch = crew->epoch;
        crew->verdict = verdict_fold(crew->verdict, event);
        crew->stage->record(crew->self, event);
}

void crew_record_member(Crew *crew, const Member *member, Event *event) {
        char owner[OWNER_TEXT_MAX];
        owner_write(&member->owner, owner);
        event->service = crew_service(crew, member)->name;
        event->instance = member->number;
        event->instances = crew_service(crew, member)->instances;
        event->owner = owner;
        event->attempt = member->attempt;
        if (event->pid == 0)
                event->pid = member->pid;
        crew_record(crew, event);
}

void crew_alarm_member(Crew *crew, const Member *member, usec_t when) {
        alarms_set(&crew->alarms, crew_index(crew, member), when);
}

static uint32_t alarm_item(const Crew *crew, CrewAlarm alarm) {
        return crew->n_members + crew->n_runs + crew->n_probes + (uint32_t)alarm;
}

void crew_alarm(Crew *crew, CrewAlarm alarm, usec_t when) {
        alarms_set(&crew->alarms, alarm_item(crew, alarm), when);
}

void crew_want_survey(Crew *crew) {
        crew->survey_stale = true;
        if (crew->survey_asked)
                return;
        crew->survey_asked = true;
        crew->stage->survey(crew->self);
}

static uint32_t count_runs(const Config *config) {
        uint32_t n = 0;
        for (size_t i = 0; i < config->n_hooks; i++)
                n += config->hooks[i].service >= 0 ? config->services[config->hooks[i].service].instances : 1;
        return n;
}

/* Who is started by persons only rests from the beginning, and keeps nobody waiting and nothing going. */
static void place(Crew *crew, uint32_t index) {
        const ServiceConfig *service = &crew->config->services[index];
        ServiceTally *tally = &crew->tallies[index];
        Member *member = &crew->members[tally->first_member];
        if (!service->by_hand) {
                tally->waiting = service->instances;
                crew->unsettled[service->phase] += service->instances;
                crew->alive[service->phase] += service->instances;
                return;
        }
        tally->resting = tally->over = tally->settled = service->instances;
        crew->n_over += service->builtin ? 0 : service->instances;
        crew->n_not_ready -= service->instances;
        for (unsigned i = 0; i < service->instances; i++, member++) {
                member->life = (Life){ .state = LIFE_STOPPED, .held = true };
                member->settled = member->counted_over = member->counted_ready = true;
        }
}

static void place_members(Crew *crew) {
        uint32_t next = 0;
        for (size_t s = 0; s < crew->config->n_services; s++) {
                const ServiceConfig *service = &crew->config->services[s];
                crew->tallies[s].first_member = next;
                for (unsigned i = 0; i < service->instances; i++, next++)
                        crew->members[next] = (Member){ .service = (uint16_t)s, .number = (uint16_t)(i + 1) };
                crew->n_written += service->builtin ? 0 : service->instances;
                place(crew, (uint32_t)s);
        }
}

static void place_runs(Crew *crew) {
        uint32_t next = 0;
        for (size_t h = 0; h < crew->config->n_hooks; h++) {
                const HookConfig *hook = &crew->config->hooks[h];
                unsigned n = hook->service >= 0 ? crew->config->services[hook->service].instances : 1;
                crew->first_run[h] = next;
                for (unsigned i = 0; i < n; i++, next++)
                        crew->runs[next] = (HookRun){
                                .hook = (uint16_t)h,
                                .member = hook->service >= 0 ? crew->tallies[hook->service].first_member + i
                                                             : CREW_NOBODY,
                        };
        }
}

static int allocate(Crew *crew) {
        size_t n_services = crew->config->n_services, n_hooks = crew->config->n_hooks;
        crew->members = calloc(crew->n_members + 1U, sizeof *crew->members);
        crew->tallies = calloc(n_services + 1, sizeof *crew->tallies);
        crew->runs = calloc(crew->n_runs + 1U, sizeof *crew->runs);
        crew->first_run = calloc(n_hooks + 1, sizeof *crew->first_run);
        crew->probes = calloc(crew->n_probes + 1U, sizeof *crew->probes);
        crew->going.of_service = calloc(n_services + 1, sizeof *crew->going.of_service);
        crew->watchdogs_usec = calloc(crew->n_members + 1U, sizeof *crew->watchdogs_usec); /* zeros until they change */
        if (!crew->members || !crew->tallies || !crew->runs || !crew->first_run || !crew->probes ||
            !crew->going.of_service || !crew->watchdogs_usec)
                return -ENOMEM;
        return alarms_init(&crew->alarms, crew->n_members + crew->n_runs + crew->n_probes + _CREW_ALARM_MAX);
}

int crew_new(Crew **ret, const Config *config, const Stage *stage, void *self, bool pid_namespace) {
        Crew *crew = calloc(1, sizeof *crew);
        if (!crew)
                return -ENOMEM;
        crew->config = config;
        crew->stage = stage;
        crew->self = self;
        crew->pid_namespace = pid_namespace;
        crew->n_members = (uint32_t)config->n_members;
        crew->n_runs = count_runs(config);
        crew->n_probes = crew_count_probes(config);
        crew->n_not_ready = crew->n_members;
        crew->start_phase = (int)config->n_phases - 1;
        crew->stop_phase = crew->counted_phase = -1;
        if (allocate(crew) < 0) {
                crew_free(crew);
                return -ENOMEM;
        }
        place_members(crew);
        place_runs(crew);
        crew_place_probes(crew);
        for (unsigned p = 0; p < config->n_phases; p++)
                crew->phase_names[p] = config->phases[p].name;
        conductor_init(&crew->conductor, &config->budget, crew->phase_names, config->mode == MODE_DEVELOPMENT,
                       &crew_conductor_stage, crew);
        *ret = crew;
        return 0;
}

Crew *crew_free(Crew *crew) {
        if (!crew)
                return NULL;
        for (uint32_t i = 0; crew->members && i < crew->n_members; i++)
                free(crew->members[i].status);
        alarms_done(&crew->alarms);
        free(crew->members);
        free(crew->tallies);
        free(crew->going.of_service);
        free(crew->runs);
        free(crew->first_run);
        free(crew->foreign);
        free(crew->probes);
        free(crew->watchdogs_usec);
        free(crew->orphans);
        free(crew);
        return NULL;
}

static void write_phase_list(const Crew *crew, char *text, size_t size) {
        char *at = text;
        *at = '\0';
        for (unsigned p = 0; p < crew->config->n_phases && (size_t)(at - text) + NAME_LENGTH_MAX + 2 < size; p++) {
                if (p > 0)
                        *at++ = ' ';
                at = stpcpy(at, crew->phase_names[p]);
        }
}

static void write_remap(const Crew *crew, char *text, size_t size) {
        char *at = text;
        *at = '\0';
        for (unsigned code = 1; code < 256 && (size_t)(at - text) + 5 < size; code++)
                if (crew->config->remap[code / 8] >> (code % 8) & 1)
                        at += sprintf(at, "%s%u", at > text ? " " : "", code);
}

void crew_start(Crew *crew) {
        const Config *config = crew->config;
        char phases[PHASES_MAX * (NAME_LENGTH_MAX + 1) + 1], remap[1024];
        write_phase_list(crew, phases, sizeof phases);
        write_remap(crew, remap, sizeof remap);
        crew->epoch = 1;
        crew->started = true;
        crew->started_usec = crew->readiness_usec = crew_now(crew);
        for (uint32_t i = 0; i < crew->n_members; i++)
                crew->members[i].since_usec = crew->started_usec;
        crew_record(crew, &(Event){ .kind = EVENT_SUPERVISOR_STARTED,
                                    .version = ENDWELL_VERSION,
                                    .mode = mode_to_string(config->mode),
                                    .config = config->path,
                                    .config_digest = config->digest,
                                    .pid_namespace = crew->pid_namespace,
                                    .phases = phases,
                                    .deadline_usec = config->deadline_usec,
                                    .exit_code_from = config->exit_code_from >= 0
                                                              ? config->services[config->exit_code_from].name
                                                              : NULL,
                                    .single = config->single,
                                    .remap = remap });
        crew->starts_dirty = true;
        crew_await_start(crew);
        crew_settle(crew);
}

void crew_settle(Crew *crew) {
        if (crew->running || crew->finished || !crew->started)
                return;
        crew->running = true;
        do {
                if (crew->starts_dirty)
                        crew_give_turns(crew);
                if (crew->stops_dirty)
                        crew_release_stops(crew);
                crew_check_group(crew);
        } while (!crew->finished && (crew->starts_dirty || crew->stops_dirty));
        crew->running = false;
        if (!crew->finished)
                crew_alarm(crew, CREW_ALARM_CONDUCTOR, conductor_next_usec(&crew->conductor));
}

usec_t crew_next_usec(const Crew *crew) {
        return crew->finished ? USEC_INFINITY : alarms_next(&crew->alarms);
}

static void ring_member(Crew *crew, Member *member) {
        LifeState state = member->life.state;
        if (state == LIFE_READY)
                crew_watchdog_expired(crew, member, NULL);
        else
                crew_live(crew, member,
                          state == LIFE_BACKOFF    ? LIFE_TURN
                          : state == LIFE_STARTING ? LIFE_OVERDUE
                                                   : LIFE_TIME_UP);
}

static void ring(Crew *crew, uint32_t item) {
        if (item < crew->n_members) {
                ring_member(crew, &crew->members[item]);
                return;
        }
        item -= crew->n_members;
        if (item < crew->n_runs) {
                crew_hook_time_up(crew, &crew->runs[item]);
                return;
        }
        item -= crew->n_runs;
        if (item < crew->n_probes) {
                crew_probe_alarm(crew, &crew->probes[item]);
                return;
        }
        switch ((CrewAlarm)(item - crew->n_probes)) {
        case CREW_ALARM_CONDUCTOR: conductor_tick(&crew->conductor); break;
        case CREW_ALARM_PROGRESS: crew_tell_progress(crew); break;
        case CREW_ALARM_STRAYS: crew_strays_time_up(crew); break;
        case CREW_ALARM_TURNS: crew->starts_dirty = true; break;
        case _CREW_ALARM_MAX: break;
        }
}

void crew_on_time(Crew *crew) {
        usec_t now = crew_now(crew);
        uint32_t item = alarm_item(crew, CREW_ALARM_CONDUCTOR);
        crew->checks_at_once = 0;
        /* A phase's limit is that of many members, too. As the phase's it kills them in one go; one by one, thousands
         * of them might take until the deadline, and the conductor, asked last, would see only that. */
        if (!crew->finished && alarms_when(&crew->alarms, item) <= now) {
                alarms_set(&crew->alarms, item, USEC_INFINITY);
                ring(crew, item);
                crew_settle(crew);
        }
        while (!crew->finished && crew->checks_at_once < TURNS_AT_ONCE &&
               (item = alarms_take_due(&crew->alarms, now)) != ALARM_NONE) {
                ring(crew, item);
                crew_settle(crew);
        }
}

void crew_on_acknowledged(Crew *crew, const char *by) {
        if (crew->finished)
                return;
        if (crew->conductor.sequence.step == STEP_WITHDRAWING)
                crew_record(crew, &(Event){ .kind = EVENT_READINESS_ACKNOWLEDGED,
                                            .by = by,
                                            .took_usec = usec_sub(crew_now(crew), crew->conductor.since_usec) });
        conductor_tell(&crew->conductor, HAPPENING_ACKNOWLEDGED);
        crew_settle(crew);
}

void crew_end(Crew *crew, const char *cause, bool fast) {
        crew_end_because(crew, cause, NULL, fast);
        crew_settle(crew);
}

/* Before exec a signal has its default effect, and that is mostly the end. */
static bool may_be_reloaded(const Crew *crew, const Member *member) {
        return crew_service(crew, member)->reload_signal > 0 && member->executed &&
               (member->life.state == LIFE_STARTING || member->life.state == LIFE_READY);
}

unsigned crew_reload(Crew *crew) {
        unsigned n = 0;
        if (crew->finished || crew_is_ending(crew))
                return 0;
        for (uint32_t i = 0; i < crew->n_members; i++) {
                const Member *member = &crew->members[i];
                unsigned before = crew->told;
                if (may_be_reloaded(crew, member))
                        crew->stage->signal(crew->self, i, WHOM_MAIN, crew_service(crew, member)->reload_signal,
                                            "reload");
                n += crew->told > before;
        }
        crew_record(crew, &(Event){ .kind = EVENT_RELOAD_FINISHED, .n = n });
        crew_settle(crew);
        return n;
}

void crew_on_reaper_settled(Crew *crew, const char *owner, uint64_t released, uint64_t buried) {
        if (crew->finished)
                return;
        crew->ledger.settled = true;
        crew->ledger.released += released;
        crew->ledger.buried += buried;
        crew_record(crew,
                    &(Event){ .kind = EVENT_REAPER_SETTLED, .owner = owner, .released = released, .buried = buried });
}

void crew_on_database_quiet(Crew *crew, uint64_t sessions) {
        if (crew->finished)
                return;
        crew->ledger.quiet = true;
        crew->ledger.sessions = sessions;
        crew_record(crew, &(Event){ .kind = EVENT_DATABASE_QUIET, .sessions = sessions });
}

void crew_set_blind(Crew *crew) {
        crew->blind = true;
}

void crew_on_own_fault(Crew *crew, const char *what, int error) {
        if (crew->finished)
                return;
        crew_record(crew, &(Event){ .kind = EVENT_SUPERVISOR_FAILED, .text = what, .error = strerrordesc_np(error) });
        crew_end(crew, "fault", false);
}

bool crew_is_ending(const Crew *crew) {
        return conductor_is_ending(&crew->conductor);
}
