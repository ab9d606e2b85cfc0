/* world.h - the simulated kernel: fake processes, their signals and deaths, and the clock.
 *
 * Keeps its own truth and never asks the crew what it believes. When a parent dies, PID 1 inherits its children. Deaths
 * are noticed (collected) a little later than they happen, and PID 1 knows an orphan only after a survey. */
#pragma once
#include "supervisor/crew.h"
#include "tests/sim/agenda.h"
#include "tests/sim/schedule.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORLD_BEGINS_USEC (1000 * USEC_PER_SEC)
#define PROCESSES_MAX     512
#define NO_SLOT           UINT32_MAX
#define PID_ONE           (UINT32_MAX - 1) /* as a parent */
typedef enum ProcessKind { PROCESS_MAIN, PROCESS_HOOK, PROCESS_PROBE, PROCESS_DESCENDANT } ProcessKind;
typedef enum ProcessState { PROCESS_FREE, PROCESS_ALIVE, PROCESS_ZOMBIE } ProcessState;

typedef struct Process {
        ProcessState state;
        ProcessKind kind;
        pid_t pid;
        uint32_t generation; /* of the slot */
        uint32_t parent;     /* slot, or PID_ONE */
        uint32_t tree;       /* the member it truly comes from; CREW_NOBODY: a phase's hook, or a stranger */
        uint32_t hook_run;   /* of hooks and what they leave; else NO_SLOT */
        uint32_t probe_run;  /* of the command of a check, and of what it leaves; else NO_SLOT */
        unsigned run;        /* of the member, when it was born */
        bool known;          /* the crew was told of it as an orphan … */
        uint32_t known_as;   /* … of this member, or of nobody */
        unsigned known_in;   /* how many phases had begun when it was adopted */
        bool executed_told, dying, asked, given_up;
        usec_t born_usec, asked_usec, killed_usec; /* USEC_INFINITY: not yet */
        Ended ended;
        Script script;
} Process;

/* The last check of a probe run. */
typedef struct Check {
        bool open, called_off;
        uint32_t number;
        uint32_t slot; /* of its command; NO_SLOT: it is looked at from elsewhere */
} Check;

typedef struct Laws Laws;
typedef struct Chooser Chooser;

typedef struct World {
        usec_t now_usec;
        Random random;
        Chooser *chooser; /* the walk decides in place of the random numbers; else NULL */
        Crew *crew;
        const Schedule *schedule;
        Laws *laws;
        Agenda agenda;
        Process processes[PROCESSES_MAX];
        unsigned n_processes; /* slots that were ever used */
        pid_t next_pid;
        uint32_t main_slot[SIM_MEMBERS_MAX];
        unsigned runs[SIM_MEMBERS_MAX]; /* spawn attempts */
        Check checks[SIM_PROBES_MAX];
        void (*rewrite)(struct World *world, uint32_t member, Script *script);
        bool survey_pending, withdrawn, finished;
        bool trace;
        int code; /* given to finish() */
        uint64_t steps;
} World;

extern const Stage world_stage;

void world_init(World *world, const Schedule *schedule, Laws *laws);
/* Carries out one item of the agenda. */
void world_take_place(World *world, Item item);
/* 0 to n - 1: which of several things that may happen now. */
unsigned world_pick(World *world, unsigned n);

uint32_t world_new_process(World *world, ProcessKind kind, uint32_t parent, uint32_t tree, const Script *script);
/* An orphan that comes from nowhere: adopted by PID 1, unattributed. */
void world_new_stranger(World *world);
void world_survey(World *world);
/* MAINPID=: the service's main process is another one of its tree from now on. */
void world_follow_main(World *world, uint32_t from, uint32_t to);
void world_die(World *world, uint32_t slot, Ended how);
void world_signal_process(World *world, uint32_t slot, int signal_number);
bool world_is_below(const World *world, uint32_t slot, uint32_t root);
const Process *world_find(const World *world, pid_t pid); /* NULL: no such process */
static inline bool process_is_alive(const Process *process) {
        return process->state == PROCESS_ALIVE;
}
/* Not left by a hook, or by the command of a check, which may have been given up. */
static inline bool process_is_of_run(const Process *process) {
        return process->hook_run == NO_SLOT && (process->probe_run == NO_SLOT || process->kind == PROCESS_PROBE);
}
void world_say(const World *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
