/* test_verdict.c - the exit code that a journal proves: the highest cause wins, in whatever order things came. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/take.h"
#include "shutdown/verdict.h"

static int code_of(const Event *events, size_t n) {
        Verdict verdict = VERDICT_START;
        for (size_t i = 0; i < n; i++)
                verdict = verdict_fold(verdict, &events[i]);
        return verdict_code(&verdict);
}

#define CODE_OF(...) code_of((const Event[]){ __VA_ARGS__ }, LENGTH_OF(((const Event[]){ __VA_ARGS__ })))

static const Event started = { .kind = EVENT_SUPERVISOR_STARTED };
static const Event ending = { .kind = EVENT_ENDING_STARTED };

/* ---- Every combination of causes ---- */

/* From the highest to the lowest, as the contract has them. */
static const struct Cause {
        Event event;
        int code;
        const char *culprit;
} causes[] = {
        { { .kind = EVENT_SUPERVISOR_FAILED, .text = "reading a pipe", .error = "EIO" }, 70, "reading a pipe" },
        { { .kind = EVENT_SERVICE_GAVE_UP, .service = "db", .instance = 1, .essential = true }, 83, "db@1" },
        { { .kind = EVENT_SERVICE_LEFT, .service = "stuck", .instance = 3, .reason = "deadline" }, 82, "stuck@3" },
        { { .kind = EVENT_SERVICE_KILLED, .service = "web", .instance = 2, .signal = "SIGKILL", .reason = "limit" },
          81,
          "web@2" },
        { { .kind = EVENT_HOOK_FINISHED,
            .hook = "flush",
            .on = "pre-stop",
            .code_word = "exited",
            .status = 1,
            .abort = true },
          80,
          "flush" },
        { { .kind = EVENT_DESCENDANTS_LEFT, .service = "cron", .instance = 1, .left = 4 }, 84, "cron@1" },
};
#define N_CAUSES LENGTH_OF(causes)

/* What changes no code, between the others. */
static const Event noise[] = {
        { .kind = EVENT_SERVICE_READY, .service = "web", .instance = 2 },
        { .kind = EVENT_SERVICE_GAVE_UP, .service = "cache", .instance = 1, .essential = false },
        { .kind = EVENT_HOOK_FINISHED, .hook = "warm", .on = "post-start", .code_word = "exited", .status = 3 },
        { .kind = EVENT_SERVICE_EXITED,
          .service = "web",
          .instance = 2,
          .code_word = "exited",
          .status = 143,
          .asked = true },
        { .kind = EVENT_PHASE_FINISHED, .phase = "http", .killed = 9, .left = 9 },
        { .kind = EVENT_ORPHAN_GONE, .pid = 7, .comm = "sh", .code_word = "killed", .status = 9 },
};

/* The causes of a set, beginning with number `first`, every other one with something harmless before it. */
static Verdict fold_set(unsigned set, size_t first, int passed_code) {
        Event begin = started;
        begin.exit_code_from = "job";
        Verdict verdict = verdict_fold(VERDICT_START, &begin);
        verdict = verdict_fold(verdict, &ending);
        if (passed_code >= 0)
                verdict = verdict_fold(verdict, &(Event){ .kind = EVENT_SERVICE_EXITED,
                                                          .service = "job",
                                                          .instance = 1,
                                                          .code_word = "exited",
                                                          .status = passed_code });
        for (size_t i = 0; i < N_CAUSES; i++) {
                size_t cause = (first + i) % N_CAUSES;
                verdict = verdict_fold(verdict, &noise[i % LENGTH_OF(noise)]);
                if (set >> cause & 1)
                        verdict = verdict_fold(verdict, &causes[cause].event);
        }
        return verdict;
}

