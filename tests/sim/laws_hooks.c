/* laws_hooks.c - L3 and the hours of hooks: each begins once, and only when its edge is there. */
#include "tests/sim/laws_internal.h"
#include <string.h>
#include <sys/wait.h>

static HookTruth *truth_of(Laws *laws, const HookView *view) {
        size_t hook = (size_t)(view->hook - laws->world->schedule->config.hooks);
        return &laws->hooks[hook][view->member == CREW_NOBODY ? SIM_MEMBERS_MAX : view->member];
}

static bool has_main(const Laws *laws, uint32_t member) {
        return laws->world->main_slot[member] != NO_SLOT;
}

static bool has_living_tree(const Laws *laws, uint32_t member) {
        const World *world = laws->world;
        for (uint32_t i = 0; i < world->n_processes; i++) {
                const Process *process = &world->processes[i];
                if (process_is_alive(process) && process->tree == member && process->hook_run == NO_SLOT &&
                    !process->script.anonymous && !laws_is_given_up(laws, process) &&
                    !laws_is_left_by_mode(laws, process))
                        return true;
        }
        return false;
}

static bool phase_is_empty(const Laws *laws, unsigned phase) {
        for (uint32_t m = 0; m < laws->world->schedule->config.n_members; m++)
                if (laws_service(laws, m)->phase <= phase && has_living_tree(laws, m))
                        return false;
        return true;
}

static void check_member_hour(Laws *laws, const HookView *view) {
        uint32_t member = view->member;
        MemberTruth *truth = &laws->members[member];
        HookOn on = view->hook->on;
        if (laws->asked_usec != USEC_INFINITY && laws->ending && (on == HOOK_PRE_START || on == HOOK_POST_START))
                laws_break(laws, "L5", "hook %s of member %u began after the ending did", view->hook->name, member);
        if (on == HOOK_PRE_START && has_main(laws, member))
                laws_break(laws, "L3", "pre-start hook %s began while member %u ran", view->hook->name, member);
        if (on == HOOK_PRE_STOP && (truth->asked_usec != USEC_INFINITY || !has_main(laws, member)))
                laws_break(laws, "L3", "pre-stop hook %s began after member %u was asked or gone", view->hook->name,
                           member);
        truth->stops_before |= on == HOOK_PRE_STOP && !laws->ending;
        if (on == HOOK_PRE_STOP && laws->fast)
                laws_break(laws, "L3", "pre-stop hook %s began in a fast ending", view->hook->name);
        if (on == HOOK_POST_STOP && (has_main(laws, member) || has_living_tree(laws, member)))
                laws_break(laws, "L3", "post-stop hook %s began while member %u lived", view->hook->name, member);
}

static void check_phase_hour(Laws *laws, const HookView *view) {
        unsigned phase = (unsigned)view->hook->phase;
        if (!laws->ending)
                laws_break(laws, "L3", "hook %s of a phase began outside an ending", view->hook->name);
        if (laws_is_development(laws))
                return;
        if (phase + 1 != laws->phases_started || laws->phases_finished == laws->phases_started)
                laws_break(laws, "L3", "hook %s began outside its phase", view->hook->name);
        if (view->hook->on == HOOK_END && !phase_is_empty(laws, phase))
                laws_break(laws, "L3", "end hook %s began while its phase had members", view->hook->name);
}

/* Who is asked in good order has no pre-stop hook that runs still. */
void laws_check_hooks_before_stop(Laws *laws, uint32_t member, const char *reason) {
        const Config *config = &laws->world->schedule->config;
        bool in_order = strcmp(reason, "stop") == 0 || strcmp(reason, "restart") == 0 || strcmp(reason, "ending") == 0;
        for (size_t h = 0; in_order && !laws->fast && !laws_is_development(laws) && h < config->n_hooks; h++)
                if (config->hooks[h].on == HOOK_PRE_STOP && laws->hooks[h][member].runs &&
                    !laws->hooks[h][member].by_hand)
                        laws_break(laws, "L3", "member %u was asked while its pre-stop hook %s ran", member,
                                   config->hooks[h].name);
}

static unsigned epoch_of(const Laws *laws) {
        return laws->ending ? 2 : 1;
}

static void check_hour_by_hand(Laws *laws, const HookView *view) {
        if (laws->ending)
                laws_break(laws, "L5", "a person ran hook %s in the ending", view->hook->name);
        if (view->member != CREW_NOBODY && !has_main(laws, view->member))
                laws_break(laws, "L3", "a person ran hook %s, and member %u does not run", view->hook->name,
                           view->member);
}

