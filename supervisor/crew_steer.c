/* crew_steer.c - what persons ask for: starts, stops and restarts, in the order that steering decides, and signals. */
#include <errno.h>
#include <stdlib.h>

#include "base/take.h"
#include "supervisor/crew_internal.h"

/* Members from `first` on that a target means. */
static Member *meant(Crew *crew, const SteerTarget *target, unsigned *ret_n) {
        Member *first = &crew->members[crew->tallies[target->service].first_member];
        *ret_n = target->number > 0 ? 1 : crew->config->services[target->service].instances;
        return first + (target->number > 0 ? target->number - 1 : 0);
}

static Member *all_of(Crew *crew, uint32_t service, unsigned *ret_n) {
        return meant(crew, &(SteerTarget){ .service = service }, ret_n);
}

/* It is there, or will be, as far as persons have their say. */
static bool is_up(const Member *member) {
        return !life_is_resting(member->life.state) && !member->life.held && !(member->due && !member->renews);
}

/* An init task that did what it had to do is there for those who require it. */
static bool is_done(const Crew *crew, const Member *member) {
        return member->life.state == LIFE_DONE && crew_service(crew, member)->type == SERVICE_ONESHOT;
}

static void count_all(Crew *crew, SteeringService *services) {
        for (uint32_t i = 0; i < crew->n_members; i++) {
                const Member *member = &crew->members[i];
                SteeringService *service = &services[member->service];
                service->up += is_up(member);
                service->done += is_done(crew, member);
                service->failed += member->life.state == LIFE_FAILED;
        }
}

static void count_named(Crew *crew, const SteerTarget *targets, size_t n, SteeringService *services) {
        for (size_t t = 0; t < n; t++) {
                unsigned n_meant;
                Member *member = meant(crew, &targets[t], &n_meant);
                for (unsigned i = 0; i < n_meant; i++) {
                        services[targets[t].service].named += !member[i].named;
                        services[targets[t].service].named_up += !member[i].named && is_up(&member[i]);
                        member[i].named = true;
                }
        }
}

/* Told to come again by an earlier wish, and not there yet. */
static void count_returning(Crew *crew, SteeringService *services) {
        for (uint32_t i = 0; i < crew->n_members; i++) {
                const Member *member = &crew->members[i];
                services[member->service].returning += member->steered && !member->named && is_up(member);
        }
}

static void forget_named(Crew *crew, const SteerTarget *targets, size_t n) {
        for (size_t t = 0; t < n; t++) {
                unsigned n_meant;
                Member *member = meant(crew, &targets[t], &n_meant);
                for (unsigned i = 0; i < n_meant; i++)
                        member[i].named = false;
        }
}

typedef struct Steering {
        Crew *crew;
        Steer steer;
        void (*told)(void *userdata, uint32_t member, SteerEffect effect);
        void *userdata;
} Steering;

static void tell(const Steering *steering, Member *member, SteerEffect effect) {
        member->steered = effect != STEER_STAYS;
        if (steering->told)
                steering->told(steering->userdata, crew_index(steering->crew, member), effect);
}

static void is_due_no_more(Crew *crew, Member *member) {
        member->due = member->renews = false;
        crew->tallies[member->service].due--;
        crew->n_due--;
        crew->stops_dirty = true;
}

static void be_going(Crew *crew, Member *member) {
        if (member->going || life_is_down(member->life.state))
                return;
        member->going = true;
        crew->going.of_service[member->service]++;
        crew->going.of_phase[crew_service(crew, member)->phase]++;
}

/* Who serves, or is about to, waits until those are gone who go first; whoever does not may go at once. */
static void be_due(Crew *crew, Member *member, bool renews) {
        LifeState state = member->life.state;
        be_going(crew, member);
        if (!member->due) {
                member->due = true;
                crew->tallies[member->service].due++;
                crew->n_due++;
        }
        member->renews = renews;
        crew->stops_dirty = true;
        if (state != LIFE_STARTING && state != LIFE_READY)
                crew_go(crew, member);
}

