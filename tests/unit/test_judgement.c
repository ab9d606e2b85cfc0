/* test_judgement.c - every law over traces and states made by hand. */
#include "verify/judgement.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const StampSpan span = { .since_sec = 1796117220, .until_sec = 1796117230 };

static Effect effects[] = {
        { .number = 1,
          .kind = EFFECT_FILE,
          .call = "openat",
          .text = (char *)"openat /run/a.41",
          .site = (char *)"openat" },
        { .number = 2,
          .kind = EFFECT_DATABASE,
          .call = "sendto",
          .text = (char *)"sendto database",
          .site = (char *)"sendto" },
};
static Effect other_effects[] = {
        { .number = 1,
          .kind = EFFECT_FILE,
          .call = "openat",
          .text = (char *)"openat /run/a.77",
          .site = (char *)"openat" },
        { .number = 2,
          .kind = EFFECT_DATABASE,
          .call = "sendto",
          .text = (char *)"sendto database",
          .site = (char *)"sendto" },
};

static Trace single(Effect *of, const char *output) {
        return (Trace){ .effects = of,
                        .n_effects = 2,
                        .reached = true,
                        .first = { .ran = true, .output = (char *)output, .n_output = strlen(output) } };
}

typedef struct Bench {
        Trace one, other;
        Reference reference;
        Norm norm;
        Finding finding;
} Bench;

static char *lines_of_six[] = { (char *)"6", NULL };
static Item stops = {
        .key = (char *)"/stops", .kind = ITEM_FILE, .attributes = (char *)"", .lines = lines_of_six, .n_lines = 1
};
static const State six = { .items = &stops, .n_items = 1 };
static char *lines_of_seven[] = { (char *)"7", NULL };
static Item more = {
        .key = (char *)"/stops", .kind = ITEM_FILE, .attributes = (char *)"", .lines = lines_of_seven, .n_lines = 1
};
static const State seven = { .items = &more, .n_items = 1 };

static void begin(Bench *bench) {
        *bench = (Bench){ .one = single(effects, "pid 41"), .other = single(other_effects, "pid 77") };
        cr_assert_eq(reference_init(&bench->reference, &six, &six, span), 0);
        bench->norm = (Norm){ .reference = &bench->reference, .one = &bench->one, .other = &bench->other };
}

static void expect(Bench *bench, Ruling ruling, const char *word) {
        cr_expect_eq(bench->finding.ruling, ruling, "%s", ruling_to_string(bench->finding.ruling));
        if (word) {
                cr_assert_gt(bench->finding.why.n_sentences, 0, "%s", word);
                cr_expect(strstr(bench->finding.why.sentences[0], word), "%s", bench->finding.why.sentences[0]);
        } else {
                cr_expect_eq(bench->finding.why.n_sentences, 0);
        }
        finding_done(&bench->finding);
}

static void end(Bench *bench) {
        reference_done(&bench->reference);
}

