/* steering.c - see steering.h. */
#include "supervisor/steering.h"

#include "base/enumeration.h"
#include "base/take.h"
#include <errno.h>
#include <stdlib.h>

static const char *const steer_words[_STEER_MAX] = {
        [STEER_START] = "start",
        [STEER_STOP] = "stop",
        [STEER_RESTART] = "restart",
};
ENUMERATION(steer, Steer, steer_words)

/* Services that were reached and whose own relations were not looked at yet. */
typedef struct Walk {
        Steer steer;
        const ServiceConfig *services;
        SteeringService *reached;
        uint16_t *queue;
        size_t length;
} Walk;

static bool requires(const ServiceConfig *service, uint16_t other) {
        const Relation *relation = service_requires(service);
        for (uint16_t i = 0; i < relation->n; i++)
                if (relation->items[i] == other)
                        return true;
        return false;
}

/* Nobody of it would be left up. One instance of several may go without anybody's noticing; a restart of the second
 * while the first is still away is noticed. A stop leaves those who return to serve again. */
static bool goes_wholly(Steer steer, const SteeringService *service) {
        unsigned away = service->named_up + (steer == STEER_RESTART && service->named_up > 0 ? service->returning : 0U);
        return service->up > 0 && (service->goes || away == service->up);
}

static void reach_dependents(Walk *walk, uint16_t index) {
        const Relation *before = service_before(&walk->services[index]);
        for (uint16_t i = 0; i < before->n; i++) {
                uint16_t other = before->items[i];
                SteeringService *dependent = &walk->reached[other];
                if (dependent->goes || dependent->up == 0 || !requires(&walk->services[other], index))
                        continue;
                bool went = goes_wholly(walk->steer, dependent); /* by name: it was looked at, or will be */
                dependent->goes = true;
                if (!went)
                        walk->queue[walk->length++] = other;
        }
}

/* Enough of it is there for those who require it. */
static bool is_provided(const SteeringService *service) {
        return service->failed == 0 && service->up + service->done > 0;
}

/* It is to be up when all is done. */
static bool comes_by_itself(Steer steer, const SteeringService *service) {
        return steer != STEER_STOP && (service->named > 0 || service->goes);
}

static void reach_requirements(Walk *walk, uint16_t index) {
        const Relation *relation = service_requires(&walk->services[index]);
        for (uint16_t i = 0; i < relation->n; i++) {
                SteeringService *other = &walk->reached[relation->items[i]];
                if (other->comes || is_provided(other))
                        continue;
                other->comes = true;
                if (!comes_by_itself(walk->steer, other)) /* else it was looked at, or will be */
                        walk->queue[walk->length++] = relation->items[i];
        }
}

static void walk_on(Walk *walk, size_t *at, void (*reach)(Walk *walk, uint16_t index)) {
        while (*at < walk->length)
                reach(walk, walk->queue[(*at)++]);
}

int steering_reach(Steer steer, const ServiceConfig *services, size_t n, SteeringService *reached) {
        _cleanup_(freep) uint16_t *queue = malloc((2 * n + 1) * sizeof *queue); /* a service may go, and may come */
        Walk walk = { .steer = steer, .services = services, .reached = reached, .queue = queue };
        size_t at = 0;
        if (!queue)
                return -ENOMEM;
        for (size_t i = 0; steer != STEER_START && i < n; i++)
                if (goes_wholly(steer, &reached[i]) && !reached[i].goes)
                        queue[walk.length++] = (uint16_t)i;
        walk_on(&walk, &at, reach_dependents);
        for (size_t i = 0; i < n; i++)
                if (comes_by_itself(steer, &reached[i]))
                        queue[walk.length++] = (uint16_t)i;
        walk_on(&walk, &at, reach_requirements);
        return 0;
}

bool steering_may_go(const ServiceConfig *service, const SteeringGoing *going) {
        const Relation *before = service_before(service);
        for (uint16_t i = 0; i < before->n; i++)
                if (going->of_service[before->items[i]] > 0)
                        return false;
        for (uint16_t phase = 0; phase < service->phase; phase++)
                if (going->of_phase[phase] > 0)
                        return false;
        return true;
}

unsigned steering_first_phase(const uint32_t *unsettled, unsigned n_phases) {
        unsigned first = n_phases - 1;
        while (first > 0 && unsettled[first] == 0)
                first--;
        return first;
}
