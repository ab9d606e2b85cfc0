/* outside.c - see outside.h. */
#include "tests/sim/outside.h"

#include "tests/sim/laws.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *const outside_words[_OUTSIDE_KIND_MAX] = {
        [OUTSIDE_END_SIGNAL] = "a signal asks for the ending",
        [OUTSIDE_END_REQUEST] = "a request asks for the ending",
        [OUTSIDE_FAST_SIGNAL] = "a signal asks for a fast ending",
        [OUTSIDE_FAST_REQUEST] = "a request asks for a fast ending",
        [OUTSIDE_OWN_FAULT] = "endwell has a fault of its own",
        [OUTSIDE_MARK] = "an application marks a hook",
        [OUTSIDE_EARLY_TICK] = "a timer rings too early",
        [OUTSIDE_ACKNOWLEDGED] = "an acknowledgement comes from nowhere",
        [OUTSIDE_STRANGER] = "a stranger comes",
        [OUTSIDE_SURVEY] = "somebody looks for orphans",
        [OUTSIDE_SAYS_NONSENSE] = "somebody says anything",
        [OUTSIDE_TRIGGER] = "somebody says WATCHDOG=trigger",
        [OUTSIDE_RELOAD] = "a reload is asked for",
        [OUTSIDE_START] = "a person starts somebody",
        [OUTSIDE_STOP] = "a person stops somebody",
        [OUTSIDE_RESTART] = "a person restarts somebody",
        [OUTSIDE_SIGNAL] = "a person sends a signal",
        [OUTSIDE_RUN_HOOK] = "a person runs a hook",
};

static void ask_for_the_end(World *world, const char *cause, bool fast) {
        laws_on_asked_to_end(world->laws, fast);
        crew_end(world->crew, cause, fast);
}

static void mark(World *world, uint32_t member) {
        const Config *config = &world->schedule->config;
        const char *hook = config->n_hooks > 0 && random_chance(&world->random, 80)
                                   ? config->hooks[random_below(&world->random, (unsigned)config->n_hooks)].name
                                   : "unheard-of";
        NotifyEdge edge = random_chance(&world->random, 50) ? NOTIFY_EDGE_BEGIN : NOTIFY_EDGE_END;
        crew_on_mark(world->crew, member, hook, edge, 77, (int)random_below(&world->random, 2));
}

static void say_nonsense(World *world, uint32_t member) {
        NotifyWords words;
        memset(&words, 0, sizeof words);
        uint64_t bits = random_next(&world->random);
        /* READY is left out: a service that says it truly is ready, and the world must know the instant. */
        words.stopping = bits & 1;
        words.drained = bits & 2;
        words.watchdog = bits & 4;
        words.reloading = bits & 8;
        words.has_errno = bits & 16;
        words.unknown = 3;
        words.extend_timeout_usec = bits & 32 ? UINT64_MAX - 1 : 0;
        if (words.stopping)
                laws_on_said(world->laws, member, SAYS_STOPPING);
        if (words.extend_timeout_usec)
                laws_on_said(world->laws, member, SAYS_EXTEND);
        if (words.drained)
                laws_on_said(world->laws, member, SAYS_DRAINED);
        if (words.watchdog)
                laws_on_said(world->laws, member, SAYS_WATCHDOG);
        crew_on_notify(world->crew, member, 4242, &words);
}

static void trigger(World *world, uint32_t member) {
        NotifyWords words;
        memset(&words, 0, sizeof words);
        words.watchdog_trigger = true;
        laws_on_said(world->laws, member, SAYS_TRIGGER);
        crew_on_notify(world->crew, member, 4242, &words);
}

static SteerTarget target_of(World *world, uint32_t member) {
        uint16_t service = world->schedule->service_of[member];
        return (SteerTarget){ .service = service,
                              .number = random_chance(&world->random, 50)
                                                ? 0
                                                : member - world->schedule->first_member[service] + 1 };
}

static void on_steered(void *userdata, uint32_t member, SteerEffect effect) {
        static const char *const words[] = { "goes", "comes", "is on its way", "stays" };
        World *world = userdata;
        world_say(world, "member %u %s", member, words[effect]);
        laws_on_steered(world->laws, member, effect);
}

/* Now and then two at once, the one named twice. */
static void steer(World *world, Steer what, uint32_t member) {
        SteerTarget targets[3];
        size_t n = random_chance(&world->random, 70) ? 1 : 3;
        uint32_t left = CREW_NOBODY;
        for (size_t i = 0; i < n; i++)
                targets[i] = target_of(world, i == 1 ? random_below(&world->random,
                                                                    (unsigned)world->schedule->config.n_members)
                                                     : member);
        for (size_t i = 0; i < n; i++)
                world_say(world, "%s service %u instance %u", steer_to_string(what), targets[i].service,
                          targets[i].number);
        laws_on_steering(world->laws, crew_steer(world->crew, what, targets, n, on_steered, world, &left));
}

static void send_signal(World *world, uint32_t member) {
        static const int numbers[] = { SIGUSR1, SIGUSR1, SIGTERM, SIGKILL };
        world->laws->signalling = true;
        laws_on_steering(world->laws,
                         crew_signal(world->crew, target_of(world, member), numbers[random_below(&world->random, 4)]));
        world->laws->signalling = false;
}

static void run_hook(World *world) {
        size_t n = crew_hook_runs(world->crew);
        if (n == 0)
                return;
        world->laws->by_hand = true;
        (void)crew_run_hook(world->crew, random_below(&world->random, (unsigned)n));
        world->laws->by_hand = false;
}

void outside_take_place(World *world, const Outside *outside) {
        world_say(world, "%s", outside_words[outside->kind]);
        switch (outside->kind) {
        case OUTSIDE_END_SIGNAL: ask_for_the_end(world, "signal", false); break;
        case OUTSIDE_END_REQUEST: ask_for_the_end(world, "request", false); break;
        case OUTSIDE_FAST_SIGNAL: ask_for_the_end(world, "signal", true); break;
        case OUTSIDE_FAST_REQUEST: ask_for_the_end(world, "request", true); break;
        case OUTSIDE_OWN_FAULT:
                laws_on_own_fault(world->laws);
                crew_on_own_fault(world->crew, "reading the clock", EIO);
                break;
        case OUTSIDE_MARK: mark(world, outside->member); break;
        case OUTSIDE_EARLY_TICK: crew_on_time(world->crew); break;
        case OUTSIDE_ACKNOWLEDGED: crew_on_acknowledged(world->crew, "gateway"); break;
        case OUTSIDE_STRANGER: world_new_stranger(world); break;
        case OUTSIDE_SURVEY: world_survey(world); break;
        case OUTSIDE_SAYS_NONSENSE: say_nonsense(world, outside->member); break;
        case OUTSIDE_TRIGGER: trigger(world, outside->member); break;
        case OUTSIDE_RELOAD:
                laws_on_reload(world->laws);
                laws_on_reloaded(world->laws, crew_reload(world->crew));
                break;
        case OUTSIDE_START: steer(world, STEER_START, outside->member); break;
        case OUTSIDE_STOP: steer(world, STEER_STOP, outside->member); break;
        case OUTSIDE_RESTART: steer(world, STEER_RESTART, outside->member); break;
        case OUTSIDE_SIGNAL: send_signal(world, outside->member); break;
        case OUTSIDE_RUN_HOOK: run_hook(world); break;
        case _OUTSIDE_KIND_MAX: break;
        }
}
