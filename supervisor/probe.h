/* probe.h - what the checks of a probe mean: whether a service has started, lives, is ready; decides, does nothing
 * itself.
 *
 * Pure. Periods and thresholds as Kubernetes means them, with one addition: while a service starts, its start-up and
 * readiness probes look more often than once a period, so that a fast start is seen fast; of these looks a failure is
 * counted once a period, and a success always. Source: Kubernetes, core/v1 Probe. */
#pragma once
#include "base/usec.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum ProbeKind { PROBE_STARTUP, PROBE_LIVENESS, PROBE_READINESS, _PROBE_KIND_MAX } ProbeKind;
typedef enum ProbeBy {
        PROBE_BY_NONE, /* there is no such probe */
        PROBE_BY_HTTP,
        PROBE_BY_TCP,
        PROBE_BY_UNIX,
        PROBE_BY_EXEC,
        _PROBE_BY_MAX,
} ProbeBy;

typedef struct ProbeConfig {
        ProbeBy by;
        char *target; /* http: http://HOST:PORT/PATH; tcp: HOST:PORT; unix: PATH; exec: NULL */
        char **argv;  /* of exec, NULL-terminated; else NULL */
        usec_t period_usec, timeout_usec, delay_usec;
        uint16_t failures, successes; /* in a row; at least 1 */
} ProbeConfig;

typedef enum ProbeAnswer {
        PROBE_SUCCEEDED,
        PROBE_FAILED,
        PROBE_UNKNOWN, /* nobody could look, or it was called off: that says nothing of the service */
} ProbeAnswer;

typedef enum ProbeOpinion { PROBE_UNDECIDED, PROBE_GOOD, PROBE_BAD } ProbeOpinion;

/* Of one run of a service. */
typedef struct Probe {
        ProbeOpinion opinion;
        uint16_t successes, failures; /* in a row, as far as they count */
        usec_t counted_usec;          /* when the check began whose failure counted last; 0: none did */
        usec_t pause_usec;            /* the last pause between two looks while starting; 0: none yet */
} Probe;

typedef struct ProbeStep {
        Probe next;
        bool changed; /* the opinion; a readiness probe's goes both ways, the others' is for good once they decided */
} ProbeStep;

const char *probe_kind_to_string(ProbeKind kind); /* startup, liveness, readiness */
int probe_kind_from_string(const char *text);
const char *probe_by_to_string(ProbeBy by); /* none, http, tcp, unix, exec */
int probe_by_from_string(const char *text);

/* Liveness begins GOOD, the others UNDECIDED. The first check begins `delay_usec` after the run's exec. */
Probe probe_begin(ProbeKind kind);
/* `begun_usec`: when the check began. `starting`: the service was not ready yet. A failure that does not count still
 * ends a row of successes. */
ProbeStep probe_step(const ProbeConfig *config, ProbeKind kind, Probe now, ProbeAnswer answer, bool starting,
                     usec_t begun_usec);
/* When the next check begins, after one that began at `begun_usec` and ended at `now_usec`: never before that one's
 * end. USEC_INFINITY: never again in this run. While starting one look falls on the instant at which a failure counts
 * again, so that `failures` are reached when Kubernetes reaches them; remembers its pause in `probe`. */
usec_t probe_next_usec(const ProbeConfig *config, ProbeKind kind, Probe *probe, bool starting, usec_t begun_usec,
                       usec_t now_usec);
