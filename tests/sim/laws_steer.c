/* laws_steer.c - O: what persons ask for is done, in order, and in an ending it is not; see laws.h. */
#include "tests/sim/laws_internal.h"
#include <errno.h>
#include <string.h>

static bool is(const Laws *laws, uint32_t member, const char *state) {
        return strcmp(crew_view(laws->world->crew, member).state, state) == 0;
}

static bool is_down(const Laws *laws, uint32_t member) {
        return laws_is_resting(laws, member) || is(laws, member, "waiting");
}

static bool has(const Relation *relation, uint16_t service) {
        for (uint16_t i = 0; i < relation->n; i++)
                if (relation->items[i] == service)
                        return true;
        return false;
}

/* Whoever comes up anew has a fresh count, and what is held for him is held again. */
void laws_on_steered(Laws *laws, uint32_t member, SteerEffect effect) {
        MemberTruth *truth = &laws->members[member];
        if (laws->ending)
                laws_break(laws, "O", "a person steered member %u in the ending", member);
        truth->held = effect == STEER_GOES;
        truth->steered_usec = laws->world->now_usec;
        if (effect != STEER_COMES)
                return;
        ServiceTruth *service = &laws->services[laws->world->schedule->service_of[member]];
        truth->anew = true;
        truth->doomed = truth->dropped = false;
        service->closed = service->stopped = false;
}

void laws_on_steering(Laws *laws, int answer) {
        if (laws->ending && laws->asked_usec < laws->world->now_usec && answer != -ESHUTDOWN && !laws->world->finished)
                laws_break(laws, "O", "a person was not sent away in the ending: %d", answer);
}

void laws_on_starting(Laws *laws, uint32_t member) {
        MemberTruth *truth = &laws->members[member];
        if (!truth->had_turn)
                laws_check_start_order(laws, member);
        truth->had_turn = true;
        if (!truth->anew)
                return;
        truth->anew = truth->gave_up = false;
        truth->failed_runs = 0;
        truth->restart_usec = 0;
        truth->turn++;
}

/* Nobody is started whom a person stopped, and nobody without what he requires. */
void laws_check_steered_start(Laws *laws, uint32_t member) {
        const Schedule *schedule = laws->world->schedule;
        const Relation *requires = service_requires(laws_service(laws, member));
        if (laws->members[member].held)
                laws_break(laws, "O", "member %u was started, and a person had stopped it", member);
        if (laws_service(laws, member)->by_hand && !laws->members[member].ever_spawned &&
            laws->members[member].turn == 0)
                laws_break(laws, "O", "member %u was started, and nobody had asked for it", member);
        for (uint16_t i = 0; i < requires->n; i++) {
                bool somebody = false;
                for (uint32_t n = 0; n < schedule->services[requires->items[i]].instances; n++)
                        somebody |= !is(laws, schedule->first_member[requires->items[i]] + n, "stopped");
                if (!somebody)
                        laws_break(laws, "O", "member %u was started, and what it requires is stopped", member);
        }
}

/* All of a service goes down, by one request: nobody who requires it is there any more. */
static bool goes_wholly(const Laws *laws, uint16_t service, usec_t steered_usec) {
        const Schedule *schedule = laws->world->schedule;
        for (uint32_t i = 0; i < schedule->services[service].instances; i++) {
                uint32_t member = schedule->first_member[service] + i;
                const MemberTruth *truth = &laws->members[member];
                bool goes = truth->steered_usec == steered_usec && (truth->held || truth->anew);
                if (!goes && !laws_is_resting(laws, member))
                        return false;
        }
        return true;
}

/* Then it is asked at once, whoever requires it in turn. */
static bool lost_what_it_requires(const Laws *laws, uint32_t member) {
        const Schedule *schedule = laws->world->schedule;
        for (uint32_t other = 0; other < schedule->config.n_members; other++)
                if (has(service_requires(laws_service(laws, member)), schedule->service_of[other]) &&
                    (is(laws, other, "failed") || is(laws, other, "left")))
                        return true;
        return false;
}

void laws_check_steered_stop(Laws *laws, uint32_t member, const char *reason) {
        const Schedule *schedule = laws->world->schedule;
        uint16_t service = schedule->service_of[member];
        bool by_person = (strcmp(reason, "stop") == 0 || strcmp(reason, "restart") == 0) &&
                         (laws->members[member].held || laws->members[member].anew);
        if (laws->ending || !by_person || lost_what_it_requires(laws, member) ||
            !goes_wholly(laws, service, laws->members[member].steered_usec))
                return;
        for (uint32_t other = 0; other < schedule->config.n_members; other++)
                if (has(service_requires(laws_service(laws, other)), service) && !is_down(laws, other))
                        laws_break(laws, "O", "member %u was asked while member %u, which requires it, was %s", member,
                                   other, crew_view(laws->world->crew, other).state);
}

static bool is_settled(const Laws *laws, uint16_t service) {
        const Schedule *schedule = laws->world->schedule;
        for (uint32_t i = 0; i < schedule->services[service].instances; i++) {
                uint32_t member = schedule->first_member[service] + i;
                if (!laws_is_resting(laws, member) && (laws->members[member].anew || !is(laws, member, "ready")))
                        return false;
        }
        return true;
}

/* Once all have had their turn, who waits for it waits for somebody. */
static void check_waiting(Laws *laws, uint32_t member) {
        const Relation *after = service_after(laws_service(laws, member));
        if (!laws->started || !is(laws, member, "waiting"))
                return;
        for (uint16_t s = 0; s < laws->world->schedule->config.n_services; s++) {
                bool later = laws->world->schedule->services[s].phase > laws_service(laws, member)->phase;
                if ((later || has(after, s)) && !is_settled(laws, s))
                        return;
        }
        laws_break(laws, "O", "member %u waits for its turn, and for nobody", member);
}

static void check_held(Laws *laws, uint32_t member) {
        const Schedule *schedule = laws->world->schedule;
        const Relation *before = service_before(laws_service(laws, member));
        static const char *const up[] = { "ready", "starting", "pre-start", "backoff", "waiting" };
        bool is_up = false;
        for (size_t i = 0; i < sizeof up / sizeof *up; i++)
                is_up |= is(laws, member, up[i]);
        if (!laws->members[member].held || !is_up || (is(laws, member, "pre-start") && laws->hooks_running > 0))
                return;
        for (uint32_t other = 0; other < schedule->config.n_members; other++)
                if ((has(before, schedule->service_of[other]) ||
                     laws_service(laws, other)->phase < laws_service(laws, member)->phase) &&
                    !is_down(laws, other) &&
                    (laws->members[other].held || laws->members[other].anew || laws->members[other].told_to_go ||
                     laws->members[other].stops_before))
                        return;
        laws_break(laws, "O", "member %u is %s, and a person wants it stopped", member,
                   crew_view(laws->world->crew, member).state);
}

void laws_check_steering(Laws *laws) {
        for (uint32_t m = 0; !laws->ending && m < laws->world->schedule->config.n_members; m++) {
                check_waiting(laws, m);
                check_held(laws, m);
        }
}

bool laws_must_be_essential(const Laws *laws) {
        for (uint32_t m = 0; m < laws->world->schedule->config.n_members; m++)
                if (laws->members[m].doomed)
                        return true;
        return false;
}
