/* test_conductor.c - the ending with a stage of a few numbers: orders, limits, and that nothing stale counts. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/take.h"
#include "tests/support/fake_stage.h"

#define SEC USEC_PER_SEC

static const usec_t no_delay[FAKE_PHASES];
static const usec_t one_second[FAKE_PHASES] = { 1 * SEC };
static const usec_t two_seconds[FAKE_PHASES] = { 2 * SEC };

#define START 100 * SEC

static void diary_is(const FakeStage *fake, const char *expected) {
        cr_assert_str_eq(fake->diary, expected);
}

static void events_are(const FakeStage *fake, const char *expected) {
        cr_assert_str_eq(fake->events, expected);
}

Test(conductor, before_the_ending_nothing_is_due) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        cr_assert_not(conductor_is_ending(&fake.conductor));
        cr_assert_eq(conductor_next_usec(&fake.conductor), USEC_INFINITY);
        cr_assert_eq(conductor_deadline_usec(&fake.conductor), USEC_INFINITY);
        fake.now += 1000000 * SEC;
        conductor_tick(&fake.conductor);
        conductor_tell(&fake.conductor, HAPPENING_GROUP_EMPTY);
        conductor_tell(&fake.conductor, HAPPENING_DEADLINE_REACHED);
        diary_is(&fake, "");
}

Test(conductor, a_clean_ending_takes_the_phases_in_order) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        cr_assert(conductor_is_ending(&fake.conductor));
        cr_assert_eq(conductor_deadline_usec(&fake.conductor), START + 26 * SEC);
        diary_is(&fake, "withdraw enter:0 stop:0");
        fake_stage_empty(&fake, 0);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0 enter:1 stop:1");
        fake_stage_empty(&fake, 1);
        fake_stage_empty(&fake, 2);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0 enter:1 stop:1 close:1 enter:2 stop:2 close:2 finish");
        events_are(&fake, "http+3<12 s http-3/0/0 workers+2<22 s workers-2/0/0 db+1<25 s db-1/0/0");
        cr_assert_eq(conductor_next_usec(&fake.conductor), USEC_INFINITY);
}

Test(conductor, a_phase_without_anybody_passes_by_itself) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        memset(fake.alive, 0, sizeof fake.alive);
        memset(fake.members, 0, sizeof fake.members);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0 enter:1 stop:1 close:1 enter:2 stop:2 close:2 finish");
}

Test(conductor, a_second_request_changes_nothing) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake.now += 3 * SEC;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        diary_is(&fake, "withdraw enter:0 stop:0");
        cr_assert_eq(conductor_deadline_usec(&fake.conductor), START + 26 * SEC);
        cr_assert_eq(conductor_limit_usec(&fake.conductor), START + 12 * SEC);
}

Test(conductor, the_gateway_is_awaited_at_most_a_second) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        fake.gateway = true;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        diary_is(&fake, "withdraw");
        cr_assert_eq(conductor_next_usec(&fake.conductor), START + ACKNOWLEDGEMENT_USEC);
        fake.now = START + ACKNOWLEDGEMENT_USEC - 1;
        conductor_tick(&fake.conductor);
        diary_is(&fake, "withdraw");
        fake_stage_advance(&fake);
        diary_is(&fake, "withdraw enter:0 stop:0");
}

Test(conductor, an_acknowledgement_goes_on_at_once_and_counts_once) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        fake.gateway = true;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake.now += 5000;
        conductor_tell(&fake.conductor, HAPPENING_ACKNOWLEDGED);
        conductor_tell(&fake.conductor, HAPPENING_ACKNOWLEDGED);
        diary_is(&fake, "withdraw enter:0 stop:0");
        cr_assert_eq(conductor_next_usec(&fake.conductor), START + 12 * SEC,
                     "the timer of the acknowledgement still runs");
}

Test(conductor, a_delay_keeps_serving_before_the_first_signal) {
        FakeStage fake;
        fake_stage_init(&fake, two_seconds, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        diary_is(&fake, "withdraw enter:0");
        cr_assert_eq(conductor_next_usec(&fake.conductor), START + 2 * SEC);
        fake_stage_advance(&fake);
        diary_is(&fake, "withdraw enter:0 stop:0");
}

Test(conductor, nobody_waits_out_a_delay_for_an_empty_group) {
        FakeStage fake;
        fake_stage_init(&fake, two_seconds, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake_stage_empty(&fake, 0);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0 enter:1 stop:1");
        cr_assert_eq(conductor_next_usec(&fake.conductor), START + 22 * SEC, "the delay still runs");
}

Test(conductor, begin_hooks_hold_the_first_signal_back) {
        FakeStage fake;
        fake_stage_init(&fake, two_seconds, false);
        fake.hooks_linger = true;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake_stage_advance(&fake);
        diary_is(&fake, "withdraw enter:0");
        conductor_tell(&fake.conductor, HAPPENING_HOOKS_DONE);
        diary_is(&fake, "withdraw enter:0 stop:0");
}

Test(conductor, at_the_limit_asking_turns_into_killing_once) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake.now = START + 12 * SEC - 1;
        conductor_tick(&fake.conductor);
        diary_is(&fake, "withdraw enter:0 stop:0");
        fake_stage_advance(&fake);
        conductor_tick(&fake.conductor);
        diary_is(&fake, "withdraw enter:0 stop:0 kill");
        cr_assert_eq(conductor_next_usec(&fake.conductor), START + 26 * SEC, "a limit that was told is due again");
        fake_stage_empty(&fake, 0);
        events_are(&fake, "http+3<12 s http-3/3/0 workers+2<10 s");
}

Test(conductor, time_that_nobody_used_rolls_forward) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake.now += 1 * SEC;
        fake_stage_empty(&fake, 0);
        cr_assert_eq(conductor_limit_usec(&fake.conductor), START + 22 * SEC);
        events_are(&fake, "http+3<12 s http-3/0/0 workers+2<21 s");
}

Test(conductor, the_deadline_gives_up_what_is_left) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake_stage_advance(&fake);
        fake_stage_advance(&fake);
        diary_is(&fake, "withdraw enter:0 stop:0 kill abandon finish");
        events_are(&fake, "http+3<12 s http-0/3/3");
        cr_assert_eq(conductor_next_usec(&fake.conductor), USEC_INFINITY);
}

/* A laptop that was closed, a container that was frozen: one tick must do. */
Test(conductor, a_clock_that_jumped_past_everything_ends_in_one_tick) {
        FakeStage fake;
        fake_stage_init(&fake, two_seconds, false);
        fake.gateway = true;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake.now += 3600 * SEC;
        conductor_tick(&fake.conductor);
        cr_assert_not_null(strstr(fake.diary, "abandon finish"), "%s", fake.diary);
        cr_assert_eq(fake.conductor.sequence.step, STEP_ENDED);
}

