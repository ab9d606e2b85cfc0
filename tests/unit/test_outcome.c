/* test_outcome.c - what is said to the ledger of a command that has ended. */
#include "worker/outcome.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static Outcome outcome;
static OutcomeCodes codes;

static const Outcome *of(OutcomeEnd end) {
        if (!end.tail)
                end.tail = "";
        if (!end.detail)
                end.detail = "";
        outcome_of(&end, &codes, &outcome);
        return &outcome;
}

Test(outcome, each_end_has_its_verb) {
        static const struct {
                OutcomeHow how;
                int status;
                SlotCause cause;
                bool stream;
                OutcomeVerb verb;
                bool died, fatal;
                const char *class;
        } cases[] = {
                { OUTCOME_EXITED, 0, SLOT_CAUSE_NONE, false, OUTCOME_COMPLETE, false, false, "" },
                { OUTCOME_EXITED, 1, SLOT_CAUSE_NONE, false, OUTCOME_FAIL, false, false, "exit 1" },
                { OUTCOME_EXITED, 75, SLOT_CAUSE_NONE, false, OUTCOME_FAIL, false, false, "exit 75" },
                { OUTCOME_EXITED, 65, SLOT_CAUSE_NONE, false, OUTCOME_FAIL, false, true, "exit 65" },
                { OUTCOME_EXITED, 0, SLOT_CAUSE_NONE, true, OUTCOME_FAIL, false, false, "exit 0" },
                { OUTCOME_EXITED, 65, SLOT_CAUSE_NONE, true, OUTCOME_FAIL, false, false, "exit 65" },
                { OUTCOME_SIGNALLED, 9, SLOT_CAUSE_NONE, false, OUTCOME_FAIL, true, false, "signal 9" },
                { OUTCOME_UNKNOWN, 0, SLOT_CAUSE_NONE, false, OUTCOME_FAIL, true, false, "keeper died" },
                { OUTCOME_NOT_BEGUN, ENOENT, SLOT_CAUSE_NONE, false, OUTCOME_RELEASE, false, false, "not started" },
                { OUTCOME_EXITED, 0, SLOT_CAUSE_STALLED, false, OUTCOME_FAIL, true, false, "stalled" },
                { OUTCOME_SIGNALLED, 15, SLOT_CAUSE_TIMED_OUT, false, OUTCOME_FAIL, true, false, "timed out" },
                { OUTCOME_SIGNALLED, 15, SLOT_CAUSE_CANCELLED, false, OUTCOME_FAIL, false, false, "cancelled" },
                { OUTCOME_SIGNALLED, 9, SLOT_CAUSE_BROKEN, true, OUTCOME_FAIL, false, false, "protocol" },
                { OUTCOME_EXITED, 0, SLOT_CAUSE_DRAINED, false, OUTCOME_RELEASE, false, false, "exit 0" },
                { OUTCOME_SIGNALLED, 9, SLOT_CAUSE_DRAINED, false, OUTCOME_RELEASE, false, false, "signal 9" },
                { OUTCOME_EXITED, 0, SLOT_CAUSE_LOST, false, OUTCOME_NOTHING, false, false, "" },
                { OUTCOME_EXITED, 65, SLOT_CAUSE_STALLED, false, OUTCOME_FAIL, true, false, "stalled" },
        };
        codes.buries[65] = true;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                const Outcome *got = of((OutcomeEnd){ .how = cases[i].how,
                                                      .status = cases[i].status,
                                                      .cause = cases[i].cause,
                                                      .stream = cases[i].stream });
                cr_expect_eq(got->verb, cases[i].verb, "case %zu", i);
                cr_expect_eq(got->died, cases[i].died, "case %zu", i);
                cr_expect_eq(got->fatal, cases[i].fatal, "case %zu", i);
                cr_expect_str_eq(got->class, cases[i].class, "case %zu", i);
        }
}

Test(outcome, a_result_that_is_too_long_fails_and_says_the_limit) {
        const Outcome *got = of((OutcomeEnd){ .how = OUTCOME_EXITED, .result_too_long = true, .result_limit = 1000 });
        cr_expect_eq(got->verb, OUTCOME_FAIL);
        cr_expect_not_null(strstr(got->error, "1000 bytes"));
        cr_expect_str_eq(got->class, "result too long");
}

Test(outcome, the_error_is_a_sentence_and_the_tail_and_the_class_its_kind) {
        const Outcome *got = of((OutcomeEnd){
                .how = OUTCOME_EXITED, .status = 3, .tail = "Traceback\nValueError: chunk 17 of 'a b.wav' is bad" });
        cr_expect_str_eq(got->error, "the command exited with 3\nTraceback\nValueError: chunk 17 of 'a b.wav' is bad");
        cr_expect_str_eq(got->class, "exit 3: ValueError: chunk # of '…' is bad");
        got = of((OutcomeEnd){ .how = OUTCOME_SIGNALLED, .status = 9 });
        cr_expect_str_eq(got->error, "the command was killed by signal 9 (SIGKILL)");
}

Test(outcome, of_a_long_tail_the_end_is_kept_at_whole_characters) {
        static char tail[9000];
        for (size_t i = 0; i + 2 < sizeof tail; i += 2)
                memcpy(tail + i, "\xc3\xa9", 2);
        const Outcome *got = of((OutcomeEnd){ .how = OUTCOME_EXITED, .status = 1, .tail = tail });
        cr_expect_leq(strlen(got->error), (size_t)OUTCOME_ERROR_MAX);
        cr_expect_gt(strlen(got->error), 3900UL);
        const char *line = strchr(got->error, '\n');
        cr_assert_not_null(line);
        cr_expect_eq((unsigned char)line[1], 0xc3);
}

Test(outcome, failures_of_one_kind_have_one_fingerprint) {
        static const struct {
                const char *text, *print;
        } cases[] = {
                { "", "" },
                { " \n\n", "" },
                { "bad file 12", "bad file #" },
                { "first\n  last line 3.5 \n\n", "last line #" },
                { "at 0x7f00ba12", "at #" },
                { "job 3f2a9c1e-11d2-4a6b-9c0d-aabbccddeeff failed", "job # failed" },
                { "no such file: \"/a/b\"", "no such file: '…'" },
                { "it's bad", "it's bad" },
                { "at 0x1f, 1f, f1", "at #, #f, f#" },
                { "\x1b[31mred", "?[#mred" },
        };
        char print[OUTCOME_CLASS_MAX];
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                outcome_fingerprint(cases[i].text, print);
                cr_expect_str_eq(print, cases[i].print);
        }
        char long_line[4000];
        memset(long_line, 'x', sizeof long_line - 1);
        long_line[sizeof long_line - 1] = '\0';
        outcome_fingerprint(long_line, print);
        cr_expect_lt(strlen(print), (size_t)OUTCOME_CLASS_MAX);
}

Test(outcome, codes_are_read_strictly) {
        static const char *const bad[] = {
                "", ",", "0", "256", "75", "1,75", "a", "1,", "1,,2", " 1", "1 ", "-1", "1;2"
        };
        OutcomeCodes read = { 0 };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_expect_eq(outcome_codes_parse(bad[i], &read), -EINVAL, "%s", bad[i]);
        cr_assert_eq(outcome_codes_parse("65,78,255", &read), 0);
        cr_expect(read.buries[65] && read.buries[78] && read.buries[255] && !read.buries[1]);
}
