/* test_findings.c - the verdict of the whole, the text, TAP and JSON of findings made by hand. */
#include "base/take.h"
#include "verify/findings_json.h"
#include <criterion/criterion.h>
#include <string.h>

typedef struct Bench {
        HookFindings hooks[2];
        PairFindings pair;
        Findings findings;
} Bench;

static void begin(Bench *bench) {
        *bench = (Bench){ .hooks = { { .hook = "drain" }, { .hook = "close-db" } },
                          .pair = { .one = "drain", .other = "close-db" } };
        bench->hooks[0].of[PROPERTY_REPEAT].ruling = RULING_PASS;
        bench->hooks[0].of[PROPERTY_CRASH].ruling = RULING_LITTER;
        differences_add_extra(&bench->hooks[0].of[PROPERTY_CRASH].why, "/run/x.41");
        bench->hooks[1].of[PROPERTY_REPEAT].ruling = RULING_FAIL;
        differences_say(&bench->hooks[1].of[PROPERTY_REPEAT].why, "/run/ew/stops line 1: 6 became 7");
        bench->pair.finding.ruling = RULING_PASS;
        bench->findings = (Findings){ .level = "overlay",
                                      .engine = "ptrace",
                                      .database = "none",
                                      .hooks = bench->hooks,
                                      .n_hooks = 2,
                                      .pairs = &bench->pair,
                                      .n_pairs = 1 };
}

static void end(Bench *bench) {
        hook_findings_done(&bench->hooks[0]);
        hook_findings_done(&bench->hooks[1]);
        finding_done(&bench->pair.finding);
}

static char *printed(const Findings *findings, bool tap) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        if (tap)
                findings_print_tap(findings, out);
        else
                findings_print(findings, out, false);
        fclose(out);
        return text;
}

Test(findings, litter_passes_a_failure_fails_and_nothing_judged_proves_nothing) {
        Bench bench;
        const HookFindings nothing = { .hook = "x" };

        begin(&bench);
        cr_expect_eq(hook_findings_verdict(&bench.hooks[0]), RULING_PASS);
        cr_expect_eq(hook_findings_verdict(&bench.hooks[1]), RULING_FAIL);
        cr_expect_eq(findings_verdict(&bench.findings), RULING_FAIL);
        cr_expect_eq(hook_findings_verdict(&nothing), RULING_INCONCLUSIVE);
        cr_expect_eq(findings_verdict(&(Findings){ 0 }), RULING_INCONCLUSIVE);
        end(&bench);
}

Test(findings, a_pair_that_does_not_commute_fails_the_whole_and_neither_hook) {
        Bench bench;

        begin(&bench);
        bench.findings.n_hooks = 1;
        cr_expect_eq(findings_verdict(&bench.findings), RULING_PASS);
        bench.pair.finding.ruling = bench.hooks[0].of[PROPERTY_COMMUTE].ruling = RULING_FAIL;
        cr_expect_eq(hook_findings_verdict(&bench.hooks[0]), RULING_PASS);
        cr_expect_eq(findings_verdict(&bench.findings), RULING_FAIL);
        end(&bench);
}

Test(findings, the_text_begins_with_the_level_and_says_why) {
        Bench bench;

        begin(&bench);
        _cleanup_(freep) char *text = printed(&bench.findings, false);
        cr_expect_eq(strncmp(text, "level overlay, engine ptrace, database none\n", 44), 0, "%s", text);
        cr_expect(strstr(text, "\nclose-db repeat: /run/ew/stops line 1: 6 became 7\n"), "%s", text);
        cr_expect(strstr(text, "\ndrain crash: /run/x.41: it is left in addition\n"), "%s", text);
        cr_expect_not(strstr(text, "overlap"), "no column for what nobody was held to");
        cr_expect(strstr(text, "\nverdict: FAIL\n"));
        end(&bench);
}

Test(findings, tap_counts_what_was_judged_and_what_was_not_proved_is_not_ok) {
        Bench bench;

        begin(&bench);
        bench.pair.finding.ruling = RULING_INCONCLUSIVE;
        _cleanup_(freep) char *text = printed(&bench.findings, true);
        cr_expect_str_eq(text, "TAP version 13\nok 1 - drain repeat\nok 2 - drain crash\nnot ok 3 - close-db repeat\n"
                               "# /run/ew/stops line 1: 6 became 7\n"
                               "not ok 4 - drain close-db # INCONCLUSIVE\n1..4\n");
        end(&bench);
}

Test(findings, json_has_the_shape_of_the_contract) {
        Bench bench;
        json_t *value;

        begin(&bench);
        differences_say(&bench.hooks[0].masks, "/a\xff");
        cr_assert_eq(findings_to_json(&bench.findings, &value), 0);
        _cleanup_(freep) char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
        json_decref(value);
        cr_expect_str_eq(
                text, "{\"hooks\":[{\"hook\":\"drain\",\"masks\":[\"/a\\\\xff\"],\"properties\":{\"crash\":{\"remark\":"
                      "\"LITTER\",\"verdict\":\"PASS\",\"why\":[\"/run/x.41\"]},\"repeat\":{\"verdict\":\"PASS\"}},"
                      "\"verdict\":\"PASS\"},{\"hook\":\"close-db\",\"masks\":[],\"properties\":{\"repeat\":{"
                      "\"verdict\":\"FAIL\",\"why\":[\"/run/ew/stops line 1: 6 became 7\"]}},\"verdict\":\"FAIL\"}],"
                      "\"level\":\"overlay\",\"pairs\":[{\"hooks\":[\"drain\",\"close-db\"],\"verdict\":\"PASS\"}],"
                      "\"rules\":[],\"verdict\":\"FAIL\"}");
        end(&bench);
}
