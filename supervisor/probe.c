/* probe.c - see probe.h. */
#include "supervisor/probe.h"

#include "base/enumeration.h"

#define FIRST_PAUSE_USEC (100 * USEC_PER_MSEC)

static const char *const kind_words[_PROBE_KIND_MAX] = {
        [PROBE_STARTUP] = "startup",
        [PROBE_LIVENESS] = "liveness",
        [PROBE_READINESS] = "readiness",
};
ENUMERATION(probe_kind, ProbeKind, kind_words)

static const char *const by_words[_PROBE_BY_MAX] = {
        [PROBE_BY_NONE] = "none", [PROBE_BY_HTTP] = "http", [PROBE_BY_TCP] = "tcp",
        [PROBE_BY_UNIX] = "unix", [PROBE_BY_EXEC] = "exec",
};
ENUMERATION(probe_by, ProbeBy, by_words)

Probe probe_begin(ProbeKind kind) {
        return (Probe){ .opinion = kind == PROBE_LIVENESS ? PROBE_GOOD : PROBE_UNDECIDED };
}

static bool is_for_good(ProbeKind kind, ProbeOpinion opinion) {
        return kind != PROBE_READINESS && (opinion == PROBE_BAD || (kind == PROBE_STARTUP && opinion == PROBE_GOOD));
}

/* A liveness probe keeps to its period from the beginning: looking more often could only kill sooner. */
static bool is_eager(ProbeKind kind, bool starting) {
        return starting && kind != PROBE_LIVENESS;
}

static bool may_count(const ProbeConfig *config, const Probe *probe, usec_t begun_usec) {
        return probe->counted_usec == 0 || begun_usec >= usec_add(probe->counted_usec, config->period_usec);
}

static void succeed(const ProbeConfig *config, Probe *probe) {
        probe->failures = 0;
        if (probe->successes < config->successes)
                probe->successes++;
        if (probe->successes >= config->successes)
                probe->opinion = PROBE_GOOD;
}

static void fail(const ProbeConfig *config, Probe *probe, bool counts, usec_t begun_usec) {
        probe->successes = 0;
        if (!counts)
                return;
        probe->counted_usec = begun_usec;
        if (probe->failures < config->failures)
                probe->failures++;
        if (probe->failures >= config->failures)
                probe->opinion = PROBE_BAD;
}

ProbeStep probe_step(const ProbeConfig *config, ProbeKind kind, Probe now, ProbeAnswer answer, bool starting,
                     usec_t begun_usec) {
        ProbeStep step = { .next = now };
        if (answer == PROBE_UNKNOWN || is_for_good(kind, now.opinion))
                return step;
        if (answer == PROBE_SUCCEEDED)
                succeed(config, &step.next);
        else
                fail(config, &step.next, !is_eager(kind, starting) || may_count(config, &now, begun_usec), begun_usec);
        step.changed = step.next.opinion != now.opinion;
        return step;
}

static usec_t next_pause(const ProbeConfig *config, const Probe *probe) {
        usec_t twice = probe->pause_usec > USEC_INFINITY / 2 ? USEC_INFINITY : 2 * probe->pause_usec;
        return usec_min(twice > 0 ? twice : FIRST_PAUSE_USEC, config->period_usec);
}

usec_t probe_next_usec(const ProbeConfig *config, ProbeKind kind, Probe *probe, bool starting, usec_t begun_usec,
                       usec_t now_usec) {
        if (is_for_good(kind, probe->opinion))
                return USEC_INFINITY;
        if (!is_eager(kind, starting))
                return usec_max(usec_add(begun_usec, config->period_usec), now_usec);
        probe->pause_usec = next_pause(config, probe);
        usec_t next = usec_add(begun_usec, probe->pause_usec);
        usec_t counts_again = usec_add(probe->counted_usec, config->period_usec);
        if (probe->counted_usec > 0 && counts_again > begun_usec)
                next = usec_min(next, counts_again);
        return usec_max(next, now_usec);
}
