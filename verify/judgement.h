/* judgement.h - judges trials: pure functions over traces and states.
 *
 * Pure but for malloc. Each adds to a Finding: a ruling, and the sentences that explain it. */
#pragma once
#include "verify/property.h"
#include "verify/reference.h"
#include "verify/trace.h"

/* What a hook's single run is, and which answers are good. */
typedef struct Norm {
        const Reference *reference;
        const Trace *one, *other; /* of the two single runs */
        const int *ok_exit;       /* besides that of the single run */
        size_t n_ok_exit;
} Norm;

typedef struct Finding {
        Ruling ruling;
        Differences why; /* of a trial that did not pass; else empty */
} Finding;

bool judgement_is_good_code(const Norm *norm, int code);

/* The calibration itself: PASS, or INCONCLUSIVE with what is unstable or blind. Nothing else is judged without it. */
void judge_calibration(const Norm *norm, StampSpan span, Finding *ret);
/* Did the trial go the reference's way up to effect `before`? Else it says nothing about that point: try again. */
bool judgement_is_drift(const Norm *norm, const Trace *trial, unsigned before, StampSpan span);

void judge_repeat(const Norm *norm, const State *second, StampSpan span, Finding *ret);
void judge_answer(const Norm *norm, const Answer *second, StampSpan span, Finding *ret);
void judge_quiet(const Trace *second, const State *before, const State *after, bool strict, Finding *ret);
/* crash and signal: `answer` is that of the run that came after. */
void judge_recovery(const Norm *norm, const Answer *answer, const State *state, StampSpan span, Finding *ret);
void judge_overlap(const Norm *norm, const Trace *trial, const State *state, StampSpan span, Finding *ret);
/* late and early: `reference` is of the same trial without the run. */
void judge_no_change(const Reference *reference, const State *state, StampSpan span, Finding *ret);
void judge_termination(const Trace *single, Finding *ret);
/* Two trials of one point that failed: where only randomly named files, or files that `globs` allow, are left, both are
 * LITTER. */
void judge_litter(Finding *once, Finding *again, char *const *globs);
void finding_done(Finding *finding);