Test(judgement, a_calibration_that_agrees_passes) {
        Bench bench;

        begin(&bench);
        judge_calibration(&bench.norm, span, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        end(&bench);
}

Test(judgement, a_blind_spot_an_unstable_answer_and_nothing_done_are_inconclusive) {
        Bench bench;
        Reference empty = { 0 };

        begin(&bench);
        bench.one.blind[BLIND_SHARED_MAPPING] = (char *)"/run/x";
        judge_calibration(&bench.norm, span, &bench.finding);
        expect(&bench, RULING_INCONCLUSIVE, "blind spot shared-mapping: /run/x");
        bench.one.blind[BLIND_SHARED_MAPPING] = NULL;
        bench.other.first.code = 1;
        judge_calibration(&bench.norm, span, &bench.finding);
        expect(&bench, RULING_INCONCLUSIVE, "UNSTABLE");
        bench.other.first.code = 0;
        bench.other.first.output = (char *)"pid";
        judge_calibration(&bench.norm, span, &bench.finding);
        expect(&bench, RULING_INCONCLUSIVE, "UNSTABLE: standard output");
        bench.other.first.output = (char *)"pid 77";
        bench.one.n_effects = 0;
        bench.norm.reference = &empty;
        judge_calibration(&bench.norm, span, &bench.finding);
        expect(&bench, RULING_INCONCLUSIVE, "give it a Setup");
        end(&bench);
}

Test(judgement, repeat_and_recovery_compare_the_state) {
        Bench bench;
        const Answer good = { .ran = true }, bad = { .ran = true, .code = 3 };

        begin(&bench);
        judge_repeat(&bench.norm, &six, span, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        judge_repeat(&bench.norm, &seven, span, &bench.finding);
        expect(&bench, RULING_FAIL, "/stops line 1: 6 became 7");
        judge_recovery(&bench.norm, &good, &six, span, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        judge_recovery(&bench.norm, &bad, &six, span, &bench.finding);
        expect(&bench, RULING_FAIL, "exit code 3, a single run ends with 0");
        judge_recovery(&bench.norm, &good, &seven, span, &bench.finding);
        expect(&bench, RULING_FAIL, "6 became 7");
        end(&bench);
}

Test(judgement, an_answer_is_good_by_its_code_or_by_ok_exit_and_its_output) {
        static const int ok[] = { 1 };
        Bench bench;
        Answer answer = { .ran = true, .output = (char *)"pid 99" };

        begin(&bench);
        judge_answer(&bench.norm, &answer, span, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        answer.output = (char *)"nothing to do";
        judge_answer(&bench.norm, &answer, span, &bench.finding);
        expect(&bench, RULING_FAIL, "standard output");
        answer.code = 1;
        judge_answer(&bench.norm, &answer, span, &bench.finding);
        expect(&bench, RULING_FAIL, "exit code 1");
        bench.norm.ok_exit = ok;
        bench.norm.n_ok_exit = 1;
        judge_answer(&bench.norm, &answer, span, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        answer.timed_out = true;
        judge_answer(&bench.norm, &answer, span, &bench.finding);
        expect(&bench, RULING_FAIL, "did not end");
        end(&bench);
}

Test(judgement, quiet_counts_effects_that_were_made_and_the_database_only_if_it_was_written) {
        const State idle = { .database_xmax = 10 }, written = { .database_xmax = 11 };
        Bench bench;

        begin(&bench);
        effects[0].result = -2; /* ENOENT */
        judge_quiet(&bench.one, &idle, &idle, false, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        judge_quiet(&bench.one, &idle, &written, false, &bench.finding);
        expect(&bench, RULING_NOTE, "writes to the database");
        judge_quiet(&bench.one, &idle, &written, true, &bench.finding);
        expect(&bench, RULING_FAIL, "writes to the database");
        effects[0].result = 0;
        judge_quiet(&bench.one, &idle, &idle, false, &bench.finding);
        expect(&bench, RULING_NOTE, "still does: openat /run/a.41");
        end(&bench);
}

Test(judgement, both_answers_of_an_overlap_count) {
        Bench bench;
        Trace trial;

        begin(&bench);
        trial = bench.one;
        trial.second = trial.first;
        judge_overlap(&bench.norm, &trial, &six, span, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        trial.second.code = 2;
        judge_overlap(&bench.norm, &trial, &six, span, &bench.finding);
        expect(&bench, RULING_FAIL, "the run beside it: exit code 2");
        trial.second.code = 0;
        trial.first.code = 2;
        judge_overlap(&bench.norm, &trial, &six, span, &bench.finding);
        expect(&bench, RULING_FAIL, "the run that was held: exit code 2");
        end(&bench);
}

Test(judgement, late_and_early_may_change_nothing) {
        Bench bench;

        begin(&bench);
        judge_no_change(&bench.reference, &six, span, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        judge_no_change(&bench.reference, &seven, span, &bench.finding);
        expect(&bench, RULING_FAIL, "6 became 7");
        differences_say(&bench.reference.unstable, "x");
        judge_no_change(&bench.reference, &six, span, &bench.finding);
        expect(&bench, RULING_INCONCLUSIVE, "UNSTABLE: x");
        end(&bench);
}

Test(judgement, nothing_may_be_left_and_the_limit_holds) {
        char *left[] = { (char *)"42 sleep 300" }, *listeners[] = { (char *)"tcp 127.0.0.1:80" };
        Bench bench;

        begin(&bench);
        judge_termination(&bench.one, &bench.finding);
        expect(&bench, RULING_PASS, NULL);
        bench.one.left = left;
        bench.one.n_left = 1;
        judge_termination(&bench.one, &bench.finding);
        expect(&bench, RULING_FAIL, "42 sleep 300");
        bench.one.n_left = 0;
        bench.one.listeners = listeners;
        bench.one.n_listeners = 1;
        judge_termination(&bench.one, &bench.finding);
        expect(&bench, RULING_FAIL, "tcp 127.0.0.1:80");
        bench.one.n_listeners = 0;
        bench.one.first.timed_out = true;
        judge_termination(&bench.one, &bench.finding);
        expect(&bench, RULING_FAIL, "TimeoutSec");
        end(&bench);
}

Test(judgement, a_trial_that_went_another_way_before_its_point_is_drift) {
        Effect third[] = { { .text = (char *)"openat /run/a.99" }, { .text = (char *)"sendto database" } };
        Bench bench;

        begin(&bench);
        Trace trial = { .effects = third, .n_effects = 2, .reached = true };
        cr_expect_not(judgement_is_drift(&bench.norm, &trial, 3, span));
        cr_expect_not(judgement_is_drift(&bench.norm, &trial, 1, span));
        third[0].text = (char *)"unlinkat /run/a.99";
        cr_expect_not(judgement_is_drift(&bench.norm, &trial, 1, span), "nothing stands before the first");
        cr_expect(judgement_is_drift(&bench.norm, &trial, 2, span));
        third[0].text = (char *)"openat /run/a.99";
        trial.n_effects = 0;
        cr_expect(judgement_is_drift(&bench.norm, &trial, 2, span));
        trial.n_effects = 2;
        trial.reached = false;
        cr_expect(judgement_is_drift(&bench.norm, &trial, 2, span), "the point was never reached");
        cr_expect_not(judgement_is_drift(&bench.norm, &trial, 3, span), "behind the last there is none to reach");
        end(&bench);
}

Test(judgement, litter_needs_two_failures_that_left_other_names) {
        Finding once = { .ruling = RULING_FAIL }, again = { .ruling = RULING_FAIL };

        differences_add_extra(&once.why, "/run/x.1");
        differences_add_extra(&again.why, "/run/x.2");
        judge_litter(&once, &again, NULL);
        cr_expect_eq(once.ruling, RULING_LITTER);
        differences_say(&again.why, "more");
        once.ruling = again.ruling = RULING_FAIL;
        judge_litter(&once, &again, NULL);
        cr_expect_eq(once.ruling, RULING_FAIL);
        finding_done(&once);
        finding_done(&again);
}
