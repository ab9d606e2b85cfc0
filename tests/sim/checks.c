/* checks.c - see checks.h. */
#include "tests/sim/checks.h"

#include "tests/sim/laws.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

typedef struct Fate {
        ProbeAnswer answer;
        usec_t takes_usec;
} Fate;

/* What a look at the service would say now. */
static ProbeAnswer look(World *world, const Process *main, Mood mood) {
        usec_t turns = usec_add(usec_add(main->born_usec, main->script.exec_usec), main->script.turns_usec);
        bool turned = world->now_usec >= turns, dips = turned && world->now_usec < usec_add(turns, MOOD_DIP_USEC);
        bool good = mood == MOOD_GOOD || mood == MOOD_SLOW || (mood == MOOD_SICKENS && !turned) ||
                    (mood == MOOD_RECOVERS && turned) || (mood == MOOD_DIPS && !dips) ||
                    (mood == MOOD_FLAPPING && random_chance(&world->random, 50));
        return good && process_is_alive(main) ? PROBE_SUCCEEDED : PROBE_FAILED;
}

static Fate foresee(World *world, const ProbeView *view) {
        const Process *main = &world->processes[world->main_slot[view->member]];
        Mood mood = main->script.moods[view->kind];
        Fate fate = { .answer = look(world, main, mood) };
        if (world->chooser)
                fate.takes_usec = mood == MOOD_NEVER ? USEC_INFINITY : 1 * USEC_PER_MSEC;
        else if (mood == MOOD_NEVER)
                fate.takes_usec = USEC_INFINITY;
        else if (mood == MOOD_SLOW)
                fate.takes_usec = random_usec(&world->random, view->timeout_usec / 2, 2 * view->timeout_usec);
        else
                fate.takes_usec = random_usec(&world->random, 0, 20 * USEC_PER_MSEC);
        if (mood == MOOD_UNSEEN)
                fate.answer = PROBE_UNKNOWN;
        return fate;
}

static void plan_answer(World *world, uint32_t probe_run, usec_t after_usec, ProbeAnswer answer) {
        agenda_add(&world->agenda, (Item){ .at_usec = usec_add(world->now_usec, after_usec),
                                           .kind = ITEM_PROBED,
                                           .slot = probe_run,
                                           .generation = world->checks[probe_run].number,
                                           .detail = answer });
}

/* Whoever looks from elsewhere keeps the time himself; now and then nobody is there, and nothing is said at all. */
static void plan_look(World *world, uint32_t probe_run, const ProbeView *view, Fate fate) {
        if (fate.takes_usec == USEC_INFINITY && random_chance(&world->random, 50))
                return;
        if (fate.takes_usec > view->timeout_usec)
                fate.answer = PROBE_FAILED;
        plan_answer(world, probe_run, usec_min(fate.takes_usec, view->timeout_usec), fate.answer);
}

static int begin_command(World *world, uint32_t probe_run, const ProbeView *view, Fate fate) {
        Script script;
        if (fate.answer == PROBE_UNKNOWN)
                return -EAGAIN;
        script_make_check(&script, fate.takes_usec, fate.answer == PROBE_SUCCEEDED ? 0 : 1, &world->random);
        if (world->rewrite)
                world->rewrite(world, view->member, &script);
        uint32_t slot = world_new_process(world, PROCESS_PROBE, PID_ONE, view->member, &script);
        if (slot == NO_SLOT)
                return -EAGAIN;
        world->processes[slot].probe_run = probe_run;
        world->checks[probe_run].slot = slot;
        return 0;
}

int checks_begin(World *world, uint32_t probe_run) {
        ProbeView view = crew_probe_view(world->crew, probe_run);
        Check *check = &world->checks[probe_run];
        if (!laws_on_check(world->laws, probe_run))
                return -EBUSY; /* a law is broken: nothing to look at */
        Fate fate = foresee(world, &view);
        check->number++;
        check->slot = NO_SLOT;
        if (world->schedule->spawn_fails && random_chance(&world->random, 20))
                return -EAGAIN;
        if (view.probe->by != PROBE_BY_EXEC)
                plan_look(world, probe_run, &view, fate);
        else if (begin_command(world, probe_run, &view, fate) < 0)
                return -EAGAIN;
        check->open = true;
        check->called_off = false;
        laws_on_check_begun(world->laws, probe_run);
        return 0;
}

static void kill_command(World *world, uint32_t probe_run) {
        for (uint32_t i = 0; i < world->n_processes; i++) {
                Process *process = &world->processes[i];
                if (process_is_alive(process) && process->probe_run == probe_run && !process->script.own_session &&
                    !process->known)
                        world_signal_process(world, i, SIGKILL);
        }
}

/* An answer that was on its way may still come before the last word. */
void checks_call_off(World *world, uint32_t probe_run) {
        Check *check = &world->checks[probe_run];
        world_say(world, "the check of probe run %u is called off", probe_run);
        laws_on_call_off(world->laws, probe_run);
        check->called_off = true;
        if (check->slot != NO_SLOT)
                kill_command(world, probe_run);
        else
                plan_answer(world, probe_run, world->chooser ? 0 : random_usec(&world->random, 0, 50 * USEC_PER_MSEC),
                            PROBE_UNKNOWN);
}

static void answer(World *world, uint32_t probe_run, ProbeAnswer what) {
        static const char *const words[] = { "succeeds", "fails", "saw nothing" };
        world_say(world, "the check of probe run %u %s", probe_run, words[what]);
        world->checks[probe_run].open = false;
        laws_on_answer(world->laws, probe_run, what);
        crew_on_probed(world->crew, probe_run, what, what == PROBE_FAILED ? "HTTP 503" : NULL);
}

void checks_take_answer(World *world, const Item *item) {
        const Check *check = &world->checks[item->slot];
        if (check->open && check->number == item->generation)
                answer(world, item->slot, (ProbeAnswer)item->detail);
}

void checks_on_collected(World *world, const Process *gone) {
        bool good = gone->ended.code == CLD_EXITED && gone->ended.status == 0;
        answer(world, gone->probe_run, good ? PROBE_SUCCEEDED : PROBE_FAILED);
}
