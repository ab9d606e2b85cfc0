/* telling.c - the items of the agenda: what the world tells the crew, and what processes do of their own accord. */
#include "tests/sim/checks.h"
#include "tests/sim/laws.h"
#include "tests/sim/outside.h"
#include "tests/sim/world.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void world_survey(World *world) {
        if (world->survey_pending)
                return; /* the one that is on its way looks later than now */
        world->survey_pending = true;
        usec_t delay = world->chooser || random_chance(&world->random, 70)
                               ? 0
                               : random_usec(&world->random, 0, 10 * USEC_PER_MSEC);
        agenda_add(&world->agenda, (Item){ .at_usec = world->now_usec + delay, .kind = ITEM_SURVEYED });
}

static void comm_of(const Process *process, char ret_comm[static 16]) {
        snprintf(ret_comm, 16, "p%d", (int)process->pid);
}

static void on_surveyed(World *world) {
        world->survey_pending = false;
        for (uint32_t i = 0; i < world->n_processes; i++) {
                Process *process = &world->processes[i];
                if (!process_is_alive(process) || process->parent != PID_ONE || process->known ||
                    process->kind == PROCESS_HOOK || process->kind == PROCESS_PROBE ||
                    (process->tree != CREW_NOBODY && world->main_slot[process->tree] == i))
                        continue;
                char comm[16];
                comm_of(process, comm);
                process->known = true;
                process->known_in = world->laws->phases_started;
                process->given_up = false; /* whoever was above it: now PID 1 can reach it, and must */
                process->known_as = process->script.anonymous ? CREW_NOBODY : process->tree;
                world_say(world, "pid %d of member %d is found, known as %d", (int)process->pid, (int)process->tree,
                          (int)process->known_as);
                crew_on_orphan_adopted(world->crew, process->known_as, process->pid, comm);
        }
        crew_on_surveyed(world->crew);
}

/* The pipe that tells of a failed exec closes without a word also when the process died before it came to that. */
static void tell_late_exec(World *world, const Process *gone) {
        if (gone->executed_told || gone->script.exec_error || gone->kind != PROCESS_MAIN ||
            gone->script.generation > 0 || !random_chance(&world->random, 70))
                return;
        laws_on_executed(world->laws, gone->tree);
        crew_on_executed(world->crew, gone->tree);
}

static void on_collected(World *world, uint32_t slot) {
        Process gone = world->processes[slot];
        char comm[16];
        comm_of(&gone, comm);
        world->processes[slot].state = PROCESS_FREE;
        bool is_main = gone.tree != CREW_NOBODY && world->main_slot[gone.tree] == slot && gone.kind != PROCESS_HOOK;
        world_say(world, "pid %d of member %d is collected: code %d status %d", (int)gone.pid, (int)gone.tree,
                  gone.ended.code, gone.ended.status);
        if (is_main) {
                tell_late_exec(world, &gone);
                world->main_slot[gone.tree] = NO_SLOT;
                if (!gone.given_up) /* then its end, should it come, changes nothing any more */
                        laws_on_main_collected(world->laws, gone.tree, gone.ended);
                crew_on_exited(world->crew, gone.tree, gone.ended);
        } else if (gone.kind == PROCESS_HOOK) {
                if (gone.given_up)
                        return; /* nobody asks any more, and the same hook may run again */
                laws_on_hook_gone(world->laws, gone.hook_run, &gone.ended);
                crew_on_hook_exited(world->crew, gone.hook_run, gone.ended);
        } else if (gone.kind == PROCESS_PROBE) {
                checks_on_collected(world, &gone);
        } else if (gone.known) {
                crew_on_orphan_gone(world->crew, gone.known_as, gone.pid, comm, gone.ended);
        }
}