void crew_go(Crew *crew, Member *member) {
        LifeHappening what = member->renews ? LIFE_RENEW_WANTED : LIFE_HALT_WANTED;
        is_due_no_more(crew, member);
        crew_live(crew, member, what);
}

void crew_is_gone(Crew *crew, Member *member) {
        if (!member->going)
                return;
        member->going = false;
        crew->going.of_service[member->service]--;
        crew->going.of_phase[crew_service(crew, member)->phase]--;
        crew->stops_dirty = true;
}

static void renew(const Steering *steering, Member *member) {
        Crew *crew = steering->crew;
        member->requirement_failed = false;
        member->respawn = (Respawn){ 0 };
        crew->tallies[member->service].closed = false; /* what is needed is made by the next start */
        tell(steering, member, STEER_COMES);
        crew_unsettle(crew, member);
        crew_live(crew, member, LIFE_RENEW_WANTED);
}

/* Its present run, or its turn that is to come, will do. */
static bool comes_anyway(const Member *member) {
        LifeState state = member->life.state;
        return !life_will_rest(member->life) && (state == LIFE_WAITING || state == LIFE_PRE_START ||
                                                 state == LIFE_STARTING || state == LIFE_READY || member->life.again);
}

/* Something that it requires is about to be asked. */
static bool loses_its_ground(const Crew *crew, const Member *member) {
        const Relation *requires = service_requires(crew_service(crew, member));
        for (unsigned i = 0; i < requires->n; i++)
                if (crew->tallies[requires->items[i]].due > 0)
                        return true;
        return false;
}

static void come(const Steering *steering, Member *member) {
        bool was_to_go = member->due && !member->renews;
        if (was_to_go && loses_its_ground(steering->crew, member)) {
                member->renews = true; /* it cannot stay: it goes, and comes again */
                tell(steering, member, STEER_COMES);
                crew_unsettle(steering->crew, member);
                return;
        }
        if (was_to_go) {
                is_due_no_more(steering->crew, member);
                crew_is_gone(steering->crew, member);
        }
        if (!comes_anyway(member))
                renew(steering, member);
        else if (member->life.state != LIFE_READY || member->due)
                tell(steering, member, STEER_ON_ITS_WAY);
        else if (was_to_go)
                tell(steering, member, STEER_STAYS);
}

static void go(const Steering *steering, Member *member) {
        if (life_is_resting(member->life.state))
                return;
        tell(steering, member, STEER_GOES);
        be_going(steering->crew, member);
        if (!member->life.held)
                be_due(steering->crew, member, false);
}

static void go_and_come(const Steering *steering, Member *member) {
        LifeState state = member->life.state;
        if (life_is_down(state) || state == LIFE_BACKOFF || member->life.held || member->life.again) {
                be_going(steering->crew, member);
                come(steering, member);
                return;
        }
        member->requirement_failed = false;
        tell(steering, member, STEER_COMES);
        crew_unsettle(steering->crew, member);
        be_due(steering->crew, member, true);
}

static void steer_member(const Steering *steering, Member *member, const SteeringService *service) {
        bool is_pulled = service->comes && !is_up(member) && !is_done(steering->crew, member);
        if (!member->named && is_pulled)
                come(steering, member);
        if (!member->named && (is_pulled || !service->goes || !is_up(member)))
                return;
        switch (steering->steer) {
        case STEER_START: come(steering, member); break;
        case STEER_STOP: go(steering, member); break;
        case STEER_RESTART: go_and_come(steering, member); break;
        case _STEER_MAX: break;
        }
}

/* Who cannot start, of those who are to: something of it outlived SIGKILL. */
static Member *find_left(Crew *crew, Steer steer, const SteeringService *services) {
        for (uint32_t i = 0; steer != STEER_STOP && i < crew->n_members; i++) {
                Member *member = &crew->members[i];
                if (member->life.state == LIFE_LEFT && (member->named || services[member->service].comes))
                        return member;
        }
        return NULL;
}