static void must_be(unsigned set, size_t first, int passed_code) {
        Verdict verdict = fold_set(set, first, passed_code);
        char text[VERDICT_TEXT_MAX];
        verdict_explain(&verdict, text);
        for (size_t cause = 0; cause < N_CAUSES; cause++)
                if (set >> cause & 1) {
                        cr_assert_eq(verdict_code(&verdict), causes[cause].code, "causes %x from %zu", set, first);
                        cr_assert_str_eq(verdict.culprit, causes[cause].culprit, "causes %x from %zu", set, first);
                        cr_assert_not_null(strstr(text, causes[cause].culprit), "causes %x from %zu: %s", set, first,
                                           text);
                        return;
                }
        cr_assert_eq(verdict_code(&verdict), passed_code < 0 ? 0 : passed_code);
        cr_assert_eq(verdict.culprit[0], '\0');
}

/* The passed codes are those of causes, too: a program may well say 81. */
Test(verdict, of_every_combination_of_causes_the_highest_wins_in_any_order) {
        static const int passed[] = { -1, 0, 7, 70, 80, 81, 82, 83, 84, 255 };
        for (unsigned set = 0; set < 1U << N_CAUSES; set++)
                for (size_t first = 0; first < N_CAUSES; first++)
                        for (size_t i = 0; i < LENGTH_OF(passed); i++)
                                must_be(set, first, passed[i]);
}

Test(verdict, nothing_at_all_is_clean) {
        cr_assert_eq(code_of(NULL, 0), EXIT_CLEAN);
        cr_assert_eq(CODE_OF(started, ending), EXIT_CLEAN);
}

/* ---- What counts, and what does not ---- */

static Event killed_because(const char *reason) {
        return (Event){ .kind = EVENT_SERVICE_KILLED, .service = "web", .instance = 1, .pid = 9, .reason = reason };
}

Test(verdict, a_kill_counts_in_the_ending_only) {
        cr_assert_eq(CODE_OF(started, killed_because("watchdog"), ending), EXIT_CLEAN);
        cr_assert_eq(CODE_OF(started, ending, killed_because("limit")), EXIT_KILLED);
        cr_assert_eq(CODE_OF(started, ending, killed_because(NULL)), EXIT_KILLED);
}

Test(verdict, who_said_that_it_was_done_was_not_forced) {
        cr_assert_eq(CODE_OF(started, ending, killed_because("drained")), EXIT_CLEAN);
        cr_assert_eq(CODE_OF(started, ending, killed_because("died")), EXIT_CLEAN);
}

Test(verdict, a_kill_at_the_deadline_is_the_deadline) {
        cr_assert_eq(CODE_OF(started, ending, killed_because("deadline")), EXIT_DEADLINE);
}

Test(verdict, what_is_given_up_counts_in_the_ending_only) {
        Event left = { .kind = EVENT_SERVICE_LEFT, .service = "web", .instance = 1 };
        cr_assert_eq(CODE_OF(started, left, ending), EXIT_CLEAN);
        cr_assert_eq(CODE_OF(started, ending, left), EXIT_DEADLINE);
}

Test(verdict, a_hook_that_failed_counts_when_it_says_abort_and_stands_at_a_stop) {
        static const struct {
                const char *says;
                Event event;
                int code;
        } cases[] = {
                { "it ended well", { .on = "pre-stop", .code_word = "exited", .abort = true }, 0 },
                { "it does not say abort", { .on = "pre-stop", .code_word = "exited", .status = 1 }, 0 },
                { "pre-start: a failed start",
                  { .on = "pre-start", .code_word = "exited", .status = 1, .abort = true },
                  0 },
                { "post-start", { .on = "post-start", .code_word = "exited", .status = 1, .abort = true }, 0 },
                { "no edge", { .code_word = "exited", .status = 1, .abort = true }, 0 },
                { "pre-stop", { .on = "pre-stop", .code_word = "exited", .status = 1, .abort = true }, 80 },
                { "post-stop", { .on = "post-stop", .code_word = "exited", .status = 1, .abort = true }, 80 },
                { "begin", { .on = "begin", .code_word = "exited", .status = 1, .abort = true }, 80 },
                { "end", { .on = "end", .code_word = "exited", .status = 1, .abort = true }, 80 },
                { "killed by a signal", { .on = "end", .code_word = "killed", .status = 9, .abort = true }, 80 },
                { "cut at its limit", { .on = "end", .code_word = "exited", .timed_out = true, .abort = true }, 80 },
                { "never reached exec", { .on = "end", .code_word = "exited", .error = "exec", .abort = true }, 80 },
                { "nobody knows how", { .on = "end", .abort = true }, 80 },
        };
        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                Event event = cases[i].event;
                event.kind = EVENT_HOOK_FINISHED;
                event.hook = "flush";
                cr_assert_eq(CODE_OF(started, ending, event), cases[i].code, "%s", cases[i].says);
        }
}