static void on_forks(World *world, uint32_t slot) {
        Process *process = &world->processes[slot];
        Script script;
        script_make_descendant(&script, &process->script, &world->random);
        if (process->kind == PROCESS_HOOK || process->kind == PROCESS_PROBE)
                script.own_session = random_chance(&world->random, 50);
        if (process->script.daemon) {
                script.life_usec = USEC_INFINITY;
                script.anonymous = false;
                script.own_session = true;
        }
        if (world->rewrite)
                world->rewrite(world, process->tree, &script);
        uint32_t child = world_new_process(world, PROCESS_DESCENDANT, slot, process->tree, &script);
        if (child == NO_SLOT)
                return;
        world_say(world, "pid %d forks pid %d%s%s", (int)process->pid, (int)world->processes[child].pid,
                  script.anonymous ? ", nobody's" : "", script.own_session ? ", in its own session" : "");
        if (!process->script.daemon || process->kind != PROCESS_MAIN)
                return;
        if (process->script.tells_main_pid)
                world_follow_main(world, slot, child);
        Ended end = { .code = CLD_EXITED, .status = 0 };
        process->ended = end;
        agenda_add(&world->agenda,
                   (Item){ .at_usec = world->now_usec + random_usec(&world->random, 0, 5 * USEC_PER_MSEC),
                           .kind = ITEM_DIES,
                           .slot = slot,
                           .generation = process->generation });
}

static NotifyWords words_of(World *world, Saying saying) {
        NotifyWords words;
        memset(&words, 0, sizeof words);
        words.ready = saying == SAYS_READY;
        words.stopping = saying == SAYS_STOPPING;
        words.drained = saying == SAYS_DRAINED;
        words.watchdog = saying == SAYS_WATCHDOG;
        words.watchdog_trigger = saying == SAYS_TRIGGER;
        words.reloading = saying == SAYS_RELOADING;
        if (saying == SAYS_EXTEND)
                words.extend_timeout_usec = random_usec(&world->random, 1, 20 * USEC_PER_SEC);
        if (saying == SAYS_STATUS) {
                words.has_status = words.has_active = true;
                words.active = random_below(&world->random, 9);
                snprintf(words.status, sizeof words.status, "at work on %u", words.active);
        }
        return words;
}

static const char *const saying_words[] = {
        [SAYS_READY] = "READY=1",
        [SAYS_STATUS] = "STATUS=",
        [SAYS_EXTEND] = "EXTEND_TIMEOUT_USEC=",
        [SAYS_STOPPING] = "STOPPING=1",
        [SAYS_DRAINED] = "X_ENDWELL_DRAINED=1",
        [SAYS_MAIN_PID] = "MAINPID=",
        [SAYS_LINE] = "a newline on its ready pipe",
        [SAYS_WATCHDOG] = "WATCHDOG=1",
        [SAYS_WATCHDOG_USEC] = "WATCHDOG_USEC=",
        [SAYS_TRIGGER] = "WATCHDOG=trigger",
        [SAYS_RELOADING] = "RELOADING=1",
};

static void tell_words(World *world, uint32_t member, pid_t pid, Saying saying) {
        NotifyWords words = words_of(world, saying);
        const Process *main = world->main_slot[member] == NO_SLOT ? NULL : &world->processes[world->main_slot[member]];
        if (saying == SAYS_WATCHDOG_USEC && main)
                words.watchdog_usec = main->script.watchdog_usec;
        world_say(world, "pid %d of member %u says %s", (int)pid, member, saying_words[saying]);
        laws_on_said(world->laws, member, saying);
        if (words.watchdog_usec > 0)
                laws_on_watchdog_changed(world->laws, member, words.watchdog_usec);
        if (saying == SAYS_LINE)
                crew_on_ready_line(world->crew, member);
        else
                crew_on_notify(world->crew, member, pid, &words);
}

/* One sign of life is planned at a time. */
static void plan_next_sign(World *world, uint32_t slot) {
        Process *process = &world->processes[slot];
        if (process->dying || process->script.signs-- == 0)
                return;
        agenda_add(&world->agenda, (Item){ .at_usec = usec_add(world->now_usec, process->script.sign_usec),
                                           .kind = ITEM_SAYS,
                                           .slot = slot,
                                           .generation = process->generation,
                                           .detail = SAYS_WATCHDOG });
}

