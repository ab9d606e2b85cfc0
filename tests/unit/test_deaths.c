/* test_deaths.c - the queue of the dead, and what becomes of whom it has no room for. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/take.h"
#include "reaper/deaths.h"

#define OWNER(n) "00000000-0000-0000-0000-00000000000" n

static News gone(uint64_t seq, const char *owner) {
        News news = { .kind = NEWS_GONE, .seq = seq, .certain = true, .cause = "crashed", .service = "web" };
        snprintf(news.owner, sizeof news.owner, "%s", owner);
        return news;
}

static News gone_number(uint64_t seq, unsigned number) {
        char owner[NEWS_OWNER_MAX];
        snprintf(owner, sizeof owner, "00000000-0000-0000-0000-%012u", number);
        return gone(seq, owner);
}

static News exited(uint64_t seq, const char *owner, const char *note) {
        News news = gone(seq, owner);
        news.kind = NEWS_EXITED;
        snprintf(news.note, sizeof news.note, "%s", note);
        return news;
}

static int hear(Deaths *deaths, News news) {
        return deaths_hear(deaths, &news);
}

Test(deaths, who_is_gone_is_handed_over_with_the_note_of_his_exit) {
        Deaths deaths;
        deaths_init(&deaths);
        cr_assert_eq(hear(&deaths, exited(1, OWNER("1"), "killed by SIGSEGV")), DEATHS_NOTHING);
        cr_assert_eq(hear(&deaths, exited(2, OWNER("2"), "exit code 3")), DEATHS_NOTHING);
        cr_assert_eq(hear(&deaths, gone(3, OWNER("2"))), DEATHS_ADDED);
        cr_assert_eq(hear(&deaths, gone(4, OWNER("1"))), DEATHS_ADDED);
        cr_assert_str_eq(deaths_first(&deaths)->note, "exit code 3");
        cr_assert_str_eq(deaths_first(&deaths)->owner, OWNER("2"));
        deaths_drop_first(&deaths);
        cr_assert_str_eq(deaths_first(&deaths)->note, "killed by SIGSEGV");
        deaths_drop_first(&deaths);
        cr_assert_null(deaths_first(&deaths));
        cr_assert_eq(deaths.n_exits, 0u, "an exit that was used is forgotten");
        deaths_done(&deaths);
}

Test(deaths, of_an_earlier_run_nobody_saw_the_exit_and_that_is_said) {
        Deaths deaths;
        deaths_init(&deaths);
        hear(&deaths, gone(1, OWNER("1")));
        cr_assert_str_eq(deaths_first(&deaths)->note, "how it ended was not seen");
        deaths_done(&deaths);
}

Test(deaths, out_of_memory_stands_beside_the_signal) {
        Deaths deaths;
        deaths_init(&deaths);
        hear(&deaths, exited(1, OWNER("1"), "killed by SIGKILL"));
        News news = gone(2, OWNER("1"));
        strcpy(news.cause, "oom");
        hear(&deaths, news);
        cr_assert_str_eq(deaths_first(&deaths)->note, "killed by SIGKILL, out of memory");
        deaths_done(&deaths);
}

Test(deaths, who_may_live_is_left_to_the_lease) {
        Deaths deaths;
        deaths_init(&deaths);
        News news = gone(1, OWNER("1"));
        news.certain = false;
        cr_assert_eq(hear(&deaths, news), DEATHS_UNCERTAIN);
        cr_assert_null(deaths_first(&deaths));
        cr_assert_eq(deaths.since, 1u);
        deaths_done(&deaths);
}

Test(deaths, what_was_heard_is_not_heard_again) {
        Deaths deaths;
        deaths_init(&deaths);
        cr_assert_eq(hear(&deaths, gone(5, OWNER("1"))), DEATHS_ADDED);
        cr_assert_eq(hear(&deaths, gone(5, OWNER("1"))), DEATHS_NOTHING);
        cr_assert_eq(hear(&deaths, gone(4, OWNER("2"))), DEATHS_NOTHING);
        cr_assert_eq(hear(&deaths, gone(6, OWNER("1"))), DEATHS_NOTHING, "twice in the queue is once too many");
        cr_assert_eq(deaths_count(&deaths), 1u);
        deaths_done(&deaths);
}

Test(deaths, whom_it_has_no_room_for_is_heard_again_and_nobody_is_forgotten) {
        enum { N = 3 * DEATHS_MAX };
        static bool seen[N + 1];
        Deaths deaths;
        unsigned n_seen = 0, replays = 0, turns = 0;

        deaths_init(&deaths);
        deaths_subscribed(&deaths, 0, 0);
        for (uint64_t seq = 1; n_seen < N;) {
                cr_assert_lt(turns++, 10u * N, "%u of %d were handed over", n_seen, N);
                if (seq <= N)
                        hear(&deaths, gone_number(seq, (unsigned)seq)), seq++;
                cr_assert_leq(deaths_count(&deaths), (size_t)DEATHS_MAX);
                if (seq <= N && !deaths.behind)
                        continue; /* the database is away until nothing fits any more */
                if (deaths_count(&deaths) > 0) {
                        unsigned number = (unsigned)atoi(deaths_first(&deaths)->owner + 24);
                        cr_assert(!seen[number], "%u twice", number);
                        seen[number] = true;
                        n_seen++;
                        deaths_drop_first(&deaths);
                }
                if (deaths_want_replay(&deaths)) {
                        replays++;
                        seq = deaths.since + 1;
                        deaths_subscribed(&deaths, deaths.since, 0);
                }
                cr_assert_lt(replays, 100u);
        }
        cr_assert_gt(replays, 0u, "it never was full");
        cr_assert_eq(deaths.since, (uint64_t)N);
        deaths_done(&deaths);
}