Test(verdict, failed_hooks_are_counted_whatever_they_say) {
        Event failed = {
                .kind = EVENT_HOOK_FINISHED, .hook = "a", .on = "pre-start", .code_word = "exited", .status = 1
        };
        Event good = { .kind = EVENT_HOOK_FINISHED, .hook = "b", .on = "pre-start", .code_word = "exited" };
        Verdict verdict = VERDICT_START;
        verdict = verdict_fold(verdict, &failed);
        verdict = verdict_fold(verdict, &good);
        verdict = verdict_fold(verdict, &failed);
        cr_assert_eq(verdict.hooks_failed, 2);
}

Test(verdict, an_orphan_of_nobody_is_named_by_its_process) {
        Event killed = { .kind = EVENT_SERVICE_KILLED, .pid = 77, .comm = "sleep", .reason = "limit" };
        Verdict verdict = verdict_fold(verdict_fold(VERDICT_START, &ending), &killed);
        cr_assert_str_eq(verdict.culprit, "process 77 (sleep)");
}

/* ---- ExitCodeFrom, and the single command ---- */

static Event exited(const char *service, const char *word, int status) {
        return (Event){
                .kind = EVENT_SERVICE_EXITED, .service = service, .instance = 1, .code_word = word, .status = status
        };
}

Test(verdict, exit_code_from_replaces_nothing_but_a_clean_end) {
        Event from = { .kind = EVENT_SUPERVISOR_STARTED, .exit_code_from = "job" };
        cr_assert_eq(CODE_OF(from, exited("job", "exited", 3), ending), 3);
        cr_assert_eq(CODE_OF(from, exited("job", "killed", 11), ending), 139);
        cr_assert_eq(CODE_OF(from, exited("job", "dumped", 6), ending), 134);
        cr_assert_eq(CODE_OF(from, exited("job", "exited", 3), ending, killed_because("limit")), EXIT_KILLED);
        cr_assert_eq(CODE_OF(from, exited("web", "exited", 3), ending), EXIT_CLEAN);
        cr_assert_eq(CODE_OF(started, exited("job", "exited", 3), ending), EXIT_CLEAN);
        cr_assert_eq(CODE_OF(from, exited("job", "exited", 3), exited("job", "exited", 0), ending), 0,
                     "the last run counts");
}

Test(verdict, a_single_command_passes_its_own_code_on_whatever_happened) {
        Event single = { .kind = EVENT_SUPERVISOR_STARTED, .single = true };
        Event failed = { .kind = EVENT_SERVICE_GAVE_UP, .service = "command", .instance = 1, .essential = true };
        cr_assert_eq(CODE_OF(single, exited("command", "exited", 5), failed, ending), 5);
        cr_assert_eq(CODE_OF(single, ending, killed_because("limit"), exited("command", "killed", 9)), 137);
        cr_assert_eq(CODE_OF(single, ending, exited("command", "exited", 0)), 0);
        cr_assert_eq(CODE_OF(single, ending, exited("command", "exited", 0), killed_because("deadline")), 0);
}

Test(verdict, a_fault_of_our_own_beats_even_the_single_command) {
        Event single = { .kind = EVENT_SUPERVISOR_STARTED, .single = true };
        Event fault = { .kind = EVENT_SUPERVISOR_FAILED, .text = "x" };
        cr_assert_eq(CODE_OF(single, fault, ending, exited("command", "exited", 5)), EXIT_OWN_FAULT);
}

Test(verdict, a_remapped_code_becomes_nought_and_no_other_does) {
        Event single = { .kind = EVENT_SUPERVISOR_STARTED, .single = true, .remap = "0 7 143 255" };
        for (int code = 0; code < 256; code++)
                cr_assert_eq(CODE_OF(single, exited("command", "exited", code), ending),
                             code == 7 || code == 143 || code == 255 ? 0 : code, "%d", code);
        cr_assert_eq(CODE_OF(single, exited("command", "killed", 15), ending), 0, "143 by a signal, too");
}

