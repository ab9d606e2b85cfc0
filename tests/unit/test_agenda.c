/* test_agenda.c - what the reaper does next: every short sequence of happenings, and the laws on the way. */
#include <criterion/criterion.h>

#include "base/take.h"
#include "reaper/agenda.h"

#define MIDDLE (UINT32_MAX / 2)
#define LIMIT  (2 * USEC_PER_SEC)

static const AgendaRules ordinary = { .interval_usec = 5 * USEC_PER_SEC };

static const AgendaSight idle = { .database_ready = true, .heard_all = true, .again_usec = USEC_INFINITY };

static AgendaSight at(usec_t now) {
        AgendaSight sight = idle;
        sight.now_usec = now;
        return sight;
}

static AgendaStep next(const AgendaRules *rules, Agenda agenda, AgendaSight sight) {
        return agenda_next(rules, agenda, &sight);
}

/* ---- The walk ---- */

typedef enum Happening {
        TIME_FLIES,   /* to the moment that it waits for */
        TIME_PASSES,  /* a little */
        DEATH,        /* one more owner */
        DEATH_DONE,   /* the work that is ordered ends: handed over, or whatever it was */
        WORK_MORE,    /* it ends, and there is more */
        WORK_FAILS,   /* it ends badly */
        BASE_COMES,   /* the database is connected */
        BASE_GOES,    /* and lost */
        PHASE_BEGINS, /* sessions are to be counted */
        ASKED,        /* to end */
        HEARD,        /* the last death before that */
        CONFIRMED,    /* PID 1 has taken a report */
        FALLS_BEHIND, /* more died than it could hold */
        CATCHES_UP,
        FALLS_DEAF, /* PID 1 does not answer any more */
        _HAPPENING_MAX,
} Happening;

typedef struct World {
        Agenda agenda;
        AgendaSight sight;
        AgendaStep step;
        bool works; /* the ordered work is under way */
        bool has_reported;
} World;

static unsigned long n_steps;

static void check_laws(const AgendaRules *rules, const World *world) {
        const AgendaSight *sight = &world->sight;
        const AgendaStep *step = &world->step;
        const Agenda *agenda = &world->agenda;
        bool is_job = step->work < AGENDA_N_JOBS, limit_over = sight->now_usec >= agenda->settle_limit_usec;
        usec_t last_usec = agenda->settle_limit_usec + AGENDA_LAST_USEC;

        n_steps++;
        if (is_job) {
                cr_assert(sight->database_ready, "nothing is asked of a database that is not ready");
                cr_assert_geq(sight->now_usec, agenda->rest_usec, "a rest is kept");
                cr_assert(!agenda->settling || step->work < AGENDA_SWEEP, "who ends neither sweeps nor prunes");
                cr_assert(!agenda->settling || !limit_over, "nothing is begun after the limit");
        }
        if (step->work == AGENDA_HAND_OVER)
                cr_assert_gt(sight->n_dead, 0u);
        if (step->work == AGENDA_LEAVE && agenda->settling && !limit_over && !rules->once) {
                cr_assert_eq(sight->n_dead, 0u, "nobody is left behind before the limit");
                cr_assert(sight->n_unsaid == 0 || (sight->deaf && sight->now_usec >= agenda->hear_limit_usec),
                          "what is reported is heard, or nobody hears");
                cr_assert(sight->heard_all || sight->now_usec >= agenda->hear_limit_usec, "it listens to the end");
                cr_assert(!sight->behind || sight->deaf, "and to what there was no room for");
        }
        if (step->work == AGENDA_REPORT)
                cr_assert(!world->has_reported && agenda->settling, "it reports once, at its end");
        if (step->work == AGENDA_LEAVE && agenda->settling && !rules->once)
                cr_assert(world->has_reported, "nobody leaves without a word");
        if (step->work == AGENDA_LEAVE && !rules->once)
                cr_assert(agenda->settling, "it leaves only when it is asked");
        if (agenda->settling && limit_over)
                cr_assert(step->work == AGENDA_LEAVE || step->work == AGENDA_REPORT ||
                                  (step->work == AGENDA_WAIT && sight->n_unsaid > 0),
                          "at the limit it reports and leaves, whatever is left");
        if (agenda->settling && sight->now_usec >= last_usec && world->has_reported)
                cr_assert_eq(step->work, AGENDA_LEAVE, "no later than that, whoever has not answered");
        if (step->work == AGENDA_WAIT) {
                cr_assert_gt(step->until_usec, sight->now_usec, "it never spins");
                if (agenda->settling)
                        cr_assert_leq(step->until_usec, world->has_reported ? last_usec : agenda->settle_limit_usec,
                                      "no wait goes over the limit");
                if (sight->database_ready && sight->now_usec >= agenda->rest_usec && !agenda->settling) {
                        cr_assert_eq(sight->n_dead, 0u, "the dead do not wait");
                        cr_assert_gt(agenda->due_usec[AGENDA_SWEEP], sight->now_usec, "what is due is done");
                        cr_assert_leq(step->until_usec, agenda->due_usec[AGENDA_SWEEP], "it wakes for its sweep");
                }
        }
}

