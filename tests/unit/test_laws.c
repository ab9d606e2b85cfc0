/* test_laws.c - a good run keeps every law, and for each law there is a run that breaks it, and it alone. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/take.h"
#include "shutdown/laws.h"

#define EVENT(kind_, ...)    ((Event){ .kind = EVENT_##kind_, __VA_ARGS__ })
#define OF(kind_, name, ...) ((Event){ .kind = EVENT_##kind_, .service = (name), .instance = 1, __VA_ARGS__ })

#define SLOTS 40

typedef struct Run {
        Event events[SLOTS];
        size_t n;
} Run;

static void number(Run *run) {
        for (size_t i = 0; i < run->n; i++) {
                run->events[i].seq = i + 1;
                run->events[i].mono_usec = (i + 1) * 1000;
        }
}

enum {
        ADOPTED = 7,
        ENDING = 8,
        ASK_WEB = 11,
        EXIT_WEB,
        GONE_WEB,
        ORPHAN_GONE,
        END_HTTP = 16,
        BEGIN_DB,
        ASK_DB,
        LAST = 22
};

static Run good(void) {
        Run run = { .events = {
                            EVENT(SUPERVISOR_STARTED, .mode = "production", .phases = "http db"),
                            OF(SERVICE_STARTING, "db"),
                            OF(SERVICE_STARTED, "db"),
                            OF(SERVICE_STARTING, "web"),
                            OF(SERVICE_STARTED, "web"),
                            EVENT(STARTUP_FINISHED),
                            EVENT(READINESS_CHANGED, .ready = true),
                            EVENT(ORPHAN_ADOPTED, .pid = 9, .comm = "stray"),
                            EVENT(ENDING_STARTED, .cause = "signal", .deadline_usec = 8 * USEC_PER_SEC),
                            EVENT(READINESS_CHANGED, .ready = false),
                            EVENT(PHASE_STARTED, .phase = "http"),
                            OF(SERVICE_ASKED, "web", .reason = "ending"),
                            OF(SERVICE_EXITED, "web", .code_word = "exited"),
                            OF(SERVICE_GONE, "web"),
                            EVENT(ORPHAN_GONE, .pid = 9),
                            OF(HOOK_STARTED, "web", .hook = "flush", .attempt = 1),
                            EVENT(PHASE_FINISHED, .phase = "http"),
                            EVENT(PHASE_STARTED, .phase = "db"),
                            OF(SERVICE_ASKED, "db", .reason = "ending"),
                            OF(SERVICE_EXITED, "db", .code_word = "exited"),
                            OF(SERVICE_GONE, "db"),
                            EVENT(PHASE_FINISHED, .phase = "db"),
                            EVENT(ENDING_FINISHED, .code = 0, .reason = "clean"),
                    } };
        run.n = LAST + 1;
        return run;
}

static void insert(Run *run, size_t at, Event event) {
        memmove(&run->events[at + 1], &run->events[at], (run->n - at) * sizeof event);
        run->events[at] = event;
        run->n++;
}

static void take_out(Run *run, size_t at) {
        memmove(&run->events[at], &run->events[at + 1], (run->n - at - 1) * sizeof *run->events);
        run->n--;
}

static Judgement judge(Run *run) {
        Judgement judgement;
        number(run);
        cr_assert_eq(laws_judge(run->events, run->n, &judgement), 0);
        return judgement;
}

/* Nothing but `law` is broken, and it by the event `seq`. */
static void expect_broken(Run *run, Law law, uint64_t seq) {
        Judgement judgement = judge(run);
        for (Law other = 0; other < _LAW_MAX; other++) {
                const LawFinding *finding = &judgement.of[other];
                if (other == law)
                        cr_expect_eq(finding->state, LAW_BROKEN, "%s was not broken", law_to_string(law));
                else
                        cr_expect_neq(finding->state, LAW_BROKEN, "%s, too: %s", law_to_string(other), finding->text);
        }
        cr_expect_eq(judgement.of[law].breaches[0], seq, "event %u", (unsigned)judgement.of[law].breaches[0]);
        cr_expect(judgement.of[law].text[0]);
        cr_expect_eq(laws_answer(&judgement), LAW_BROKEN);
}