Test(conductor, end_hooks_that_reach_the_limit_are_killed_and_awaited) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        fake.hooks_linger = true;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        conductor_tell(&fake.conductor, HAPPENING_HOOKS_DONE);
        fake_stage_empty(&fake, 0);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0");
        fake_stage_advance(&fake);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0 kill");
        conductor_tell(&fake.conductor, HAPPENING_HOOKS_DONE);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0 kill enter:1");
}

Test(conductor, a_fast_ending_keeps_the_order_and_skips_the_waiting) {
        FakeStage fake;
        fake_stage_init(&fake, two_seconds, false);
        fake.gateway = true;
        conductor_tell(&fake.conductor, HAPPENING_FAST_ASKED);
        diary_is(&fake, "withdraw-fast stop:0");
        cr_assert_eq(conductor_limit_usec(&fake.conductor), START + FAST_USEC);
        fake_stage_advance(&fake);
        fake_stage_empty(&fake, 0);
        diary_is(&fake, "withdraw-fast stop:0 kill close:0 stop:1");
        cr_assert_eq(conductor_limit_usec(&fake.conductor), START + 2 * FAST_USEC);
}

Test(conductor, a_fast_request_ends_the_waiting_for_the_gateway) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        fake.gateway = true;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        conductor_tell(&fake.conductor, HAPPENING_FAST_ASKED);
        diary_is(&fake, "withdraw stop:0");
        cr_assert_eq(conductor_next_usec(&fake.conductor), START + FAST_USEC);
}

Test(conductor, a_fast_request_ends_a_delay) {
        FakeStage fake;
        fake_stage_init(&fake, one_second, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake.now += 500000;
        conductor_tell(&fake.conductor, HAPPENING_FAST_ASKED);
        diary_is(&fake, "withdraw enter:0 stop:0");
        cr_assert_eq(conductor_next_usec(&fake.conductor), START + 500000 + FAST_USEC, "the delay still runs");
}

Test(conductor, hurrying_leaves_a_second_and_no_more_however_often) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake.now += 1 * SEC;
        conductor_tell(&fake.conductor, HAPPENING_FAST_ASKED);
        fake.now += 500000;
        conductor_tell(&fake.conductor, HAPPENING_FAST_ASKED);
        diary_is(&fake, "withdraw enter:0 stop:0 hurry");
        cr_assert_eq(conductor_limit_usec(&fake.conductor), START + 2 * SEC);
}

Test(conductor, hurrying_never_moves_a_limit_back) {
        FakeStage fake;
        fake_stage_init(&fake, no_delay, false);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake.now = START + 12 * SEC - 1000;
        conductor_tell(&fake.conductor, HAPPENING_FAST_ASKED);
        cr_assert_eq(conductor_limit_usec(&fake.conductor), START + 12 * SEC);
}