static void decide(const AgendaRules *rules, World *world) {
        world->step = agenda_next(rules, world->agenda, &world->sight);
        world->agenda = world->step.agenda;
        check_laws(rules, world);
        world->works = world->step.work < AGENDA_N_JOBS;
        if (world->works)
                world->sight.database_ready = false; /* busy */
        if (world->step.work == AGENDA_REPORT) {
                world->has_reported = true;
                world->sight.n_unsaid++;
                decide(rules, world);
        }
}

static void end_work(const AgendaRules *rules, World *world, AgendaResult result) {
        world->works = false;
        world->sight.database_ready = true;
        if (world->step.work == AGENDA_HAND_OVER && result == AGENDA_DONE)
                world->sight.n_dead--;
        world->agenda = agenda_after(rules, world->agenda, world->step.work, result, world->sight.now_usec, MIDDLE);
        decide(rules, world);
}

/* False: that cannot happen now. */
static bool happen(const AgendaRules *rules, World *world, Happening what) {
        AgendaSight *sight = &world->sight;
        bool waits = world->step.work == AGENDA_WAIT;

        switch (what) {
        case TIME_FLIES:
                if (!waits || world->step.until_usec == USEC_INFINITY)
                        return false;
                sight->now_usec = world->step.until_usec;
                break;
        case TIME_PASSES: sight->now_usec += 30 * USEC_PER_MSEC; break;
        case DEATH: sight->n_dead++; break;
        case DEATH_DONE:
        case WORK_MORE:
        case WORK_FAILS:
                if (!world->works)
                        return false;
                end_work(rules, world, (AgendaResult)(what - DEATH_DONE));
                return true;
        case BASE_COMES:
                if (sight->database_ready || world->works)
                        return false;
                sight->database_ready = true;
                sight->database_lost = false;
                break;
        case BASE_GOES:
                if (sight->database_lost)
                        return false;
                sight->database_ready = false;
                sight->database_lost = true;
                if (world->works) {
                        world->works = false;
                        world->agenda = agenda_after(rules, world->agenda, world->step.work, AGENDA_FAILED,
                                                     sight->now_usec, MIDDLE);
                }
                break;
        case PHASE_BEGINS: world->agenda.count_wanted = true; break;
        case ASKED:
                if (!world->agenda.settling)
                        sight->heard_all = false;
                world->agenda = agenda_settle(world->agenda, sight->now_usec, sight->now_usec + LIMIT);
                break;
        case HEARD: sight->heard_all = true; break;
        case FALLS_BEHIND: sight->behind = true; break;
        case FALLS_DEAF: sight->deaf = true; break;
        case CATCHES_UP: sight->behind = false; break;
        case CONFIRMED:
                if (sight->n_unsaid == 0)
                        return false;
                sight->n_unsaid--;
                break;
        case _HAPPENING_MAX: break;
        }
        if (!world->works)
                decide(rules, world);
        return true;
}