Test(verdict, nonsense_among_the_remapped_codes_maps_nothing) {
        static const char *const remaps[] = { "", " ", "x", "7x", "-7", "256", "99999999999999999999", "7,8" };
        for (size_t i = 0; i < LENGTH_OF(remaps); i++) {
                Event single = { .kind = EVENT_SUPERVISOR_STARTED, .single = true, .remap = remaps[i] };
                cr_assert_eq(CODE_OF(single, exited("command", "exited", 8), ending), 8, "%s", remaps[i]);
        }
}

/* A journal holds one run after another. */
Test(verdict, a_new_start_begins_a_new_verdict) {
        cr_assert_eq(CODE_OF(started, ending, killed_because("limit"), started, ending), EXIT_CLEAN);
}

Test(verdict, what_the_journal_says_of_its_end_is_kept_beside) {
        Event finished = { .kind = EVENT_ENDING_FINISHED, .code = 99 };
        Verdict verdict = verdict_fold(verdict_fold(VERDICT_START, &ending), &finished);
        cr_assert(verdict.finished);
        cr_assert_eq(verdict.finished_code, 99);
        cr_assert_eq(verdict_code(&verdict), EXIT_CLEAN, "the verdict is its own");
}

/* ---- The sentence ---- */

static const char *explain(const Verdict *verdict, char text[static VERDICT_TEXT_MAX]) {
        verdict_explain(verdict, text);
        cr_assert_gt(strlen(text), 0);
        cr_assert_lt(strlen(text), VERDICT_TEXT_MAX);
        cr_assert_null(strstr(text, "(null)"), "%s", text);
        return text;
}

Test(verdict, each_code_is_explained) {
        static const struct {
                Verdict verdict;
                const char *text;
        } cases[] = {
                { { .ending = true }, "a clean ending: nobody had to be killed" },
                { { .forced = true, .killed = 1, .culprit = "web@2" }, "web@2 had to be killed" },
                { { .forced = true, .killed = 4, .culprit = "web@2" }, "web@2 had to be killed, 4 processes in all" },
                { { .deadline_hit = true, .left = 1, .killed = 9, .culprit = "db" },
                  "the deadline was hit: db did not end in time" },
                { { .deadline_hit = true, .left = 3, .culprit = "db" },
                  "the deadline was hit: db did not end in time, 3 processes in all" },
                { { .essential_failed = true, .culprit = "db@1" }, "the essential service db@1 failed for good" },
                { { .hook_aborted = true, .culprit = "flush" }, "the hook flush failed" },
                { { .descendants_left = true, .culprit = "cron" }, "descendants of cron were left (KillMode=process)" },
                { { .own_fault = true, .culprit = "epoll" }, "a fault of endwell's own: epoll" },
                { { .has_passed_code = true, .passed_code = 3, .exit_code_from = "job" },
                  "a clean ending; the code is that of job" },
                { { .single = true, .has_passed_code = true, .passed_code = 3 }, "the command's own code" },
                { { .single = true, .has_passed_code = true, .passed_code = 137, .killed = 1 },
                  "the command's own code; it had to be killed" },
                { { .single = true, .has_passed_code = true, .passed_code = 7, .remap = { 128 } },
                  "the command's own code, remapped" },
        };
        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                char text[VERDICT_TEXT_MAX];
                cr_assert_str_eq(explain(&cases[i].verdict, text), cases[i].text);
        }
}

Test(verdict, a_name_without_end_is_cut) {
        static char name[4096];
        memset(name, 'x', sizeof name - 1);
        Verdict verdict = verdict_fold(VERDICT_START, &ending);
        for (size_t i = 0; i < N_CAUSES; i++) {
                char text[VERDICT_TEXT_MAX];
                Event event = causes[N_CAUSES - 1 - i].event;
                event.service = event.hook = event.text = event.comm = name;
                verdict = verdict_fold(verdict, &event);
                explain(&verdict, text);
        }
}
