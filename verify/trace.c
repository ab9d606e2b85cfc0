/* trace.c - see trace.h. */
#include "verify/trace.h"
#include <stdlib.h>

static const char *const words[_BLIND_SPOT_MAX] = {
        [BLIND_IO_URING] = "io_uring", [BLIND_SHARED_MAPPING] = "shared-mapping",
        [BLIND_DAEMON] = "daemon",     [BLIND_SETUID] = "setuid",
        [BLIND_PTRACE] = "ptrace",
};

const char *blind_spot_to_string(BlindSpot spot) {
        return (size_t)spot < _BLIND_SPOT_MAX ? words[spot] : NULL;
}

static void free_texts(char **texts, size_t n) {
        for (size_t i = 0; i < n; i++)
                free(texts[i]);
        free(texts);
}

static void answer_done(Answer *answer) {
        free(answer->output);
        free(answer->complaint);
}

void trace_done(Trace *trace) {
        for (size_t i = 0; i < trace->n_effects; i++) {
                free(trace->effects[i].text);
                free(trace->effects[i].site);
        }
        free(trace->effects);
        answer_done(&trace->first);
        answer_done(&trace->second);
        free_texts(trace->left, trace->n_left);
        free_texts(trace->listeners, trace->n_listeners);
        for (size_t i = 0; i < _BLIND_SPOT_MAX; i++)
                free(trace->blind[i]);
        *trace = (Trace){ 0 };
}
