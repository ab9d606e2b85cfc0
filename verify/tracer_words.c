/* tracer_words.c - engines and actions of the tracer as words; see tracer.h. */
#include "verify/tracer.h"

static const char *const engines[_TRACER_ENGINE_MAX] = {
        [TRACER_PTRACE] = "ptrace",
        [TRACER_NOTIFY] = "notify",
        [TRACER_NONE] = "none",
};

static const char *const actions[_TRACER_ACTION_MAX] = {
        [TRACER_COUNT] = "count",
        [TRACER_KILL] = "kill",
        [TRACER_SIGNAL] = "signal",
        [TRACER_HOLD] = "hold",
};

const char *tracer_engine_to_string(TracerEngine engine) {
        return (size_t)engine < _TRACER_ENGINE_MAX ? engines[engine] : NULL;
}

const char *tracer_action_to_string(TracerAction action) {
        return (size_t)action < _TRACER_ACTION_MAX ? actions[action] : NULL;
}
