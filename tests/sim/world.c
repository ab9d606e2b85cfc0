/* world.c - births, deaths and signals of fake processes; see world.h. */
#include "tests/sim/world.h"

#include "tests/sim/chooser.h"
#include "tests/sim/laws.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void world_init(World *world, const Schedule *schedule, Laws *laws) {
        world->now_usec = WORLD_BEGINS_USEC;
        world->random.state = schedule->seed ^ UINT64_C(0x5151515151515151);
        world->chooser = NULL;
        world->crew = NULL;
        world->schedule = schedule;
        world->laws = laws;
        world->agenda.n = 0;
        world->agenda.overflowed = false;
        world->n_processes = 0;
        world->next_pid = 2;
        memset(world->checks, 0, sizeof world->checks);
        for (unsigned i = 0; i < SIM_MEMBERS_MAX; i++) {
                world->main_slot[i] = NO_SLOT;
                world->runs[i] = 0;
        }
        world->survey_pending = world->withdrawn = world->finished = world->trace = false;
        world->code = -1;
        world->steps = 0;
}

void world_say(const World *world, const char *format, ...) {
        if (!world->trace)
                return;
        printf("%12.6f  ", (double)(world->now_usec - WORLD_BEGINS_USEC) / 1e6);
        va_list args;
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        putchar('\n');
}

unsigned world_pick(World *world, unsigned n) {
        return world->chooser ? chooser_pick(world->chooser, n) : n < 2 ? 0 : random_below(&world->random, n);
}

const Process *world_find(const World *world, pid_t pid) {
        for (uint32_t i = 0; i < world->n_processes; i++)
                if (world->processes[i].state != PROCESS_FREE && world->processes[i].pid == pid)
                        return &world->processes[i];
        return NULL;
}

bool world_is_below(const World *world, uint32_t slot, uint32_t root) {
        while (slot != PID_ONE && slot != root)
                slot = world->processes[slot].parent;
        return slot == root;
}

static uint32_t free_slot(World *world) {
        for (uint32_t i = 0; i < world->n_processes; i++)
                if (world->processes[i].state == PROCESS_FREE)
                        return i;
        if (world->n_processes == PROCESSES_MAX)
                return NO_SLOT;
        world->processes[world->n_processes].state = PROCESS_FREE; /* whatever an earlier schedule left there */
        return world->n_processes++;
}

/* A small space of pids, so that they are used again within a schedule, as they are in a busy container. */
static pid_t next_pid(World *world) {
        do
                if (++world->next_pid > 900)
                        world->next_pid = 3;
        while (world_find(world, world->next_pid));
        return world->next_pid;
}

/* Whose parent was given up, or lives on by KillMode=process, is out of PID 1's sight until that parent is gone. */
static bool is_beyond_reach(const World *world, uint32_t parent) {
        return world->processes[parent].given_up || laws_is_left_by_mode(world->laws, &world->processes[parent]);
}

static void plan(World *world, uint32_t slot, usec_t after_usec, ItemKind kind, uint32_t detail) {
        agenda_add(&world->agenda, (Item){ .at_usec = usec_add(world->now_usec, after_usec),
                                           .kind = kind,
                                           .slot = slot,
                                           .generation = world->processes[slot].generation,
                                           .detail = detail });
}

static void plan_words(World *world, uint32_t slot) {
        const Script *script = &world->processes[slot].script;
        usec_t born = script->exec_usec;
        plan(world, slot, usec_add(born, script->ready_usec), ITEM_SAYS,
             world->schedule->services[world->schedule->service_of[world->processes[slot].tree]].type ==
                             SERVICE_NOTIFY_FD
                     ? SAYS_LINE
                     : SAYS_READY);
        if (script->sign_usec > 0)
                plan(world, slot, usec_add(born, script->sign_usec), ITEM_SAYS, SAYS_WATCHDOG);
        if (script->trigger_usec > 0)
                plan(world, slot, usec_add(born, script->trigger_usec), ITEM_SAYS, SAYS_TRIGGER);
        if (script->watchdog_usec > 0)
                plan(world, slot, usec_add(born, script->meddles_usec), ITEM_SAYS, SAYS_WATCHDOG_USEC);
        for (unsigned i = 0; i < script->floods; i++)
                plan(world, slot, usec_add(born, i * 37 * USEC_PER_MSEC), ITEM_SAYS, SAYS_STATUS);
        if (script->says_stopping)
                plan(world, slot, usec_add(born, usec_sub(script->life_usec, 5 * USEC_PER_MSEC)), ITEM_SAYS,
                     SAYS_STOPPING);
        if (script->extends)
                plan(world, slot, usec_add(born, 300 * USEC_PER_MSEC), ITEM_SAYS, SAYS_EXTEND);
}

static void plan_life(World *world, uint32_t slot) {
        Process *process = &world->processes[slot];
        const Script *script = &process->script;
        if (process->kind == PROCESS_MAIN || (process->kind == PROCESS_HOOK && script->exec_error))
                plan(world, slot, script->exec_usec,
                     !script->exec_error             ? ITEM_EXECUTED
                     : process->kind == PROCESS_HOOK ? ITEM_HOOK_EXEC_FAILED
                                                     : ITEM_EXEC_FAILED,
                     0);
        if (script->exec_error || script->exec_usec == USEC_INFINITY)
                return;
        if (process->kind == PROCESS_MAIN)
                plan_words(world, slot);
        for (unsigned i = 0; i < script->descendants; i++)
                plan(world, slot, script->exec_usec + script->fork_usec * (i + 1), ITEM_FORKS, 0);
        if (script->life_usec != USEC_INFINITY) {
                process->ended = script->end;
                plan(world, slot, usec_add(script->exec_usec, script->life_usec), ITEM_DIES, 0);
        }
}