static void walk(const AgendaRules *rules, const World *world, unsigned depth) {
        if (depth == 0 || world->step.work == AGENDA_LEAVE)
                return;
        for (int i = 0; i < _HAPPENING_MAX; i++) {
                World then = *world;
                if (happen(rules, &then, (Happening)i))
                        walk(rules, &then, depth - 1);
        }
}

static void walk_all(const AgendaRules *rules, bool connected, unsigned depth) {
        World world = { .agenda = agenda_begin(rules, 1, MIDDLE), .sight = at(1) };

        world.sight.database_ready = connected;
        world.sight.database_lost = !connected;
        n_steps = 0;
        decide(rules, &world);
        walk(rules, &world, depth);
        cr_log_info("%lu decisions", n_steps);
        cr_assert_gt(n_steps, 100000ul, "the walk was cut short");
}

Test(agenda, no_sequence_of_happenings_breaks_a_law) {
        walk_all(&ordinary, true, 6);
}

Test(agenda, nor_when_there_is_no_database_at_first) {
        walk_all(&ordinary, false, 6);
}

Test(agenda, nor_for_a_single_pass) {
        AgendaRules rules = ordinary;
        rules.once = true;
        walk_all(&rules, true, 6);
}

/* ---- Fairness ---- */

Test(agenda, however_many_die_the_sweep_and_the_pruning_have_their_turns) {
        Agenda agenda = agenda_begin(&ordinary, 0, MIDDLE);
        AgendaSight sight = at(3600 * USEC_PER_SEC); /* everything is due, and stays so */
        unsigned done[AGENDA_N_JOBS] = { 0 }, last[AGENDA_N_JOBS] = { 0 };

        sight.n_dead = 1000;
        for (unsigned i = 1; i <= 2000; i++) {
                AgendaStep step = next(&ordinary, agenda, sight);
                cr_assert_lt(step.work, AGENDA_N_JOBS);
                done[step.work]++;
                last[step.work] = i;
                for (int work = AGENDA_HAND_OVER; work < AGENDA_N_JOBS; work++)
                        cr_assert_leq(i - last[work], AGENDA_PATIENCE + 4u, "%s has starved",
                                      agenda_work_to_string((AgendaWork)work));
                agenda = agenda_after(&ordinary, step.agenda, step.work, AGENDA_MORE, 0, MIDDLE);
        }
        cr_assert_gt(done[AGENDA_HAND_OVER], 1700u, "the dead go first all the same");
        cr_assert_eq(done[AGENDA_COUNT], 0u);
}

Test(agenda, a_full_sweep_is_followed_by_another_at_once_and_an_empty_one_by_its_interval) {
        Agenda agenda = agenda_begin(&ordinary, 0, MIDDLE);
        AgendaStep step = next(&ordinary, agenda, at(0));
        cr_assert_eq(step.work, AGENDA_SWEEP, "it begins with a sweep");
        agenda = agenda_after(&ordinary, step.agenda, step.work, AGENDA_MORE, 10, MIDDLE);
        step = next(&ordinary, agenda, at(10));
        cr_assert_eq(step.work, AGENDA_SWEEP);
        agenda = agenda_after(&ordinary, step.agenda, step.work, AGENDA_DONE, 20, MIDDLE);
        step = next(&ordinary, agenda, at(20));
        cr_assert_eq(step.work, AGENDA_WAIT);
        cr_assert_float_eq((double)step.until_usec, 20 + 5e6, 1e4);
}

