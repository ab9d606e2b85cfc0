/* test_life.c - the life of one instance: its laws over every reachable state and happening. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/take.h"
#include "supervisor/life.h"

static const struct Row {
        const char *says;
        Life from;
        LifeHappening what;
        LifeState state;
        LifeOrder order;
} rows[] = {
        { "its turn runs the pre-start hooks", { LIFE_WAITING }, LIFE_TURN, LIFE_PRE_START, LIFE_ORDER_RUN_PRE_START },
        { "a failed pre-start hook never spawns",
          { LIFE_PRE_START },
          LIFE_HOOKS_FAILED,
          LIFE_POST_STOP,
          LIFE_ORDER_RUN_POST_STOP },
        { "a stop during pre-start never spawns",
          { LIFE_PRE_START, .stop = true },
          LIFE_HOOKS_DONE,
          LIFE_POST_STOP,
          LIFE_ORDER_RUN_POST_STOP },
        { "what was never ready has no pre-stop hooks",
          { LIFE_STARTING },
          LIFE_STOP_WANTED,
          LIFE_STOPPING,
          LIFE_ORDER_ASK },
        { "what is ready has them first", { LIFE_READY }, LIFE_STOP_WANTED, LIFE_PRE_STOP, LIFE_ORDER_RUN_PRE_STOP },
        { "but not in a hurry", { LIFE_READY }, LIFE_HURRY_WANTED, LIFE_STOPPING, LIFE_ORDER_ASK },
        { "a limit kills", { LIFE_STOPPING }, LIFE_TIME_UP, LIFE_KILLING, LIFE_ORDER_KILL },
        { "an ill one is asked at once, without its pre-stop hooks",
          { LIFE_READY },
          LIFE_UNHEALTHY,
          LIFE_STOPPING,
          LIFE_ORDER_ASK },
        { "also while it starts", { LIFE_STARTING }, LIFE_UNHEALTHY, LIFE_STOPPING, LIFE_ORDER_ASK },
        { "but not one that is to stop anyway",
          { LIFE_READY, .stop = true },
          LIFE_UNHEALTHY,
          LIFE_READY,
          LIFE_ORDER_NONE },
        { "outliving SIGKILL is given up", { LIFE_KILLING, .killed = true }, LIFE_TIME_UP, LIFE_LEFT, LIFE_ORDER_REST },
        { "a dead main process leaves a tree to clear",
          { LIFE_READY },
          LIFE_MAIN_GONE,
          LIFE_CLEARING,
          LIFE_ORDER_CLEAR },
        { "the tree is killed once", { LIFE_CLEARING }, LIFE_FORCED, LIFE_CLEARING, LIFE_ORDER_KILL },
        { "and not twice", { LIFE_CLEARING, .killed = true }, LIFE_FORCED, LIFE_CLEARING, LIFE_ORDER_NONE },
        { "a stop while it waits for its restart ends it",
          { LIFE_BACKOFF },
          LIFE_STOP_WANTED,
          LIFE_DONE,
          LIFE_ORDER_REST },
        { "a person's restart asks, and its sockets stay",
          { LIFE_STARTING },
          LIFE_RENEW_WANTED,
          LIFE_STOPPING,
          LIFE_ORDER_ASK },
        { "a person's start does not wait for the delay",
          { LIFE_BACKOFF },
          LIFE_RENEW_WANTED,
          LIFE_WAITING,
          LIFE_ORDER_NONE },
        { "who is to come again does, whatever his end was like",
          { LIFE_POST_STOP, .again = true },
          LIFE_RESTARTS,
          LIFE_WAITING,
          LIFE_ORDER_NONE },
        { "a restart after a stop is none",
          { LIFE_POST_STOP, .stop = true },
          LIFE_RESTARTS,
          LIFE_DONE,
          LIFE_ORDER_REST },
};

Test(life, each_row_of_the_table_holds) {
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                LifeStep step = life_step(rows[i].from, rows[i].what);
                cr_assert_eq(step.next.state, rows[i].state, "%s: got %s", rows[i].says,
                             life_state_to_string(step.next.state));
                cr_assert_eq(step.order, rows[i].order, "%s: ordered %s", rows[i].says,
                             life_order_to_string(step.order));
        }
}

static bool begins(LifeOrder order) {
        return order == LIFE_ORDER_RUN_PRE_START || order == LIFE_ORDER_SPAWN;
}

Test(life, from_no_state_does_anything_start_after_a_stop) {
        for (LifeState state = 0; state < _LIFE_STATE_MAX; state++)
                for (int killed = 0; killed <= 1; killed++)
                        for (LifeHappening what = 0; what < _LIFE_HAPPENING_MAX; what++) {
                                LifeStep step = life_step((Life){ state, .stop = true, .held = killed, .again = killed,
                                                                  .killed = killed },
                                                          what);
                                cr_assert(step.next.stop, "a stop is for ever");
                                cr_assert(!begins(step.order), "%s + %s starts something", life_state_to_string(state),
                                          life_happening_to_string(what));
                                cr_assert_neq(step.next.state, LIFE_BACKOFF, "%s", life_happening_to_string(what));
                        }
}

Test(life, nobody_is_probed_to_death_who_is_to_stop_or_does_not_serve) {
        for (LifeState state = 0; state < _LIFE_STATE_MAX; state++)
                for (int stop = 0; stop <= 1; stop++)
                        for (int killed = 0; killed <= 1; killed++) {
                                LifeStep step =
                                        life_step((Life){ state, .stop = stop, .killed = killed }, LIFE_UNHEALTHY);
                                bool ill = !stop && (state == LIFE_STARTING || state == LIFE_READY);
                                bool rests = stop && (state == LIFE_WAITING || state == LIFE_BACKOFF);
                                cr_assert_eq(step.order,
                                             ill     ? LIFE_ORDER_ASK
                                             : rests ? LIFE_ORDER_REST
                                                     : LIFE_ORDER_NONE,
                                             "%s", life_state_to_string(state));
                                cr_assert_eq(step.next.state,
                                             ill     ? LIFE_STOPPING
                                             : rests ? LIFE_DONE
                                                     : state,
                                             "%s", life_state_to_string(state));
                                cr_assert_eq(step.next.stop, stop, "illness is no stop: it starts again");
                        }
}

Test(life, what_rests_rests) {
        for (LifeState state = 0; state < _LIFE_STATE_MAX; state++)
                for (LifeHappening what = 0; life_is_resting(state) && what < _LIFE_HAPPENING_MAX; what++) {
                        LifeStep step = life_step((Life){ state, .stop = true }, what);
                        cr_assert(step.next.state == state && step.order == LIFE_ORDER_NONE);
                        if (what == LIFE_RENEW_WANTED && state != LIFE_LEFT)
                                continue;
                        step = life_step((Life){ state }, what);
                        cr_assert(step.next.state == state && step.order == LIFE_ORDER_NONE);
                }
}

static Life lead_on(Life life, bool restarts) {
        const LifeHappening natural[] = { LIFE_HOOKS_DONE, LIFE_MAIN_GONE, LIFE_TREE_GONE, LIFE_HOOKS_DONE,
                                          restarts ? LIFE_RESTARTS : LIFE_RESTS };
        for (size_t i = 0; i < LENGTH_OF(natural); i++)
                life = life_step(life, natural[i]).next;
        return life;
}

Test(life, whom_a_person_stops_rests_as_stopped_from_every_state_and_nothing_begins) {
        for (LifeState state = 0; state < _LIFE_STATE_MAX; state++) {
                if (life_is_resting(state))
                        continue;
                LifeStep step = life_step((Life){ state }, LIFE_HALT_WANTED);
                cr_assert(!begins(step.order), "%s", life_state_to_string(state));
                for (int restarts = 0; restarts <= 1; restarts++)
                        cr_assert_eq(lead_on(step.next, restarts).state, LIFE_STOPPED, "%s",
                                     life_state_to_string(state));
        }
}

Test(life, whom_a_person_starts_waits_for_his_turn_from_every_state_but_one) {
        for (LifeState state = 0; state < _LIFE_STATE_MAX; state++)
                for (int held = 0; held <= 1; held++) {
                        Life life = life_step((Life){ state, .held = held }, LIFE_RENEW_WANTED).next;
                        if (!life_is_resting(life.state))
                                life = lead_on(life, true);
                        cr_assert_eq(life.state, state == LIFE_LEFT ? LIFE_LEFT : LIFE_WAITING, "%s ends as %s",
                                     life_state_to_string(state), life_state_to_string(life.state));
                        cr_assert(state == LIFE_LEFT || (!life.held && !life.again), "%s", life_state_to_string(state));
                }
}

Test(life, an_ending_has_the_last_word_over_persons) {
        for (LifeState state = 0; state < _LIFE_STATE_MAX; state++) {
                Life life = life_step((Life){ state }, LIFE_STOP_WANTED).next;
                LifeStep step = life_step(life, LIFE_RENEW_WANTED);
                cr_assert(memcmp(&step.next, &life, sizeof life) == 0 || life_is_resting(state));
                cr_assert_eq(step.order, LIFE_ORDER_NONE);
        }
}

Test(life, from_every_state_enough_force_leads_to_rest) {
        static const LifeHappening force[] = { LIFE_HURRY_WANTED, LIFE_FORCED,     LIFE_MAIN_GONE, LIFE_HOOKS_DONE,
                                               LIFE_TREE_GONE,    LIFE_HOOKS_DONE, LIFE_RESTS,     LIFE_RESTS };
        for (LifeState state = 0; state < _LIFE_STATE_MAX; state++) {
                Life life = { state };
                for (size_t i = 0; i < LENGTH_OF(force); i++)
                        life = life_step(life, force[i]).next;
                cr_assert(life_is_resting(life.state), "%s ends as %s", life_state_to_string(state),
                          life_state_to_string(life.state));
        }
}

Test(life, giving_up_leads_to_rest_at_once) {
        for (LifeState state = 0; state < _LIFE_STATE_MAX; state++)
                cr_assert(life_is_resting(life_step((Life){ state }, LIFE_ABANDONED).next.state));
}

Test(life, every_word_reads_back_as_itself) {
        for (LifeState i = 0; i < _LIFE_STATE_MAX; i++)
                cr_assert_eq(life_state_from_string(life_state_to_string(i)), (int)i);
        for (LifeHappening i = 0; i < _LIFE_HAPPENING_MAX; i++)
                cr_assert_eq(life_happening_from_string(life_happening_to_string(i)), (int)i);
        for (LifeOrder i = 0; i < _LIFE_ORDER_MAX; i++)
                cr_assert_eq(life_order_from_string(life_order_to_string(i)), (int)i);
}
