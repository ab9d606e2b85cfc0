/* test_probe.c - what answers mean, and when a probe looks; each small sequence against the plainest reading of it. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/take.h"
#include "supervisor/probe.h"

#define SECOND    USEC_PER_SEC
#define BEGUN     (1000 * SECOND)
#define LOOKS_MAX 7

static const ProbeConfig every_ten = {
        .by = PROBE_BY_TCP, .period_usec = 10 * SECOND, .timeout_usec = 1 * SECOND, .failures = 3, .successes = 1
};

typedef struct Look {
        ProbeAnswer answer;
        usec_t at_usec;
        bool starting;
} Look;

/* The opinion after all these looks, read from the whole history each time: which failures count, and how many of one
 * kind stand at its end. */
static ProbeOpinion plainly(const ProbeConfig *config, ProbeKind kind, const Look *looks, size_t n) {
        ProbeOpinion opinion = kind == PROBE_LIVENESS ? PROBE_GOOD : PROBE_UNDECIDED;
        unsigned good = 0, bad = 0;
        usec_t last = 0;
        for (size_t i = 0; i < n; i++) {
                bool counted_before = last > 0 && looks[i].at_usec - last < config->period_usec;
                bool counts = kind == PROBE_LIVENESS || !looks[i].starting || !counted_before;
                if (looks[i].answer == PROBE_SUCCEEDED)
                        good++, bad = 0;
                else if (looks[i].answer == PROBE_FAILED && counts)
                        bad++, good = 0, last = looks[i].at_usec;
                else if (looks[i].answer == PROBE_FAILED)
                        good = 0;
                ProbeOpinion says = good >= config->successes ? PROBE_GOOD
                                    : bad >= config->failures ? PROBE_BAD
                                                              : opinion;
                if (kind == PROBE_STARTUP && opinion != PROBE_UNDECIDED)
                        says = opinion;
                if (kind == PROBE_LIVENESS && opinion == PROBE_BAD)
                        says = opinion;
                if (looks[i].answer != PROBE_UNKNOWN)
                        opinion = says;
        }
        return opinion;
}

/* Digits of `code`: the answers. `pace`: how far apart the looks are, and when starting is over. */
static void spell(unsigned code, size_t n, unsigned pace, Look *looks) {
        static const usec_t pauses[] = { 10 * SECOND, 1 * SECOND, 4 * SECOND };
        for (size_t i = 0; i < n; i++, code /= 3)
                looks[i] = (Look){ .answer = (ProbeAnswer)(code % 3),
                                   .at_usec = BEGUN + i * pauses[pace % 3],
                                   .starting = i < n * (pace / 3) / 2 };
}

static Probe live_through(const ProbeConfig *config, ProbeKind kind, const Look *looks, size_t n) {
        Probe probe = probe_begin(kind);
        for (size_t i = 0; i < n; i++) {
                ProbeStep step = probe_step(config, kind, probe, looks[i].answer, looks[i].starting, looks[i].at_usec);
                cr_assert_eq(step.changed, step.next.opinion != probe.opinion);
                if (looks[i].answer == PROBE_UNKNOWN)
                        cr_assert(memcmp(&step.next, &probe, sizeof probe) == 0, "what nobody saw says nothing");
                probe = step.next;
        }
        return probe;
}

static void walk(const ProbeConfig *config, ProbeKind kind, unsigned pace) {
        unsigned codes = 1;
        Look looks[LOOKS_MAX];
        for (size_t n = 1; n <= LOOKS_MAX; n++) {
                codes *= 3;
                for (unsigned code = 0; code < codes; code++) {
                        spell(code, n, pace, looks);
                        Probe probe = live_through(config, kind, looks, n);
                        cr_assert_eq(probe.opinion, plainly(config, kind, looks, n),
                                     "%s, failures %u, successes %u, pace %u, %zu answers, code %u",
                                     probe_kind_to_string(kind), config->failures, config->successes, pace, n, code);
                }
        }
}

Test(probe, any_small_sequence_of_answers_means_what_its_history_says) {
        for (ProbeKind kind = 0; kind < _PROBE_KIND_MAX; kind++)
                for (uint16_t failures = 1; failures <= 3; failures++)
                        for (uint16_t successes = 1; successes <= 3; successes++)
                                for (unsigned pace = 0; pace < 9; pace++) {
                                        ProbeConfig config = every_ten;
                                        config.failures = failures;
                                        config.successes = successes;
                                        walk(&config, kind, pace);
                                }
}

