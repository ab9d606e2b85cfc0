/* trial.h - plans trials: which runs in which order in one world, and before which effects.
 *
 * Pure but for malloc. Says nothing about how a run is made, nor what it means. */
#pragma once
#include "verify/property.h"
#include "verify/trace.h"

typedef enum Step {
        STEP_END,
        STEP_SETUP,
        STEP_EARLY,
        STEP_LATER,
        STEP_RUN,
        STEP_KILL,   /* the run is killed before effect `at` */
        STEP_SIGNAL, /* the run's tree gets SIGTERM before effect `at` */
        STEP_HOLD,   /* the run is held before effect `at`, while a second one goes to its end */
        STEP_OTHER,  /* commute: Setup and run are of the other hook of the pair */
        STEP_OTHER_SETUP,
        STEP_OBSERVE, /* the state is kept */
} Step;

#define TRIAL_STEPS_MAX  6
#define TRIAL_STATES_MAX 2

typedef enum TrialKind {
        TRIAL_SINGLE, /* the calibration, twice */
        TRIAL_TWICE,  /* repeat, answer, quiet */
        TRIAL_CRASH,
        TRIAL_SIGNAL,
        TRIAL_OVERLAP,
        TRIAL_LATE_WITHOUT, /* run, successor: what late is compared with, twice */
        TRIAL_LATE,
        TRIAL_EARLY_WITHOUT,
        TRIAL_EARLY,
        TRIAL_ONE_THEN_OTHER, /* commute, twice */
        TRIAL_OTHER_THEN_ONE,
        _TRIAL_KIND_MAX
} TrialKind;

const char *trial_kind_to_string(TrialKind kind);

/* STEP_END-terminated; of static memory. */
const Step *trial_steps(TrialKind kind);

/* The order in which the points 1..K+1 of a sweep are tried: K+1 first (nothing is cut short there), then the first of
 * each distinct site, then the rest. `with_end` says whether K+1 is one. 0 or -ENOMEM; free() *ret. */
int trial_points(const Trace *reference, bool with_end, unsigned **ret, size_t *ret_n, size_t *ret_n_sites);

/* Up to here all points are tried whatever the budget is. */
#define TRIAL_POINTS_ALWAYS 200