Test(deaths, one_that_fails_lets_the_others_have_their_turn) {
        Deaths deaths;
        deaths_init(&deaths);
        deaths_turn(&deaths);
        hear(&deaths, gone(1, OWNER("1")));
        deaths_turn(&deaths);
        hear(&deaths, gone(2, OWNER("2")));
        hear(&deaths, gone(3, OWNER("3")));
        deaths_turn(&deaths);
        static const char *const order[] = { OWNER("2"), OWNER("3"), OWNER("1") };
        for (size_t i = 0; i < LENGTH_OF(order); i++) {
                cr_assert_str_eq(deaths_first(&deaths)->owner, order[i]);
                deaths_drop_first(&deaths);
        }
        deaths_done(&deaths);
}

Test(deaths, everybody_is_looked_at_a_second_time_but_not_a_third) {
        Deaths deaths;
        deaths_init(&deaths);
        hear(&deaths, gone(1, OWNER("1")));
        hear(&deaths, gone(2, OWNER("2")));
        deaths_finish_first(&deaths, 10);
        deaths_finish_first(&deaths, 20);
        cr_assert_null(deaths_first(&deaths));
        cr_assert_eq(deaths_again_usec(&deaths), 10 + DEATHS_AGAIN_USEC);
        deaths_look_again(&deaths, 10 + DEATHS_AGAIN_USEC - 1, false);
        cr_assert_null(deaths_first(&deaths));
        deaths_look_again(&deaths, 10 + DEATHS_AGAIN_USEC, false);
        cr_assert_str_eq(deaths_first(&deaths)->owner, OWNER("1"));
        cr_assert_eq(deaths_count(&deaths), 1u);
        deaths_finish_first(&deaths, 30 + DEATHS_AGAIN_USEC);
        deaths_look_again(&deaths, 10, true);
        cr_assert_str_eq(deaths_first(&deaths)->owner, OWNER("2"), "at the end nobody waits for his time");
        deaths_finish_first(&deaths, 40);
        cr_assert_eq(deaths_again_usec(&deaths), USEC_INFINITY);
        deaths_done(&deaths);
}

Test(deaths, of_whom_it_hears_long_after_one_look_is_enough) {
        Deaths deaths;
        deaths_init(&deaths);
        deaths_subscribed(&deaths, 0, 1);
        cr_assert(deaths_is_behind(&deaths));
        hear(&deaths, gone(1, OWNER("1")));
        cr_assert_not(deaths_is_behind(&deaths));
        deaths_finish_first(&deaths, 10);
        cr_assert_eq(deaths_again_usec(&deaths), USEC_INFINITY);
        deaths_done(&deaths);
}

Test(deaths, events_that_nobody_keeps_any_more_are_counted) {
        Deaths deaths;
        deaths_init(&deaths);
        deaths_subscribed(&deaths, 7, 7);
        News news = gone(8, OWNER("1"));
        cr_assert_eq(deaths_missed(&deaths, &news), 0u);
        news.seq = 12;
        cr_assert_eq(deaths_missed(&deaths, &news), 4u);
        hear(&deaths, news);
        news.seq = 13;
        cr_assert_eq(deaths_missed(&deaths, &news), 0u);
        deaths_done(&deaths);
}

Test(deaths, exits_without_an_end_do_not_grow_for_ever) {
        Deaths deaths;
        deaths_init(&deaths);
        for (unsigned i = 1; i <= 2 * DEATHS_MAX; i++) {
                News news = gone_number(i, i);
                news.kind = NEWS_EXITED;
                hear(&deaths, news);
        }
        cr_assert_eq(deaths.n_exits, (size_t)DEATHS_MAX);
        News last = gone_number(2 * DEATHS_MAX + 1, 2 * DEATHS_MAX);
        hear(&deaths, last);
        cr_assert_str_eq(deaths_first(&deaths)->note, "", "the newest is still known");
        deaths_done(&deaths);
}
