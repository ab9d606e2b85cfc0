/* crew_start.c - whose turn it is to start: phases in reverse, After and Requires within one; and whether all are
 * ready. */
#include "supervisor/crew_internal.h"

/* What is to end and to come up again does not count until then. */
static bool is_of_the_past(const Member *member) {
        return (member->due && member->renews) || (member->life.again && !life_is_resting(member->life.state));
}

void crew_mark_settled(Crew *crew, Member *member) {
        if (member->settled || is_of_the_past(member))
                return;
        const ServiceConfig *service = crew_service(crew, member);
        member->settled = true;
        crew->tallies[member->service].settled++;
        crew->unsettled[service->phase] -= !service->by_hand;
        if (service_before(service)->n > 0 || crew->unsettled[service->phase] == 0)
                crew->starts_dirty = true;
}

static bool requirement_failed(const Crew *crew, const ServiceConfig *service) {
        const Relation *requires = service_requires(service);
        for (unsigned i = 0; i < requires->n; i++)
                if (crew->tallies[requires->items[i]].failed > 0)
                        return true;
        return false;
}

static bool may_start(const Crew *crew, const ServiceConfig *service) {
        const Relation *after = service_after(service);
        for (unsigned i = 0; i < after->n; i++) {
                uint16_t other = after->items[i];
                if (crew->tallies[other].settled < crew->config->services[other].instances)
                        return false;
        }
        return !requirement_failed(crew, service); /* which may have been in this very round */
}

/* What requires a service that failed for good does not start, and stops. */
static void stop_dependents(Crew *crew) {
        for (size_t s = 0; s < crew->config->n_services && !crew_is_ending(crew); s++) {
                const ServiceConfig *service = &crew->config->services[s];
                if (!requirement_failed(crew, service))
                        continue;
                Member *member = &crew->members[crew->tallies[s].first_member];
                for (unsigned i = 0; i < service->instances && !crew_is_ending(crew); i++, member++) {
                        if (member->requirement_failed || member->life.held || life_is_resting(member->life.state))
                                continue;
                        member->requirement_failed = true;
                        crew_forget_steered(crew, member);
                        if (member->life.state == LIFE_WAITING || member->life.state == LIFE_BACKOFF)
                                crew_give_up(crew, member, "what it requires failed");
                        else
                                crew_live(crew, member, LIFE_HALT_WANTED);
                }
        }
}

/* A bounded number of spawns, then the signals have their turn again: a start of thousands must not make PID 1 deaf. */
static bool give_turns_of(Crew *crew, size_t index, unsigned *left) {
        const ServiceConfig *service = &crew->config->services[index];
        ServiceTally *tally = &crew->tallies[index];
        for (unsigned i = 0; tally->waiting > 0 && i < service->instances; i++) {
                Member *member = &crew->members[tally->first_member + i];
                if (member->life.state != LIFE_WAITING)
                        continue;
                if (crew_is_ending(crew))
                        return false;
                if (*left == 0) {
                        crew_alarm(crew, CREW_ALARM_TURNS, crew_now(crew));
                        return false;
                }
                --*left;
                crew_live(crew, member, LIFE_TURN);
                if (service->aside && !crew_is_ending(crew))
                        crew_mark_settled(crew, member);
        }
        return true;
}

/* In the phase that is starting, and in those that have started: there a person may start somebody again. */
static bool give_turns_in_phases(Crew *crew, unsigned *left) {
        int first = (int)steering_first_phase(crew->unsettled, crew->config->n_phases);
        if (first < crew->start_phase)
                first = crew->start_phase;
        for (size_t s = 0; s < crew->config->n_services; s++) {
                const ServiceConfig *service = &crew->config->services[s];
                if ((int)service->phase < first || crew->tallies[s].waiting == 0 || !may_start(crew, service))
                        continue;
                if (!give_turns_of(crew, s, left))
                        return false;
        }
        return true;
}

static const char *first_unready(const Crew *crew) {
        for (uint32_t i = 0; i < crew->n_members; i++)
                if (!crew->members[i].counted_ready)
                        return crew_service(crew, &crew->members[i])->name;
        return "startup finished";
}

static void finish_startup(Crew *crew) {
        crew->startup_told = true;
        crew_alarm(crew, CREW_ALARM_PROGRESS, USEC_INFINITY);
        crew_record(crew, &(Event){ .kind = EVENT_STARTUP_FINISHED,
                                    .took_usec = usec_sub(crew_now(crew), crew->started_usec) });
        crew_tell_readiness(crew, crew->n_not_ready == 0 ? "startup finished" : first_unready(crew));
}

void crew_give_turns(Crew *crew) {
        unsigned left = TURNS_AT_ONCE;
        crew->starts_dirty = false;
        stop_dependents(crew);
        while (!crew_is_ending(crew)) {
                if (!give_turns_in_phases(crew, &left) || crew->start_phase < 0)
                        break;
                if (crew->unsettled[crew->start_phase] > 0)
                        return;
                crew->start_phase--;
        }
        if (crew->start_phase < 0 && !crew->startup_told && !crew_is_ending(crew))
                finish_startup(crew);
}

void crew_tell_readiness(Crew *crew, const char *reason) {
        bool ready = crew->startup_told && !crew_is_ending(crew) && crew->n_not_ready == 0;
        if (crew->ready_told && ready == crew->ready)
                return;
        crew->ready_told = true;
        crew->ready = ready;
        crew->readiness_usec = crew_now(crew);
        crew_record(crew, &(Event){ .kind = EVENT_READINESS_CHANGED, .ready = ready, .reason = reason });
}

/* What has done its work stands in nobody's way, and what is not essential does not either once it has failed for good;
 * but an essential service that is over is no longer there to be ready. */
static bool counts_as_ready(const Crew *crew, const Member *member) {
        const ServiceConfig *service = crew_service(crew, member);
        bool may_be_gone = service->type == SERVICE_ONESHOT || !service->essential;
        bool goes = member->life.state == LIFE_CLEARING || member->life.state == LIFE_POST_STOP;
        if (service->aside || service->by_hand)
                return true;
        if (member->life.state == LIFE_STOPPED)
                return !service->essential;
        if (member->life.state == LIFE_FAILED)
                return !service->essential;
        if (goes && member->has_exited && member->clean && !member->unready && !member->asked &&
            service->restart != RESTART_ALWAYS)
                return may_be_gone;
        return (member->life.state == LIFE_READY && !crew_unready_probe(crew, member)) ||
               (member->life.state == LIFE_DONE && may_be_gone);
}

void crew_update_ready(Crew *crew, Member *member) {
        bool counts = counts_as_ready(crew, member);
        if (counts == member->counted_ready)
                return;
        member->counted_ready = counts;
        crew->n_not_ready += counts ? -1U : 1U;
        if (crew->startup_told && !crew_is_ending(crew))
                crew_tell_readiness(crew, crew_service(crew, member)->name);
}
