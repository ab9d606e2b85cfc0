/* stage.c - what the crew asks of the simulated world, and what the world tells the crew. */
#include "tests/sim/checks.h"
#include "tests/sim/laws.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static usec_t stage_now(void *self) {
        return ((World *)self)->now_usec;
}

static uint32_t stage_random(void *self) {
        World *world = self;
        uint32_t number = (uint32_t)(random_next(&world->random) >> 32);
        /* The ends of the range are where a jitter goes wrong. */
        return number % 16 == 0 ? 0 : number % 16 == 1 ? UINT32_MAX : number;
}

/* Now and then one ends at the very instant at which the ending is asked for, or a little before. */
static void perhaps_end_with_all(World *world, Script *script) {
        usec_t end = WORLD_BEGINS_USEC + world->schedule->end_usec, before = random_usec(&world->random, 0, 25000);
        usec_t born = usec_add(world->now_usec, script->exec_usec);
        if (world->chooser || script->exec_error || born + before >= end || !random_chance(&world->random, 4))
                return;
        script->life_usec = end - before - born;
        script->end = (Ended){ .code = CLD_EXITED, .status = random_chance(&world->random, 30) ? 0 : 1 };
}

static int stage_spawn(void *self, uint32_t member, pid_t *ret_pid) {
        World *world = self;
        const Schedule *schedule = world->schedule;
        uint16_t service = schedule->service_of[member];
        Script script;

        world->runs[member]++;
        laws_on_spawn(world->laws, member);
        if (schedule->spawn_fails && random_chance(&world->random, 20)) {
                world_say(world, "spawn of member %u fails: EAGAIN", member);
                laws_on_spawn_refused(world->laws, member);
                return -EAGAIN;
        }
        script_make(&script, schedule->characters[service], &schedule->services[service], &world->random);
        perhaps_end_with_all(world, &script);
        if (world->rewrite)
                world->rewrite(world, member, &script);
        uint32_t slot = world_new_process(world, PROCESS_MAIN, PID_ONE, member, &script);
        if (slot == NO_SLOT) {
                laws_on_spawn_refused(world->laws, member);
                return -EAGAIN;
        }
        world->main_slot[member] = slot;
        *ret_pid = world->processes[slot].pid;
        return 0;
}

static int stage_spawn_hook(void *self, uint32_t hook_run, pid_t *ret_pid) {
        World *world = self;
        HookView view = crew_hook_view(world->crew, hook_run);
        Script script;

        laws_on_hook(world->laws, hook_run);
        if (world->schedule->wild_hooks && random_chance(&world->random, 3)) {
                laws_on_hook_gone(world->laws, hook_run, NULL);
                return -EAGAIN;
        }
        script_make_hook(&script, world->schedule->wild_hooks, &world->random);
        uint32_t slot = world_new_process(world, PROCESS_HOOK, PID_ONE, view.member, &script);
        if (slot == NO_SLOT) {
                laws_on_hook_gone(world->laws, hook_run, NULL);
                return -EAGAIN;
        }
        world->processes[slot].hook_run = hook_run;
        *ret_pid = world->processes[slot].pid;
        return 0;
}

/* Whether PID 1 can reach this process as one of `member`: below its main process, or below an orphan it knows. */
static bool is_reached(const World *world, uint32_t slot, uint32_t member) {
        for (uint32_t up = slot; up != PID_ONE; up = world->processes[up].parent) {
                const Process *process = &world->processes[up];
                if (process->known)
                        return process->known_as == member;
                if (member != CREW_NOBODY && up == world->main_slot[member])
                        return true;
        }
        return false;
}

static bool is_meant(const World *world, uint32_t slot, uint32_t member, Whom whom) {
        if (!process_is_alive(&world->processes[slot]))
                return false;
        bool main = member != CREW_NOBODY && slot == world->main_slot[member];
        if (whom == WHOM_MAIN)
                return main;
        return is_reached(world, slot, member) && (whom == WHOM_ALL || !main);
}