uint32_t world_new_process(World *world, ProcessKind kind, uint32_t parent, uint32_t tree, const Script *script) {
        uint32_t slot = free_slot(world);
        if (slot == NO_SLOT)
                return NO_SLOT;
        Process *process = &world->processes[slot];
        uint32_t generation = process->generation + 1;
        *process = (Process){
                .state = PROCESS_ALIVE,
                .kind = kind,
                .pid = next_pid(world),
                .generation = generation,
                .parent = parent,
                .tree = tree,
                .hook_run = parent == PID_ONE ? NO_SLOT : world->processes[parent].hook_run,
                .probe_run = parent == PID_ONE ? NO_SLOT : world->processes[parent].probe_run,
                .run = tree == CREW_NOBODY ? 0 : world->runs[tree],
                .known_as = CREW_NOBODY,
                .given_up = parent != PID_ONE && is_beyond_reach(world, parent),
                .born_usec = world->now_usec,
                .asked_usec = USEC_INFINITY,
                .killed_usec = USEC_INFINITY,
                .script = *script,
        };
        plan_life(world, slot);
        return slot;
}

void world_new_stranger(World *world) {
        Script script;
        script_make_descendant(&script, &(Script){ 0 }, &world->random);
        script.anonymous = true;
        uint32_t slot = world_new_process(world, PROCESS_DESCENDANT, PID_ONE, CREW_NOBODY, &script);
        if (slot != NO_SLOT)
                world_say(world, "a stranger, pid %d, is inherited", (int)world->processes[slot].pid);
}

static usec_t collection_delay(World *world) {
        if (!world->schedule->lazy_collection || world->chooser)
                return 0;
        return random_chance(&world->random, 60) ? 0 : random_usec(&world->random, 0, 20 * USEC_PER_MSEC);
}

static void inherit_children(World *world, uint32_t slot) {
        bool beyond_reach = is_beyond_reach(world, slot);
        for (uint32_t i = 0; i < world->n_processes; i++) {
                Process *child = &world->processes[i];
                if (child->state == PROCESS_FREE || child->parent != slot)
                        continue;
                child->parent = PID_ONE;
                child->given_up |= beyond_reach && child->kind == PROCESS_DESCENDANT;
                if (child->state == PROCESS_ZOMBIE)
                        plan(world, i, collection_delay(world), ITEM_COLLECTED, 0);
        }
}

static bool is_reaped_by_parent(World *world, uint32_t slot) {
        const Process *process = &world->processes[slot];
        if (process->tree != CREW_NOBODY && world->main_slot[process->tree] == slot)
                return false; /* a new main process whose forerunner is about to exit, and does not care */
        return random_chance(&world->random, 80);
}

/* A parent that lives mostly reaps its child at once; PID 1 does so when it notices. */
void world_die(World *world, uint32_t slot, Ended how) {
        Process *process = &world->processes[slot];
        if (process->script.heir) {
                Script script;
                script_make_descendant(&script, &process->script, &world->random);
                uint32_t heir = world_new_process(world, PROCESS_DESCENDANT, slot, process->tree, &script);
                if (heir != NO_SLOT)
                        world_say(world, "pid %d forks pid %d as it dies", (int)process->pid,
                                  (int)world->processes[heir].pid);
        }
        process->ended = how;
        process->state = PROCESS_ZOMBIE;
        inherit_children(world, slot);
        if (process->parent == PID_ONE)
                plan(world, slot, collection_delay(world), ITEM_COLLECTED, 0);
        else if (is_reaped_by_parent(world, slot))
                process->state = PROCESS_FREE;
}

static void die_later(World *world, uint32_t slot, usec_t after_usec, Ended how) {
        Process *process = &world->processes[slot];
        process->ended = how;
        process->dying = true;
        process->generation++; /* forgets whatever else it had in mind */
        plan(world, slot, after_usec, ITEM_DIES, 0);
}

void world_signal_process(World *world, uint32_t slot, int signal_number) {
        Process *process = &world->processes[slot];
        const Script *script = &process->script;
        Ended killed = { .code = CLD_KILLED, .status = signal_number };

        if (signal_number == SIGKILL) {
                if (process->killed_usec != USEC_INFINITY)
                        return;
                process->killed_usec = world->now_usec;
                die_later(world, slot, script->die_usec, killed);
                return;
        }
        if (process->asked && script->says_drained && !process->dying) {
                die_later(world, slot, script->obey_usec, killed);
                return;
        }
        if (process->asked || process->dying || script->obey_usec == USEC_INFINITY)
                return;
        process->asked = true;
        process->asked_usec = world->now_usec;
        if (script->exec_usec == USEC_INFINITY || usec_add(process->born_usec, script->exec_usec) > world->now_usec)
                die_later(world, slot, 0, killed); /* before exec a signal has its default effect */
        else if (script->says_drained)
                plan(world, slot, script->obey_usec, ITEM_SAYS, SAYS_DRAINED);
        else
                die_later(world, slot, script->obey_usec, script->obeyed);
}
