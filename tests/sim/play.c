/* play.c - the loop of simulated time; see play.h. */
#include "tests/sim/play.h"

#include "tests/sim/laws_internal.h"

#include <stdlib.h>

#define LATE_USEC          (1500 * USEC_PER_MSEC / 1000)
#define STEPS_PER_INSTANT  20000
#define STEPS_PER_SCHEDULE 400000

/* What the control socket would show at this moment can be read, and says something. */
static void look_at_everything(World *world, Laws *laws) {
        const Crew *crew = world->crew;
        for (uint32_t i = 0; i < crew_size(crew); i++)
                if (!crew_view(crew, i).state || !crew_result(crew, i).service_result)
                        laws_break(laws, "E", "member %u has no state", i);
        for (uint32_t i = 0; i < crew_hook_runs(crew); i++)
                if (!crew_hook_view(crew, i).hook)
                        laws_break(laws, "E", "hook run %u has no hook", i);
        if (crew_awaited(crew) > crew_size(crew))
                laws_break(laws, "E", "more members are awaited than there are");
}

static void begin(World *world, const Schedule *schedule) {
        for (unsigned i = 0; i < schedule->n_outside; i++)
                agenda_add(&world->agenda, (Item){ .at_usec = world->now_usec + schedule->outside[i].at_usec,
                                                   .kind = ITEM_HAPPENING,
                                                   .detail = i });
        crew_start(world->crew);
}

static usec_t timer_of(const World *world) {
        usec_t next = crew_next_usec(world->crew);
        return world->schedule->late_timers ? usec_add(next, LATE_USEC) : next;
}

/* One thing, of all that may happen next. False: nothing ever will. */
static bool step(World *world, Laws *laws, unsigned *at_this_instant) {
        unsigned n;
        usec_t item = agenda_next(&world->agenda, &n), timer = timer_of(world), next = usec_min(item, timer);
        if (next == USEC_INFINITY)
                return false;
        if (next > world->now_usec) {
                laws_on_quiet(laws);
                if (laws->sample_reading)
                        look_at_everything(world, laws);
                world->now_usec = next;
                *at_this_instant = 0;
                if (laws->broken)
                        return true;
        }
        unsigned n_items = item <= next ? n : 0, which = world_pick(world, n_items + (timer <= next));
        if (which < n_items)
                world_take_place(world, agenda_take(&world->agenda, item, which));
        else
                crew_on_time(world->crew);
        if (++*at_this_instant > STEPS_PER_INSTANT || ++world->steps > STEPS_PER_SCHEDULE)
                laws_break(laws, "F", "the core spins");
        return true;
}

static void poke_after_the_end(World *world) {
        crew_end(world->crew, "request", true);
        crew_on_acknowledged(world->crew, "gateway");
        crew_on_time(world->crew);
        crew_on_own_fault(world->crew, "after the end", 5);
        crew_on_surveyed(world->crew);
        for (uint32_t i = 0; i < crew_probe_runs(world->crew); i++)
                crew_on_probed(world->crew, i, PROBE_FAILED, "after the end");
        for (uint32_t i = 0; i < crew_size(world->crew); i++)
                crew_on_ready_line(world->crew, i);
        (void)crew_reload(world->crew);
        (void)crew_steer(world->crew, STEER_RESTART, &(SteerTarget){ 0 }, 1, NULL, NULL, &(uint32_t){ 0 });
        (void)crew_signal(world->crew, (SteerTarget){ 0 }, 9);
        for (uint32_t i = 0; i < crew_hook_runs(world->crew); i++)
                (void)crew_run_hook(world->crew, i);
}

bool play(World *world, Laws *laws, const Schedule *schedule, const PlayRules *rules) {
        unsigned at_this_instant = 0;
        world_init(world, schedule, laws);
        laws_init(laws, world);
        laws->sample_reading = rules->sample_reading || rules->trace;
        world->trace = rules->trace;
        world->chooser = rules->chooser;
        world->rewrite = rules->rewrite;
        if (crew_new(&world->crew, &schedule->config, &world_stage, world, true) < 0)
                abort(); /* the simulation is out of memory: nothing that it could judge */
        for (uint32_t s = 0; s < schedule->config.n_services; s++)
                if (crew_first_member(world->crew, s) != schedule->first_member[s])
                        laws_break(laws, "E", "the crew numbers its members in another order");

        laws_place_probes(laws);
        begin(world, schedule);
        while (!world->finished && !laws->broken) {
                if (!step(world, laws, &at_this_instant))
                        laws_break(laws, "L4", "nothing will ever happen again, and it has not finished");
                if (rules->look)
                        rules->look(world);
        }
        if (!laws->broken)
                poke_after_the_end(world);
        if (world->agenda.overflowed)
                laws_break(laws, "sim", "the agenda is too small for this schedule");
        world->crew = crew_free(world->crew);
        return !laws->broken;
}