void laws_on_hook(Laws *laws, uint32_t hook_run) {
        HookView view = crew_hook_view(laws->world->crew, hook_run);
        HookTruth *truth = truth_of(laws, &view);
        unsigned turn = view.member == CREW_NOBODY ? 1 : laws->members[view.member].turn + 1;

        world_say(laws->world, "hook %s (%s) of member %d begins", view.hook->name, hook_on_to_string(view.hook->on),
                  (int)view.member);
        if (truth->begun_turn == turn && truth->begun_epoch == epoch_of(laws))
                laws_break(laws, "L3", "hook %s of member %d began twice in one run", view.hook->name,
                           (int)view.member);
        if (!view.hook->argv)
                laws_break(laws, "L3", "hook %s has nothing to execute and began", view.hook->name);
        if (truth->runs)
                laws_break(laws, "L3", "hook %s of member %d began while it ran", view.hook->name, (int)view.member);
        if (laws->by_hand)
                check_hour_by_hand(laws, &view);
        else if (view.member == CREW_NOBODY)
                check_phase_hour(laws, &view);
        else
                check_member_hour(laws, &view);
        truth->by_hand = laws->by_hand;
        truth->begun_epoch = epoch_of(laws);
        truth->begun_turn = turn;
        truth->runs = true;
        laws->hooks_running++;
}

void laws_on_hook_gone(Laws *laws, uint32_t hook_run, const Ended *how) {
        HookView view = crew_hook_view(laws->world->crew, hook_run);
        HookTruth *truth = truth_of(laws, &view);
        bool failed = !how || how->code != CLD_EXITED || how->status != 0;
        laws->hooks_running--;
        truth->runs = false;
        if (failed && view.hook->on_failure == ON_FAILURE_ABORT && view.hook->on >= HOOK_PRE_STOP)
                laws->hook_aborted = true;
}

void laws_on_hook_killed(Laws *laws, uint32_t hook_run) {
        HookView view = crew_hook_view(laws->world->crew, hook_run);
        laws->hook_cut |= view.hook->on_failure == ON_FAILURE_ABORT && view.hook->on >= HOOK_PRE_STOP;
}

static usec_t limit_of_hook(const Laws *laws, const char *name) {
        const Config *config = &laws->world->schedule->config;
        usec_t limit = 0;
        for (size_t h = 0; h < config->n_hooks; h++) {
                const HookConfig *hook = &config->hooks[h];
                int phase = hook->phase >= 0 ? hook->phase : config->services[hook->service].phase;
                if (strcmp(hook->name, name) == 0)
                        limit = usec_add(laws->ending_usec, budget_limit(&config->budget, (unsigned)phase));
        }
        return limit;
}

/* A stop hook may be refused when no time of its phase is left, or when its run was never ready, a start hook when the
 * ending began; nothing else may be. */
void laws_on_hook_refused(Laws *laws, uint32_t member, const Event *event) {
        const Config *config = &laws->world->schedule->config;
        bool has_no_time = event->reason && strcmp(event->reason, "no_time") == 0;
        bool never_ready = event->reason && strcmp(event->reason, "never_ready") == 0;
        if (never_ready && (member == CREW_NOBODY || laws->members[member].ready_usec != USEC_INFINITY))
                laws_break(laws, "L3", "hook %s was refused, and its service was ready", event->hook);
        bool short_cut = laws->fast || laws_is_development(laws);
        if (has_no_time && !short_cut && laws->world->now_usec < limit_of_hook(laws, event->hook))
                laws_break(laws, "L3", "hook %s was refused for want of time, and there was some", event->hook);
        bool already = event->reason && strcmp(event->reason, "already_ran") == 0;
        for (size_t h = 0; (has_no_time || already) && h < config->n_hooks; h++) {
                if (strcmp(config->hooks[h].name, event->hook) != 0)
                        continue;
                uint32_t column = member == CREW_NOBODY ? SIM_MEMBERS_MAX : member;
                if (already && !laws->by_hand && !laws->hooks[h][column].by_hand)
                        laws_break(laws, "L3", "hook %s was refused, and no person had run it", event->hook);
                if (already && laws->by_hand)
                        continue;
                if (already && config->hooks[h].on == HOOK_PRE_STOP && member != CREW_NOBODY) /* its stop has begun */
                        laws->members[member].stops_before |= !laws->ending;
                laws->hooks[h][column].begun_epoch = epoch_of(laws);
                laws->hooks[h][column].begun_turn = member == CREW_NOBODY ? 1 : laws->members[member].turn + 1;
        }
}

/* At the end: whoever was started got its post-stop hooks, and each phase its begin and end hooks. */
void laws_check_hooks_ran(Laws *laws) {
        const Config *config = &laws->world->schedule->config;
        for (size_t h = 0; h < config->n_hooks; h++) {
                const HookConfig *hook = &config->hooks[h];
                if (!hook->argv)
                        continue;
                if (hook->on == HOOK_POST_STOP)
                        for (uint32_t m = 0; m < config->n_members; m++)
                                if (laws->world->schedule->service_of[m] == hook->service &&
                                    laws->members[m].ever_spawned &&
                                    strcmp(crew_view(laws->world->crew, m).state, "left") != 0 &&
                                    laws->hooks[h][m].begun_turn < laws->members[m].spawned_turn)
                                        laws_break(laws, "L3", "post-stop hook %s never ran for member %u", hook->name,
                                                   m);
                if (hook->on == HOOK_END && !laws_is_development(laws) &&
                    laws->hooks[h][SIM_MEMBERS_MAX].begun_epoch < 2)
                        laws_break(laws, "L3", "end hook %s never ran", hook->name);
        }
}