Test(agenda, it_wakes_for_a_second_look_at_somebody) {
        AgendaStep step = next(&ordinary, agenda_begin(&ordinary, 0, MIDDLE), at(0));
        Agenda agenda = agenda_after(&ordinary, step.agenda, step.work, AGENDA_DONE, 0, MIDDLE);
        AgendaSight sight = at(1);
        sight.again_usec = USEC_PER_SEC;
        step = next(&ordinary, agenda, sight);
        cr_assert_eq(step.work, AGENDA_WAIT);
        cr_assert_eq(step.until_usec, USEC_PER_SEC);
}

Test(agenda, pruning_is_rare_and_pauses_between_full_batches) {
        Agenda agenda = agenda_begin(&ordinary, 0, MIDDLE);
        agenda.due_usec[AGENDA_SWEEP] = USEC_INFINITY;
        AgendaStep step = next(&ordinary, agenda, at(0));
        cr_assert_eq(step.work, AGENDA_WAIT, "not at the start");
        usec_t now = step.until_usec;
        step = next(&ordinary, step.agenda, at(now));
        cr_assert_eq(step.work, AGENDA_PRUNE);
        agenda = agenda_after(&ordinary, step.agenda, AGENDA_PRUNE, AGENDA_MORE, now, MIDDLE);
        cr_assert_eq(agenda.due_usec[AGENDA_PRUNE], now + AGENDA_PRUNE_MORE_USEC);
        agenda = agenda_after(&ordinary, agenda, AGENDA_PRUNE, AGENDA_DONE, now, MIDDLE);
        cr_assert_geq(agenda.due_usec[AGENDA_PRUNE], now + AGENDA_PRUNE_USEC * 9 / 10);
}

/* ---- Failures ---- */

Test(agenda, failures_make_the_rests_longer_up_to_a_bound_and_a_success_ends_them) {
        Agenda agenda = agenda_begin(&ordinary, 0, MIDDLE);
        usec_t now = 0, before = 0;
        for (int i = 0; i < 100; i++) {
                agenda = agenda_after(&ordinary, agenda, AGENDA_SWEEP, AGENDA_FAILED, now, MIDDLE);
                usec_t rest = agenda.rest_usec - now;
                cr_assert_geq(rest, before);
                cr_assert_leq(rest, AGENDA_REST_MAX_USEC * 11 / 10);
                cr_assert_eq(next(&ordinary, agenda, at(now)).until_usec, agenda.rest_usec);
                before = rest;
                now = agenda.rest_usec;
        }
        cr_assert_geq(before, AGENDA_REST_MAX_USEC * 9 / 10);
        agenda = agenda_after(&ordinary, agenda, AGENDA_SWEEP, AGENDA_DONE, now, MIDDLE);
        cr_assert_eq(agenda.rest_usec, 0u);
        agenda = agenda_after(&ordinary, agenda, AGENDA_SWEEP, AGENDA_FAILED, now, MIDDLE);
        cr_assert_leq(agenda.rest_usec - now, AGENDA_REST_USEC * 11 / 10);
}

Test(agenda, a_request_to_end_cuts_a_long_rest_short) {
        Agenda agenda = agenda_begin(&ordinary, 0, MIDDLE);
        for (int i = 0; i < 20; i++)
                agenda = agenda_after(&ordinary, agenda, AGENDA_SWEEP, AGENDA_FAILED, 0, MIDDLE);
        agenda = agenda_settle(agenda, 0, LIMIT);
        cr_assert_leq(agenda.rest_usec, AGENDA_REST_USEC);
        for (int i = 0; i < 5; i++)
                agenda = agenda_after(&ordinary, agenda, AGENDA_HAND_OVER, AGENDA_FAILED, 0, MIDDLE);
        cr_assert_leq(agenda.rest_usec, AGENDA_REST_USEC * 11 / 10);
}

/* ---- The end ---- */