Test(laws, a_good_run_exercises_and_keeps_every_one) {
        Run run = good();
        Judgement judgement = judge(&run);
        for (Law law = 0; law < _LAW_MAX; law++)
                cr_expect_eq(judgement.of[law].state, LAW_HELD, "%s: %s", law_to_string(law), judgement.of[law].text);
        cr_expect_eq(laws_answer(&judgement), LAW_HELD);
        cr_expect(judgement.finished);
}

Test(laws, L1_who_is_asked_while_an_earlier_phase_lives) {
        Run run = good();
        take_out(&run, GONE_WEB);
        expect_broken(&run, LAW_1, ASK_DB);
}

Test(laws, L1_who_is_asked_while_an_orphan_of_nobody_lives) {
        Run run = good();
        Event gone = run.events[ORPHAN_GONE];
        take_out(&run, ORPHAN_GONE);
        insert(&run, ASK_DB, gone);
        expect_broken(&run, LAW_1, ASK_DB);
}

Test(laws, L1_who_is_asked_before_any_phase_began) {
        Run run = good();
        insert(&run, ENDING + 1, OF(SERVICE_ASKED, "web", .reason = "ending"));
        expect_broken(&run, LAW_1, ENDING + 2);
}

Test(laws, L2_a_phase_that_is_skipped) {
        Run run = good();
        run.events[0].phases = "http workers db";
        expect_broken(&run, LAW_2, BEGIN_DB + 1);
}

Test(laws, L2_a_phase_that_never_came) {
        Run run = good();
        run.events[0].phases = "http db telemetry";
        expect_broken(&run, LAW_2, LAST + 1);
}

Test(laws, L2_a_phase_inside_another) {
        Run run = good();
        take_out(&run, END_HTTP);
        expect_broken(&run, LAW_2, BEGIN_DB);
}

Test(laws, L3_a_hook_that_begins_again_for_the_same_run) {
        Run run = good();
        insert(&run, LAST, OF(HOOK_STARTED, "web", .hook = "flush", .attempt = 1));
        expect_broken(&run, LAW_3, LAST + 1);
        run = good(); /* and for another run it may */
        insert(&run, LAST, OF(HOOK_STARTED, "web", .hook = "flush", .attempt = 2));
        cr_expect_eq(judge(&run).of[LAW_3].state, LAW_HELD);
}

Test(laws, L4_an_ending_longer_than_its_deadline) {
        Run run = good();
        run.events[ENDING].deadline_usec = 13 * USEC_PER_MSEC;
        expect_broken(&run, LAW_4, LAST + 1);
        run.events[ENDING].deadline_usec = 14 * USEC_PER_MSEC;
        cr_expect_eq(judge(&run).of[LAW_4].state, LAW_HELD);
}

Test(laws, L5_what_does_not_happen_in_an_ending) {
        const Event never[] = {
                OF(SERVICE_STARTING, "web"), OF(SERVICE_RESTART_SCHEDULED, "web"),           OF(PROBE_CHANGED, "web"),
                OF(WATCHDOG_EXPIRED, "web"), OF(SERVICE_ASKED, "web", .reason = "liveness"),
        };
        for (size_t i = 0; i < LENGTH_OF(never); i++) {
                Run run = good();
                insert(&run, ASK_WEB + 1, never[i]);
                expect_broken(&run, LAW_5, ASK_WEB + 2);
        }
}

Test(laws, L6_readiness_that_comes_back) {
        Run run = good();
        insert(&run, END_HTTP, EVENT(READINESS_CHANGED, .ready = true));
        expect_broken(&run, LAW_6, END_HTTP + 1);
}