static int reach_and_steer(const Steering *steering, SteeringService *services, uint32_t *ret_member) {
        Crew *crew = steering->crew;
        size_t n = crew->config->n_services;
        int r = steering_reach(steering->steer, crew->config->services, n, services);
        if (r < 0)
                return r;
        const Member *left = find_left(crew, steering->steer, services);
        if (left) {
                *ret_member = crew_index(crew, left);
                return -EBUSY;
        }
        for (uint32_t i = 0; i < crew->n_members; i++)
                if (crew->members[i].life.held) /* whoever wanted it: who goes is waited for */
                        be_going(crew, &crew->members[i]);
        for (uint32_t i = 0; i < crew->n_members && !crew_is_ending(crew); i++)
                if (services[crew->members[i].service].named > 0 || services[crew->members[i].service].goes ||
                    services[crew->members[i].service].comes)
                        steer_member(steering, &crew->members[i], &services[crew->members[i].service]);
        return 0;
}

int crew_steer(Crew *crew, Steer steer, const SteerTarget *targets, size_t n,
               void (*told)(void *userdata, uint32_t member, SteerEffect effect), void *userdata,
               uint32_t *ret_member) {
        const Steering steering = { .crew = crew, .steer = steer, .told = told, .userdata = userdata };
        if (crew->finished || crew_is_ending(crew))
                return -ESHUTDOWN;
        if (crew->config->single)
                return -EOPNOTSUPP;
        _cleanup_(freep) SteeringService *services = calloc(crew->config->n_services + 1, sizeof *services);
        if (!services)
                return -ENOMEM;
        count_all(crew, services);
        count_named(crew, targets, n, services);
        count_returning(crew, services);
        int r = reach_and_steer(&steering, services, ret_member);
        forget_named(crew, targets, n);
        crew_settle(crew);
        return r;
}

/* ---- In its order ---- */

static void release(Crew *crew, uint32_t service) {
        unsigned n;
        Member *member = all_of(crew, service, &n);
        for (unsigned i = 0; i < n && !crew_is_ending(crew); i++, member++) {
                if (member->due)
                        crew_go(crew, member);
        }
}

void crew_release_steered(Crew *crew) {
        for (uint32_t s = 0; s < crew->config->n_services && crew->n_due > 0 && !crew_is_ending(crew); s++)
                if (crew->tallies[s].due > 0 && steering_may_go(&crew->config->services[s], &crew->going))
                        release(crew, s);
}

void crew_forget_steered(Crew *crew, Member *member) {
        if (member->due)
                is_due_no_more(crew, member);
        member->steered = false; /* it goes all the same, and is waited for */
}

void crew_forget_steering(Crew *crew) {
        for (uint32_t i = 0; i < crew->n_members; i++) {
                crew_forget_steered(crew, &crew->members[i]);
                crew_is_gone(crew, &crew->members[i]);
        }
}

/* Whoever waits for it waits until it is ready again. */
void crew_unsettle(Crew *crew, Member *member) {
        if (!member->settled)
                return;
        member->settled = false;
        crew->tallies[member->service].settled--;
        if (!crew_service(crew, member)->by_hand)
                crew->unsettled[crew_service(crew, member)->phase]++;
}

void crew_rise(Crew *crew, Member *member, LifeState before) {
        ServiceTally *tally = &crew->tallies[member->service];
        tally->resting--;
        tally->failed = (uint16_t)(tally->failed - (before == LIFE_FAILED));
        crew->alive[crew_service(crew, member)->phase]++;
        if (!member->counted_over)
                return;
        member->counted_over = false;
        tally->over--;
        crew->n_over -= !crew_service(crew, member)->builtin;
}

/* ---- Signals ---- */

int crew_signal(Crew *crew, SteerTarget target, int signal_number) {
        unsigned n, before = crew->told;
        if (crew->finished || crew_is_ending(crew))
                return -ESHUTDOWN;
        Member *member = meant(crew, &target, &n);
        for (unsigned i = 0; i < n; i++)
                if (life_has_main(member[i].life.state) && member[i].pid > 0 && member[i].executed)
                        crew->stage->signal(crew->self, crew_index(crew, &member[i]), WHOM_MAIN, signal_number,
                                            "request");
        crew_settle(crew);
        return (int)(crew->told - before);
}
