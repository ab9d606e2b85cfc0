/* crew_holds.c - what is held for services over their restarts: when the crew lets go of it. */
#include "supervisor/crew_internal.h"

void crew_close_sockets(Crew *crew, uint32_t service) {
        ServiceTally *tally = &crew->tallies[service];
        if (tally->closed || crew->config->services[service].n_listens == 0)
                return;
        tally->closed = true;
        crew->stage->close_sockets(crew->self, service);
}

/* Now, or in a run that is still to come. */
static bool may_serve(const Member *member) {
        switch (member->life.state) {
        case LIFE_STARTING:
        case LIFE_READY:
        case LIFE_PRE_STOP: return true;
        case LIFE_WAITING:
        case LIFE_PRE_START:
        case LIFE_STOPPING:
        case LIFE_KILLING:
        case LIFE_CLEARING:
        case LIFE_POST_STOP:
        case LIFE_BACKOFF: return !life_will_rest(member->life);
        case LIFE_DONE:
        case LIFE_FAILED:
        case LIFE_LEFT:
        case LIFE_STOPPED:
        case _LIFE_STATE_MAX: break;
        }
        return false;
}

void crew_consider_sockets(Crew *crew, uint32_t service) {
        const Member *member = &crew->members[crew->tallies[service].first_member];
        if (crew->tallies[service].closed || crew->config->services[service].n_listens == 0)
                return;
        for (unsigned i = 0; i < crew->config->services[service].instances; i++)
                if (may_serve(&member[i]))
                        return;
        crew_close_sockets(crew, service);
}

/* It serves, and will go on to. */
static bool stays(const Member *member) {
        return may_serve(member) && !life_will_rest(member->life) && !(member->due && !member->renews);
}

/* Before it is asked, and will not start again: nobody shall connect into nothing. While another instance stays, there
 * is somebody to connect to. */
void crew_close_before_stop(Crew *crew, const Member *member) {
        const Member *other = &crew->members[crew->tallies[member->service].first_member];
        if (!life_will_rest(member->life))
                return;
        for (unsigned i = 0;
             !member->life.stop && !member->requirement_failed && i < crew_service(crew, member)->instances; i++)
                if (stays(&other[i]))
                        return;
        crew_close_sockets(crew, member->service);
}

void crew_drop_store(Crew *crew, const Member *member) {
        if (crew_service(crew, member)->descriptor_store_max > 0)
                crew->stage->drop_store(crew->self, crew_index(crew, member));
}