Test(agenda, sessions_are_counted_first_and_a_lost_database_is_not_waited_for_because_of_them) {
        Agenda agenda = agenda_begin(&ordinary, 0, MIDDLE);
        agenda.count_wanted = true;
        AgendaSight sight = at(0);
        sight.n_dead = 3;
        cr_assert_eq(next(&ordinary, agenda, sight).work, AGENDA_COUNT);

        agenda = agenda_settle(agenda, 0, LIMIT);
        sight = (AgendaSight){ .database_lost = true, .heard_all = true, .again_usec = USEC_INFINITY };
        AgendaStep step = next(&ordinary, agenda, sight);
        cr_assert_eq(step.work, AGENDA_REPORT);
        cr_assert_eq(next(&ordinary, step.agenda, sight).work, AGENDA_LEAVE);
}

Test(agenda, the_dead_are_waited_for_until_the_limit_when_the_database_hangs) {
        Agenda agenda = agenda_settle(agenda_begin(&ordinary, 0, MIDDLE), 0, LIMIT);
        AgendaSight sight = { .n_dead = 1, .heard_all = true, .again_usec = USEC_INFINITY };
        AgendaStep step = next(&ordinary, agenda, sight);
        cr_assert_eq(step.work, AGENDA_WAIT);
        cr_assert_eq(step.until_usec, LIMIT);
        sight.now_usec = LIMIT;
        step = next(&ordinary, step.agenda, sight);
        cr_assert_eq(step.work, AGENDA_REPORT);
        sight.n_unsaid = 1;
        step = next(&ordinary, step.agenda, sight);
        cr_assert_eq(step.work, AGENDA_WAIT);
        cr_assert_eq(step.until_usec, LIMIT + AGENDA_LAST_USEC);
        sight.now_usec = step.until_usec;
        cr_assert_eq(next(&ordinary, step.agenda, sight).work, AGENDA_LEAVE, "nobody waits longer for an answer");
}

Test(agenda, being_asked_again_can_only_shorten_the_limit) {
        Agenda agenda = agenda_settle(agenda_begin(&ordinary, 0, MIDDLE), 0, LIMIT);
        cr_assert_eq(agenda_settle(agenda, 5, LIMIT * 2).settle_limit_usec, LIMIT);
        cr_assert_eq(agenda_settle(agenda, 5, LIMIT / 2).settle_limit_usec, LIMIT / 2);
        cr_assert_eq(agenda_settle(agenda, 5, LIMIT * 2).hear_limit_usec, AGENDA_HEAR_USEC);
}

Test(agenda, each_work_has_a_word) {
        for (int i = 0; i < _AGENDA_MAX; i++)
                cr_assert_eq(agenda_work_from_string(agenda_work_to_string((AgendaWork)i)), i);
}

Test(agenda, a_single_pass_leaves_when_sweep_and_pruning_are_at_their_ends_or_one_failed) {
        AgendaRules rules = ordinary;
        rules.once = true;
        Agenda agenda = agenda_begin(&rules, 0, MIDDLE);
        static const AgendaWork expected[] = { AGENDA_SWEEP, AGENDA_SWEEP, AGENDA_PRUNE, AGENDA_PRUNE };
        static const AgendaResult results[] = { AGENDA_MORE, AGENDA_DONE, AGENDA_MORE, AGENDA_DONE };
        for (size_t i = 0; i < LENGTH_OF(expected); i++) {
                AgendaStep step = next(&rules, agenda, at(0));
                cr_assert_eq(step.work, expected[i], "step %zu", i);
                agenda = agenda_after(&rules, step.agenda, step.work, results[i], 0, MIDDLE);
        }
        cr_assert_eq(next(&rules, agenda, at(0)).work, AGENDA_LEAVE);

        agenda = agenda_after(&rules, agenda_begin(&rules, 0, MIDDLE), AGENDA_SWEEP, AGENDA_FAILED, 0, MIDDLE);
        cr_assert_eq(next(&rules, agenda, at(0)).work, AGENDA_LEAVE);
        cr_assert_eq(agenda.failures, 1u);
}