Test(probe, a_startup_probe_decides_once_and_liveness_dies_once) {
        static const struct {
                ProbeKind kind;
                ProbeAnswer first;
                ProbeOpinion opinion;
        } rows[] = { { PROBE_STARTUP, PROBE_SUCCEEDED, PROBE_GOOD },
                     { PROBE_STARTUP, PROBE_FAILED, PROBE_BAD },
                     { PROBE_LIVENESS, PROBE_FAILED, PROBE_BAD } };
        ProbeConfig config = every_ten;
        config.failures = 1;
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                Probe probe = probe_begin(rows[i].kind);
                probe = probe_step(&config, rows[i].kind, probe, rows[i].first, true, BEGUN).next;
                cr_assert_eq(probe.opinion, rows[i].opinion);
                cr_assert_eq(probe_next_usec(&config, rows[i].kind, &probe, true, BEGUN, BEGUN), USEC_INFINITY);
                for (ProbeAnswer answer = PROBE_SUCCEEDED; answer <= PROBE_UNKNOWN; answer++)
                        for (usec_t later = 1; later < 5; later++)
                                cr_assert_not(probe_step(&config, rows[i].kind, probe, answer, false,
                                                         BEGUN + later * 10 * SECOND)
                                                      .changed);
        }
}

/* The instants of the looks of a run in which each answer is `answer`, in tenths of a second from the first. */
static void look_at(const ProbeConfig *config, ProbeKind kind, bool starting, ProbeAnswer answer, usec_t takes_usec,
                    const unsigned *wanted, size_t n) {
        Probe probe = probe_begin(kind);
        usec_t at = BEGUN;
        for (size_t i = 0; i < n; i++) {
                cr_assert_eq((at - BEGUN) / (SECOND / 10), wanted[i], "%s: look %zu is %.1f s after the first",
                             probe_kind_to_string(kind), i, (double)(at - BEGUN) / 1e6);
                probe = probe_step(config, kind, probe, answer, starting, at).next;
                at = probe_next_usec(config, kind, &probe, starting, at, at + takes_usec);
        }
}

Test(probe, while_it_starts_it_looks_soon_and_then_less_often_and_once_when_a_failure_counts) {
        static const unsigned looks[] = { 0, 1, 3, 7, 15, 31, 63, 100, 200, 300 };
        ProbeConfig config = every_ten;
        config.failures = 100;
        look_at(&config, PROBE_READINESS, true, PROBE_FAILED, 0, looks, LENGTH_OF(looks));
        look_at(&config, PROBE_STARTUP, true, PROBE_FAILED, 0, looks, LENGTH_OF(looks));
}

Test(probe, liveness_and_whoever_is_ready_keep_to_the_period) {
        static const unsigned looks[] = { 0, 100, 200, 300 };
        ProbeConfig config = every_ten;
        config.failures = 100;
        look_at(&config, PROBE_LIVENESS, true, PROBE_FAILED, 0, looks, LENGTH_OF(looks));
        look_at(&config, PROBE_LIVENESS, false, PROBE_SUCCEEDED, SECOND, looks, LENGTH_OF(looks));
        look_at(&config, PROBE_READINESS, false, PROBE_FAILED, SECOND, looks, LENGTH_OF(looks));
}

Test(probe, a_check_that_overlaps_its_period_begins_the_next_right_after_it) {
        static const unsigned looks[] = { 0, 150, 300, 450 };
        look_at(&every_ten, PROBE_LIVENESS, false, PROBE_SUCCEEDED, 15 * SECOND, looks, LENGTH_OF(looks));
}

Test(probe, what_nobody_could_see_is_looked_at_again_by_the_same_clock) {
        static const unsigned looks[] = { 0, 100, 200 }, eager[] = { 0, 1, 3, 7, 15, 31, 63, 127, 227 };
        look_at(&every_ten, PROBE_LIVENESS, false, PROBE_UNKNOWN, 0, looks, LENGTH_OF(looks));
        look_at(&every_ten, PROBE_STARTUP, true, PROBE_UNKNOWN, 0, eager, LENGTH_OF(eager));
}

/* Kubernetes looks at 0, 10 and 20 s, and so does the third failure that counts. */
Test(probe, many_looks_while_starting_do_not_fail_sooner_than_the_period_says) {
        Probe probe = probe_begin(PROBE_STARTUP);
        usec_t at = BEGUN;
        while (probe.opinion == PROBE_UNDECIDED) {
                probe = probe_step(&every_ten, PROBE_STARTUP, probe, PROBE_FAILED, true, at).next;
                if (probe.opinion == PROBE_UNDECIDED)
                        at = probe_next_usec(&every_ten, PROBE_STARTUP, &probe, true, at, at);
        }
        cr_assert_eq(probe.opinion, PROBE_BAD);
        cr_assert_eq(at - BEGUN, 20 * SECOND);
}

Test(probe, a_period_below_a_tenth_of_a_second_is_never_passed_over) {
        ProbeConfig config = every_ten;
        config.period_usec = 30 * USEC_PER_MSEC;
        Probe probe = probe_begin(PROBE_STARTUP);
        cr_assert_eq(probe_next_usec(&config, PROBE_STARTUP, &probe, true, BEGUN, BEGUN), BEGUN + 30 * USEC_PER_MSEC);
}

Test(probe, every_word_reads_back_as_itself) {
        for (ProbeKind i = 0; i < _PROBE_KIND_MAX; i++)
                cr_assert_eq(probe_kind_from_string(probe_kind_to_string(i)), (int)i);
        for (ProbeBy i = 0; i < _PROBE_BY_MAX; i++)
                cr_assert_eq(probe_by_from_string(probe_by_to_string(i)), (int)i);
}
