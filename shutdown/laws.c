/* laws.c - the words of the laws, and what a run's events prove in the end; see laws.h. */
#include "shutdown/laws_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/take.h"

static const char *const law_words[_LAW_MAX] = {
        [LAW_1] = "L1", [LAW_2] = "L2", [LAW_3] = "L3", [LAW_4] = "L4",   [LAW_5] = "L5",
        [LAW_6] = "L6", [LAW_7] = "L7", [LAW_9] = "L9", [LAW_10] = "L10",
};
ENUMERATION(law, Law, law_words)

static const char *const state_words[_LAW_STATE_MAX] = {
        [LAW_NOT_EXERCISED] = "not exercised",
        [LAW_HELD] = "held",
        [LAW_BROKEN] = "broken",
        [LAW_UNKNOWN] = "cannot be judged",
};
ENUMERATION(law_state, LawState, state_words)

const char *law_sentence(Law law) {
        static const char *const sentences[_LAW_MAX] = {
                [LAW_1] = "nobody is asked to stop before the phases before his are gone",
                [LAW_2] = "phases never go back and are never skipped",
                [LAW_3] = "a hook begins at most once for each run of its instance",
                [LAW_4] = "the ending lasts no longer than its deadline",
                [LAW_5] = "nothing is started, restarted or probed to death in the ending",
                [LAW_6] = "readiness, once withdrawn, is not given back",
                [LAW_7] = "whoever was started or adopted is collected, given up or left on purpose",
                [LAW_9] = "the exit code follows from the journal",
                [LAW_10] = "what explains the exit is told before it, and nothing after it",
        };
        return sentences[law];
}

static void count_missing(Judgement *judgement, const Event *events, size_t n) {
        uint64_t expected = 1;
        for (size_t i = 0; i < n; expected = events[i++].seq + 1) {
                if (events[i].seq <= expected)
                        continue;
                if (judgement->missing == 0) {
                        judgement->missing_from = expected;
                        judgement->missing_to = events[i].seq - 1;
                }
                judgement->missing += events[i].seq - expected;
        }
}

/* With events missing, what seems broken of these may be the gap. */
static bool needs_all(Law law) {
        return law == LAW_1 || law == LAW_2 || law == LAW_7 || law == LAW_9;
}

static LawState conclude_law(const Judgement *judgement, Law law) {
        const LawFinding *finding = &judgement->of[law];
        bool at_the_end = law == LAW_4 || law == LAW_7 || law == LAW_9 || law == LAW_10;
        if (finding->n_breaches > 0 && !(judgement->missing > 0 && needs_all(law)))
                return LAW_BROKEN;
        if (judgement->missing > 0 || (at_the_end && !judgement->finished))
                return LAW_UNKNOWN;
        return finding->times > 0 ? LAW_HELD : LAW_NOT_EXERCISED;
}

static void conclude(Judge *judge) {
        Judgement *judgement = judge->judgement;
        judgement->finished = judge->finish;
        for (Law law = 0; law < _LAW_MAX; law++) {
                LawFinding *finding = &judgement->of[law];
                if (judge->development && (law == LAW_1 || law == LAW_2)) {
                        *finding = (LawFinding){ .text = "development mode takes a short cut" };
                        continue;
                }
                finding->state = conclude_law(judgement, law);
                if (finding->state != LAW_UNKNOWN)
                        continue;
                finding->n_breaches = 0;
                if (judgement->missing > 0)
                        snprintf(finding->text, sizeof finding->text, "events %" PRIu64 " to %" PRIu64 " are missing",
                                 judgement->missing_from, judgement->missing_to);
                else
                        snprintf(finding->text, sizeof finding->text, "the journal stops before the run does");
        }
}

static void judge_done(Judge *judge) {
        cast_done(&judge->cast);
        free(judge->roles);
        free(judge->orphans);
        free(judge->hooks);
}

static int prepare(Judge *judge, const Event *events, size_t n) {
        size_t number;
        for (size_t i = 0; i < n; i++)
                if (events[i].service && cast_join(&judge->cast, events[i].service, events[i].instance, &number) < 0)
                        return -ENOMEM;
        judge->roles = calloc(judge->cast.n + 1, sizeof *judge->roles);
        judge->orphans = calloc(n + 1, sizeof *judge->orphans);
        judge->hooks = calloc(n + 1, sizeof *judge->hooks);
        if (!judge->roles || !judge->orphans || !judge->hooks)
                return -ENOMEM;
        for (size_t i = 0; i < judge->cast.n; i++)
                judge->roles[i].phase = NO_PHASE;
        return 0;
}

int laws_judge(const Event *events, size_t n, Judgement *ret) {
        Judgement judgement = { 0 };
        _cleanup_(judge_done) Judge judge = { .judgement = &judgement, .phases = "", .phase = NO_PHASE };

        int r = prepare(&judge, events, n);
        if (r < 0)
                return r;
        count_missing(&judgement, events, n);
        for (size_t i = 0; i < n; i++)
                laws_fold(&judge, &events[i]);
        laws_check_hooks(&judge);
        conclude(&judge);
        *ret = judgement;
        return 0;
}

LawState laws_answer(const Judgement *judgement) {
        bool seen[_LAW_STATE_MAX] = { false };
        for (Law law = 0; law < _LAW_MAX; law++)
                seen[judgement->of[law].state] = true;
        return seen[LAW_BROKEN]    ? LAW_BROKEN
               : seen[LAW_UNKNOWN] ? LAW_UNKNOWN
               : seen[LAW_HELD]    ? LAW_HELD
                                   : LAW_NOT_EXERCISED;
}
