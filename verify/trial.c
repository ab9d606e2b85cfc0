/* trial.c - see trial.h. */
#include "verify/trial.h"
#include "base/take.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const Step steps[_TRIAL_KIND_MAX][TRIAL_STEPS_MAX + 1] = {
        [TRIAL_SINGLE] = { STEP_SETUP, STEP_RUN, STEP_OBSERVE },
        [TRIAL_TWICE] = { STEP_SETUP, STEP_RUN, STEP_OBSERVE, STEP_RUN, STEP_OBSERVE },
        [TRIAL_CRASH] = { STEP_SETUP, STEP_KILL, STEP_RUN, STEP_OBSERVE },
        [TRIAL_SIGNAL] = { STEP_SETUP, STEP_SIGNAL, STEP_RUN, STEP_OBSERVE },
        [TRIAL_OVERLAP] = { STEP_SETUP, STEP_HOLD, STEP_OBSERVE },
        [TRIAL_LATE_WITHOUT] = { STEP_SETUP, STEP_RUN, STEP_LATER, STEP_OBSERVE },
        [TRIAL_LATE] = { STEP_SETUP, STEP_RUN, STEP_LATER, STEP_RUN, STEP_OBSERVE },
        [TRIAL_EARLY_WITHOUT] = { STEP_SETUP, STEP_EARLY, STEP_OBSERVE },
        [TRIAL_EARLY] = { STEP_SETUP, STEP_EARLY, STEP_RUN, STEP_OBSERVE },
        [TRIAL_ONE_THEN_OTHER] = { STEP_SETUP, STEP_OTHER_SETUP, STEP_RUN, STEP_OTHER, STEP_OBSERVE },
        [TRIAL_OTHER_THEN_ONE] = { STEP_SETUP, STEP_OTHER_SETUP, STEP_OTHER, STEP_RUN, STEP_OBSERVE },
};

static const char *const words[_TRIAL_KIND_MAX] = {
        [TRIAL_SINGLE] = "single",
        [TRIAL_TWICE] = "twice",
        [TRIAL_CRASH] = "crash",
        [TRIAL_SIGNAL] = "signal",
        [TRIAL_OVERLAP] = "overlap",
        [TRIAL_LATE_WITHOUT] = "late-without",
        [TRIAL_LATE] = "late",
        [TRIAL_EARLY_WITHOUT] = "early-without",
        [TRIAL_EARLY] = "early",
        [TRIAL_ONE_THEN_OTHER] = "one-then-other",
        [TRIAL_OTHER_THEN_ONE] = "other-then-one",
};

const char *trial_kind_to_string(TrialKind kind) {
        return (size_t)kind < _TRIAL_KIND_MAX ? words[kind] : NULL;
}

const Step *trial_steps(TrialKind kind) {
        return steps[kind];
}

static bool site_is_new(const Trace *trace, size_t i) {
        for (size_t k = 0; k < i; k++)
                if (strcmp(trace->effects[k].site, trace->effects[i].site) == 0)
                        return false;
        return true;
}

int trial_points(const Trace *reference, bool with_end, unsigned **ret, size_t *ret_n, size_t *ret_n_sites) {
        size_t effects = reference->n_effects, n = 0, sites;
        _cleanup_(freep) unsigned *points = calloc(effects + 1, sizeof *points);

        if (!points)
                return -ENOMEM;
        if (with_end)
                points[n++] = (unsigned)effects + 1;
        for (size_t i = 0; i < effects; i++)
                if (site_is_new(reference, i))
                        points[n++] = (unsigned)i + 1;
        sites = n - (with_end ? 1 : 0);
        for (size_t i = 0; i < effects; i++)
                if (!site_is_new(reference, i))
                        points[n++] = (unsigned)i + 1;
        *ret_n = n;
        *ret_n_sites = sites;
        *ret = TAKE(points);
        return 0;
}
