/* steering.h - whom a person's start, stop or restart reaches besides those whom he named, and who of them goes first:
 * decides, does nothing itself.
 *
 * Pure but for malloc. Who requires a service cannot be without it: he is stopped and restarted with it, and who is
 * started brings what he requires. After and the phases alone bring nobody, but order those who are reached anyway.
 * Source: contracts/config.md, After and Requires. */
#pragma once
#include "supervisor/config.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum _one_byte_ Steer {
        STEER_START,
        STEER_STOP,
        STEER_RESTART,
        _STEER_MAX,
} Steer;

const char *steer_to_string(Steer steer); /* the words of the command line */
int steer_from_string(const char *text);

/* One service, in members. */
typedef struct SteeringService {
        uint16_t up;        /* that run, or wait for their turn or their restart */
        uint16_t done;      /* init tasks that did what they had to do */
        uint16_t failed;    /* for good */
        uint16_t named;     /* by the person */
        uint16_t named_up;  /* both */
        uint16_t returning; /* up, not named, and away by a person's wish until it is ready again */
        bool goes;          /* answer: all that are up of it go down, too */
        bool comes;         /* answer: all that rest of it, and are not done, come up, too */
} SteeringService;

/* Fills in `goes` and `comes` of each service, which are false. 0 or -ENOMEM. */
int steering_reach(Steer steer, const ServiceConfig *services, size_t n, SteeringService *reached);

/* Who is to go down, and has not yet. */
typedef struct SteeringGoing {
        uint16_t *of_service;          /* members of each */
        uint32_t of_phase[PHASES_MAX]; /* and of each phase */
} SteeringGoing;

/* As in an ending: False while somebody goes who comes after `service`, or who is of an earlier phase. */
bool steering_may_go(const ServiceConfig *service, const SteeringGoing *going);
/* As in the start: the first phase, from 0, whose members may have their turn, when of each phase so many are awaited:
 * those of the later ones come first. */
unsigned steering_first_phase(const uint32_t *unsettled, unsigned n_phases);