Test(laws, L7_a_child_and_an_orphan_of_whom_nothing_is_heard) {
        Run run = good();
        take_out(&run, EXIT_WEB);
        expect_broken(&run, LAW_7, 5);
        run = good();
        run.events[ADOPTED].service = run.events[ORPHAN_GONE].service = "web"; /* not nobody's: L1 has no say */
        take_out(&run, ORPHAN_GONE);
        expect_broken(&run, LAW_7, ADOPTED + 1);
}

Test(laws, L7_who_was_given_up_or_left_on_purpose_need_not_be_collected) {
        Run run = good();
        run.events[EXIT_WEB] = OF(SERVICE_LEFT, "web");
        cr_expect_eq(judge(&run).of[LAW_7].state, LAW_HELD);
        run = good();
        run.events[ORPHAN_GONE] = OF(DESCENDANTS_LEFT, "web", .left = 1);
        cr_expect_eq(judge(&run).of[LAW_7].state, LAW_HELD);
        run = good(); /* a check that is given up says nothing of the service */
        run.events[EXIT_WEB] = OF(SERVICE_LEFT, "web", .probe = "liveness");
        cr_expect_eq(judge(&run).of[LAW_7].state, LAW_BROKEN);
}

Test(laws, L7_an_orphan_that_became_a_main_process_is_collected_as_one) {
        Run run = good();
        run.events[ADOPTED].service = "web";
        run.events[EXIT_WEB].pid = run.events[ADOPTED].pid;
        take_out(&run, ORPHAN_GONE);
        cr_expect_eq(judge(&run).of[LAW_7].state, LAW_HELD);
}

Test(laws, L9_a_code_that_the_journal_does_not_prove) {
        Run run = good();
        run.events[LAST].code = 81;
        expect_broken(&run, LAW_9, LAST + 1);
}

Test(laws, L10_something_after_the_last_event) {
        Run run = good();
        insert(&run, run.n, EVENT(LOG_DROPPED));
        expect_broken(&run, LAW_10, LAST + 2);
}

Test(laws, a_run_that_was_cut_off_proves_nothing_of_its_end) {
        Run run = good();
        run.n = ASK_WEB + 1;
        Judgement judgement = judge(&run);
        const Law unknown[] = { LAW_4, LAW_7, LAW_9, LAW_10 };
        for (size_t i = 0; i < LENGTH_OF(unknown); i++)
                cr_expect_eq(judgement.of[unknown[i]].state, LAW_UNKNOWN);
        cr_expect_eq(judgement.of[LAW_5].state, LAW_HELD);
        cr_expect_eq(laws_answer(&judgement), LAW_UNKNOWN);
}

Test(laws, where_events_are_missing_nothing_is_said_to_hold) {
        Run run = good();
        Judgement judgement;
        number(&run);
        take_out(&run, GONE_WEB); /* with its number */
        cr_assert_eq(laws_judge(run.events, run.n, &judgement), 0);
        cr_expect_eq(judgement.missing, 1);
        cr_expect_eq(judgement.missing_from, GONE_WEB + 1);
        for (Law law = 0; law < _LAW_MAX; law++)
                cr_expect_eq(judgement.of[law].state, LAW_UNKNOWN, "%s", law_to_string(law));
}

Test(laws, development_takes_a_short_cut_that_breaks_nothing) {
        Run run = good();
        run.events[0].mode = "development";
        take_out(&run, GONE_WEB);
        Judgement judgement = judge(&run);
        cr_expect_eq(judgement.of[LAW_1].state, LAW_NOT_EXERCISED);
        cr_expect_eq(judgement.of[LAW_2].state, LAW_NOT_EXERCISED);
        cr_expect_neq(laws_answer(&judgement), LAW_BROKEN);
}

Test(laws, at_the_deadline_phases_may_be_given_up) {
        Run run = good();
        run.events[0].phases = "http db telemetry";
        insert(&run, LAST, OF(SERVICE_LEFT, "db", .reason = "deadline"));
        run.events[LAST + 1].code = 82;
        cr_expect_eq(judge(&run).of[LAW_2].state, LAW_HELD);
}