Test(conductor, development_asks_all_at_once_and_kills_after_a_second) {
        FakeStage fake;
        fake_stage_init(&fake, two_seconds, true);
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        diary_is(&fake, "withdraw-fast stop-all:2");
        fake_stage_advance(&fake);
        cr_assert_eq(fake.now, START + FAST_USEC);
        fake.alive[0] = fake.alive[1] = 0;
        fake_stage_empty(&fake, 2);
        diary_is(&fake, "withdraw-fast stop-all:2 kill close:2 finish");
        events_are(&fake, "all+6<1 s all-6/1/0");
}

/* While a phase closes, somebody still says that its group is empty: that must not let the next phase skip its delay,
 * and not its group either. */
Test(conductor, an_empty_group_of_one_phase_never_stands_for_the_next) {
        static const usec_t delays[FAKE_PHASES] = { 0, 5 * SEC, 0 };
        FakeStage fake;
        fake_stage_init(&fake, delays, false);
        fake.tells_stale = true;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        fake_stage_empty(&fake, 0);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0 enter:1");
        fake_stage_advance(&fake);
        diary_is(&fake, "withdraw enter:0 stop:0 close:0 enter:1 stop:1");
}

/* ---- A walk over every series of happenings ---- */

#define WALK_LENGTH 6
#define N_MOVES     (_HAPPENING_MAX + FAKE_PHASES + 1)

static unsigned count(const char *text, const char *word) {
        unsigned n = 0;
        for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
                n++;
        return n;
}

static void laws_hold(const FakeStage *fake) {
        const char *finish = strstr(fake->diary, "finish");
        cr_assert(!finish || !finish[strlen("finish")], "something after the end: %s", fake->diary);
        cr_assert_leq(count(fake->diary, "withdraw"), 1, "%s", fake->diary);
        const char *last = fake->diary;
        static const char *const stops[FAKE_PHASES] = { "stop:0", "stop:1", "stop:2" };
        for (unsigned phase = 0; phase < FAKE_PHASES; phase++) {
                const char *stop = strstr(fake->diary, stops[phase]);
                cr_assert_leq(count(fake->diary, stops[phase]), 1, "%s", fake->diary);
                cr_assert(!stop || stop > last, "phases went back: %s", fake->diary);
                cr_assert(!stop || phase == 0 || fake->alive[phase - 1] == 0 || count(fake->diary, "close"), "%s",
                          fake->diary);
                last = stop ? stop : last;
        }
        /* Each phase that began ended before the next one began, and at the end none is open. */
        unsigned began = count(fake->events, "+"), ended = count(fake->events, "-");
        cr_assert(began == ended || began == ended + 1, "%s", fake->events);
        if (finish)
                cr_assert_eq(began, ended, "%s: %s", fake->diary, fake->events);
        usec_t next = conductor_next_usec(&fake->conductor);
        cr_assert(next <= conductor_deadline_usec(&fake->conductor) || fake->conductor.sequence.step == STEP_ENDED ||
                  !conductor_is_ending(&fake->conductor));
        cr_assert_not(fake->conductor.busy);
        cr_assert_eq(fake->conductor.pending, 0);
}

static void move(FakeStage *fake, unsigned which) {
        if (which < _HAPPENING_MAX)
                conductor_tell(&fake->conductor, (Happening)which);
        else if (which < _HAPPENING_MAX + FAKE_PHASES)
                fake_stage_empty(fake, which - _HAPPENING_MAX);
        else if (conductor_next_usec(&fake->conductor) != USEC_INFINITY)
                fake_stage_advance(fake);
}

/* From wherever a series of happenings led, time alone must bring the end, and not later than the deadline. */
static void time_brings_the_end(FakeStage *fake) {
        usec_t deadline = conductor_deadline_usec(&fake->conductor);
        for (unsigned turns = 0; fake->conductor.sequence.step != STEP_ENDED; turns++) {
                cr_assert_lt(turns, 32, "time stands still: %s", fake->diary);
                fake_stage_advance(fake);
                cr_assert_leq(fake->now, deadline);
        }
        laws_hold(fake);
        cr_assert_eq(count(fake->diary, "finish"), 1, "%s", fake->diary);
}

static void walk(const FakeStage *from, unsigned left) {
        for (unsigned which = 0; which < N_MOVES; which++) {
                FakeStage fake = *from;
                fake.conductor.self = &fake;
                move(&fake, which);
                laws_hold(&fake);
                if (left > 1 && fake.conductor.sequence.step != STEP_ENDED)
                        walk(&fake, left - 1);
                else if (conductor_is_ending(&fake.conductor))
                        time_brings_the_end(&fake);
        }
}

static void walk_from(bool development, bool gateway, bool hooks_linger) {
        FakeStage fake;
        fake_stage_init(&fake, two_seconds, development);
        fake.gateway = gateway;
        fake.hooks_linger = hooks_linger;
        conductor_tell(&fake.conductor, HAPPENING_ENDING_ASKED);
        walk(&fake, WALK_LENGTH - 1);
}

Test(conductor, no_series_of_happenings_breaks_a_law) {
        walk_from(false, true, true);
        walk_from(false, false, false);
        walk_from(true, false, true);
}
