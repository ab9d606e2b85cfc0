/* judgement.c - see judgement.h. */
#include "verify/judgement.h"
#include <string.h>

void finding_done(Finding *finding) {
        differences_done(&finding->why);
        *finding = (Finding){ 0 };
}

/* A list that lost a sentence for want of memory is no proof of anything. */
static void rule(Finding *finding, Ruling ruling) {
        if (finding->why.failed)
                ruling = RULING_INCONCLUSIVE;
        if (ruling > finding->ruling)
                finding->ruling = ruling;
}

static void rule_by_differences(Finding *finding) {
        rule(finding, differences_are_none(&finding->why) ? RULING_PASS : RULING_FAIL);
}

bool judgement_is_good_code(const Norm *norm, int code) {
        if (code == norm->one->first.code)
                return true;
        for (size_t i = 0; i < norm->n_ok_exit; i++)
                if (norm->ok_exit[i] == code)
                        return true;
        return false;
}

static const char *output_of(const Answer *answer) {
        return answer->output ? answer->output : "";
}

static void check_answer(const Norm *norm, const char *who, const Answer *answer, Differences *ret) {
        if (!answer->ran)
                differences_say(ret, "%s: it could not be started", who);
        else if (answer->timed_out)
                differences_say(ret, "%s: it did not end within its limit", who);
        else if (!judgement_is_good_code(norm, answer->code))
                differences_say(ret, "%s: exit code %d, a single run ends with %d", who, answer->code,
                                norm->one->first.code);
}

/* ---- Before anything else ---- */

/* What the tracer could not see makes every pass worthless; what it saw of a failure stands. */
static void check_blind_spots(const Trace *trace, Finding *ret) {
        for (int spot = 0; spot < _BLIND_SPOT_MAX; spot++)
                if (trace->blind[spot]) {
                        differences_say(&ret->why, "blind spot %s: %s", blind_spot_to_string((BlindSpot)spot),
                                        trace->blind[spot]);
                        rule(ret, RULING_INCONCLUSIVE);
                }
}

static void check_output_is_stable(const Norm *norm, StampSpan span, Finding *ret) {
        const char *one = output_of(&norm->one->first), *other = output_of(&norm->other->first);

        if (norm->one->first.code != norm->other->first.code)
                differences_say(&ret->why, "UNSTABLE: two single runs ended with exit codes %d and %d",
                                norm->one->first.code, norm->other->first.code);
        else if (mask_of(one, other, span) == MASK_DIFFERS)
                reference_compare_text("UNSTABLE: standard output of two single runs", one, one, other, span,
                                       &ret->why);
        else
                return;
        rule(ret, RULING_INCONCLUSIVE);
}

void judge_calibration(const Norm *norm, StampSpan span, Finding *ret) {
        const Reference *reference = norm->reference;

        rule(ret, RULING_PASS);
        check_blind_spots(norm->one, ret);
        check_output_is_stable(norm, span, ret);
        for (size_t i = 0; i < reference->unstable.n_sentences; i++) {
                differences_say(&ret->why, "UNSTABLE: %s", reference->unstable.sentences[i]);
                rule(ret, RULING_INCONCLUSIVE);
        }
        if (norm->one->n_effects == 0 && reference->n_pairs == 0 && norm->one->n_left == 0) {
                differences_say(&ret->why, "it has no effects and leaves nothing behind, so nothing is proved: give it "
                                           "a Setup");
                rule(ret, RULING_INCONCLUSIVE);
        }
        rule(ret, RULING_PASS);
}

bool judgement_is_drift(const Norm *norm, const Trace *trial, unsigned before, StampSpan span) {
        if (norm->one->n_effects + 1 < before || norm->other->n_effects + 1 < before || trial->n_effects + 1 < before)
                return true;
        for (unsigned i = 0; i + 1 < before; i++)
                if (mask_fit(norm->one->effects[i].text, norm->other->effects[i].text, trial->effects[i].text, span) ==
                    MASK_DIFFERS)
                        return true;
        return before <= norm->one->n_effects && !trial->reached;
}

/* ---- The laws ---- */

void judge_repeat(const Norm *norm, const State *second, StampSpan span, Finding *ret) {
        reference_compare(norm->reference, second, span, &ret->why);
        rule_by_differences(ret);
}

void judge_answer(const Norm *norm, const Answer *second, StampSpan span, Finding *ret) {
        check_answer(norm, "the second run", second, &ret->why);
        if (second->ran && second->code == norm->one->first.code)
                reference_compare_text("standard output", output_of(&norm->one->first), output_of(&norm->other->first),
                                       output_of(second), span, &ret->why);
        rule_by_differences(ret);
}

void judge_quiet(const Trace *second, const State *before, const State *after, bool strict, Finding *ret) {
        bool wrote = after->database_xmax > before->database_xmax;

        for (size_t i = 0; i < second->n_effects; i++) {
                const Effect *effect = &second->effects[i];
                if (effect_was_made(effect) && effect->kind != EFFECT_DATABASE)
                        differences_say(&ret->why, "the second run still does: %s", effect->text);
        }
        if (wrote)
                differences_say(&ret->why, "the second run still writes to the database");
        rule(ret, differences_are_none(&ret->why) ? RULING_PASS : strict ? RULING_FAIL : RULING_NOTE);
}

void judge_recovery(const Norm *norm, const Answer *answer, const State *state, StampSpan span, Finding *ret) {
        check_answer(norm, "the run after it", answer, &ret->why);
        reference_compare(norm->reference, state, span, &ret->why);
        rule_by_differences(ret);
}

void judge_overlap(const Norm *norm, const Trace *trial, const State *state, StampSpan span, Finding *ret) {
        check_answer(norm, "the run that was held", &trial->first, &ret->why);
        check_answer(norm, "the run beside it", &trial->second, &ret->why);
        reference_compare(norm->reference, state, span, &ret->why);
        rule_by_differences(ret);
}

void judge_no_change(const Reference *reference, const State *state, StampSpan span, Finding *ret) {
        if (reference->unstable.n_sentences > 0) {
                differences_say(&ret->why, "UNSTABLE: %s", reference->unstable.sentences[0]);
                rule(ret, RULING_INCONCLUSIVE);
                return;
        }
        reference_compare(reference, state, span, &ret->why);
        rule_by_differences(ret);
}

void judge_termination(const Trace *single, Finding *ret) {
        if (single->first.timed_out)
                differences_say(&ret->why, "it did not end within its TimeoutSec");
        for (size_t i = 0; i < single->n_left; i++)
                differences_say(&ret->why, "a process is left: %s", single->left[i]);
        for (size_t i = 0; i < single->n_listeners; i++)
                differences_say(&ret->why, "a listener is left: %s", single->listeners[i]);
        rule_by_differences(ret);
}

void judge_litter(Finding *once, Finding *again, char *const *globs) {
        if (once->ruling == RULING_FAIL && differences_are_litter(&once->why, &again->why, globs))
                once->ruling = again->ruling = RULING_LITTER;
}