static void on_says(World *world, uint32_t slot, Saying saying) {
        const Process *process = &world->processes[slot];
        if (saying == SAYS_WATCHDOG)
                plan_next_sign(world, slot);
        if (saying == SAYS_EXTEND && !process->dying)
                agenda_add(&world->agenda,
                           (Item){ .at_usec = world->now_usec +
                                              (world->laws->ending ? 700 * USEC_PER_MSEC : 20 * USEC_PER_SEC),
                                   .kind = ITEM_SAYS,
                                   .slot = slot,
                                   .generation = process->generation,
                                   .detail = SAYS_EXTEND });
        tell_words(world, process->tree, process->pid, saying);
}

void world_follow_main(World *world, uint32_t from, uint32_t to) {
        Process *old = &world->processes[from], *new = &world->processes[to];
        char comm[16];
        comm_of(old, comm);
        world->main_slot[new->tree] = to;
        new->kind = PROCESS_MAIN;
        old->kind = PROCESS_DESCENDANT;
        world_say(world, "pid %d of member %u says MAINPID=%d", (int)old->pid, new->tree, (int)new->pid);
        old->known = true;
        old->known_as = new->tree;
        crew_on_orphan_adopted(world->crew, new->tree, old->pid, comm);
        bool was_orphan = new->known;
        new->known = false;
        crew_on_main_pid(world->crew, new->tree, new->pid, was_orphan);
}

static void on_executed(World *world, uint32_t slot) {
        Process *process = &world->processes[slot];
        process->executed_told = true;
        laws_on_executed(world->laws, process->tree);
        crew_on_executed(world->crew, process->tree);
}

static void on_exec_failed(World *world, uint32_t slot) {
        const Process *process = &world->processes[slot];
        world_say(world, "exec of pid %d fails", (int)process->pid);
        if (process->kind == PROCESS_HOOK)
                crew_on_hook_spawn_failed(world->crew, process->hook_run, "exec", process->script.exec_error);
        else
                crew_on_spawn_failed(world->crew, process->tree, "exec", process->script.exec_error);
        /* The crew may have killed it meanwhile, for all the world knows: then it dies of that. */
        if (process->state == PROCESS_ALIVE && !process->dying)
                world_die(world, slot, (Ended){ .code = CLD_EXITED, .status = 127 });
}

static void on_dies(World *world, uint32_t slot) {
        Process *process = &world->processes[slot];
        world_say(world, "pid %d of member %d dies: code %d status %d", (int)process->pid, (int)process->tree,
                  process->ended.code, process->ended.status);
        world_die(world, slot, process->ended);
}

/* Items about a process that has another mind since, or is gone, mean nothing any more. */
static bool is_stale(const World *world, const Item *item) {
        if (item->kind == ITEM_SURVEYED || item->kind == ITEM_ACKNOWLEDGED || item->kind == ITEM_HAPPENING ||
            item->kind == ITEM_PROBED)
                return false;
        const Process *process = &world->processes[item->slot];
        if (process->state == PROCESS_FREE || process->generation != item->generation)
                return true;
        return (item->kind == ITEM_COLLECTED) != (process->state == PROCESS_ZOMBIE);
}

void world_take_place(World *world, Item item) {
        if (is_stale(world, &item))
                return;
        switch (item.kind) {
        case ITEM_EXECUTED: on_executed(world, item.slot); break;
        case ITEM_EXEC_FAILED:
        case ITEM_HOOK_EXEC_FAILED: on_exec_failed(world, item.slot); break;
        case ITEM_SAYS: on_says(world, item.slot, (Saying)item.detail); break;
        case ITEM_FORKS: on_forks(world, item.slot); break;
        case ITEM_DIES: on_dies(world, item.slot); break;
        case ITEM_COLLECTED: on_collected(world, item.slot); break;
        case ITEM_SURVEYED: on_surveyed(world); break;
        case ITEM_PROBED: checks_take_answer(world, &item); break;
        case ITEM_ACKNOWLEDGED:
                world_say(world, "the gateway acknowledges");
                crew_on_acknowledged(world->crew, "gateway");
                break;
        case ITEM_HAPPENING: outside_take_place(world, &world->schedule->outside[item.detail]); break;
        }
}