/* The list is made first: a process that forks as it dies must not be met in the same walk. */
static void stage_signal(void *self, uint32_t member, Whom whom, int signal_number, const char *reason) {
        World *world = self;
        uint32_t slots[PROCESSES_MAX];
        unsigned n = 0;

        laws_on_signal(world->laws, member, whom, signal_number, reason);
        for (uint32_t i = 0; i < world->n_processes; i++)
                if (is_meant(world, i, member, whom))
                        slots[n++] = i;
        for (unsigned i = 0; i < n; i++) {
                Process *process = &world->processes[slots[i]];
                char comm[16];
                snprintf(comm, sizeof comm, "p%d", (int)process->pid);
                if (signal_number == SIGKILL)
                        laws_on_killed(world->laws, reason);
                /* 0 only asks for their names: they are given up. Whoever has a signal for it takes it up, and lives.
                 */
                if (signal_number != 0 && strcmp(reason, "reload") != 0 && signal_number != SIGUSR1)
                        world_signal_process(world, slots[i], signal_number);
                crew_told(world->crew, member, process->pid, comm, signal_number, reason);
        }
}

static void stage_signal_hook(void *self, uint32_t hook_run, int signal_number) {
        World *world = self;
        if (signal_number == SIGKILL)
                laws_on_hook_killed(world->laws, hook_run);
        for (uint32_t i = 0; i < world->n_processes; i++) {
                Process *process = &world->processes[i];
                if (process_is_alive(process) && process->hook_run == hook_run && !process->script.own_session &&
                    !process->known)
                        world_signal_process(world, i, signal_number);
        }
        world_say(world, "signal %d to the group of hook run %u", signal_number, hook_run);
}

static int stage_probe(void *self, uint32_t probe_run) {
        return checks_begin(self, probe_run);
}

static void stage_call_off_probe(void *self, uint32_t probe_run) {
        checks_call_off(self, probe_run);
}

static void stage_close_sockets(void *self, uint32_t service) {
        World *world = self;
        world_say(world, "the sockets of service %u are closed", service);
        laws_on_close_sockets(world->laws, service);
}

static void stage_drop_store(void *self, uint32_t member) {
        World *world = self;
        laws_on_drop_store(world->laws, member);
}

static void stage_survey(void *self) {
        world_survey(self);
}

static void stage_record(void *self, const Event *event) {
        World *world = self;
        laws_on_event(world->laws, event);
}

static bool stage_withdraw(void *self) {
        World *world = self;
        int gateway = world->schedule->gateway;
        laws_on_withdraw(world->laws);
        world->withdrawn = true;
        world_say(world, "readiness is withdrawn");
        if (gateway == 1 || gateway == 2)
                agenda_add(&world->agenda,
                           (Item){ .at_usec =
                                           world->now_usec +
                                           (gateway == 1 ? random_usec(&world->random, 0, 20 * USEC_PER_MSEC)
                                                         : random_usec(&world->random, USEC_PER_SEC, 3 * USEC_PER_SEC)),
                                   .kind = ITEM_ACKNOWLEDGED });
        return gateway != 0;
}

static void stage_finish(void *self, int code, const char *explanation) {
        World *world = self;
        world_say(world, "finish: exit %d: %s", code, explanation ? explanation : "(no explanation)");
        world->code = code;
        laws_on_finish(world->laws, code);
        world->finished = true;
}

const Stage world_stage = {
        .now = stage_now,
        .random = stage_random,
        .spawn = stage_spawn,
        .spawn_hook = stage_spawn_hook,
        .signal = stage_signal,
        .signal_hook = stage_signal_hook,
        .survey = stage_survey,
        .probe = stage_probe,
        .call_off_probe = stage_call_off_probe,
        .close_sockets = stage_close_sockets,
        .drop_store = stage_drop_store,
        .record = stage_record,
        .withdraw = stage_withdraw,
        .finish = stage_finish,
};
