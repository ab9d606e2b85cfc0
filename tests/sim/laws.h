/* laws.h - watches a simulated life and says which law of the house it broke.
 *
 * Sees the journal's events, the crew's requests to its stage, and the world's truth. L1 to L10 are those of the
 * design; the letters are promises of the configuration contract: A stop and start order inside a phase, B a restart
 * waits for the empty tree, C nobody is killed before time, D an ending waits for no timer when nobody is left, E the
 * journal is consistent in itself, F the core does not spin, G restarts keep their back-off, H who is said to be gone
 * is gone. */
#pragma once
#include "shutdown/event.h"
#include "shutdown/verdict.h"
#include "tests/sim/world.h"
#include <stdbool.h>

typedef struct MemberTruth {
        unsigned failed_runs;          /* since it last stayed ready for its reset time */
        unsigned turn;                 /* restarts that were scheduled so far */
        unsigned spawned_turn;         /* turn + 1 of the last start */
        usec_t restart_usec;           /* when the next start is due; 0: none was scheduled */
        usec_t ready_usec, asked_usec; /* of this run; USEC_INFINITY: not yet */
        int exit_code;                 /* of the last run that ended, as a shell would say it */
        bool ever_spawned, ever_ready, stopping, extended, drained, killed, gave_up;
        bool stops_before; /* its stop began before the ending did: what it requires failed */
} MemberTruth;

typedef struct HookTruth {
        unsigned begun_turn; /* turn + 1 of the last beginning; 0: never */
        bool runs;
} HookTruth;

struct Laws {
        World *world;
        bool broken;
        char law[8], text[256];
        bool sample_reading; /* write each event and read it back */
        MemberTruth members[SIM_MEMBERS_MAX];
        HookTruth hooks[SIM_HOOKS_MAX][SIM_MEMBERS_MAX + 1]; /* the last column: a phase's hook */
        unsigned hooks_running;
        Verdict verdict, reread;
        bool ending, fast, withdrawn, finished_event, ready_told_away, must_be_essential;
        bool hook_aborted, hook_cut;    /* a stop hook with OnFailure=abort failed; or was killed */
        bool phase_asked[PHASES_MAX];   /* its first stop signal was sent */
        bool started;                   /* start-up is finished */
        usec_t progress_usec;           /* of the last startup_progress; 0: none yet */
        usec_t ending_usec, asked_usec; /* the event, the first request; USEC_INFINITY: not yet */
        unsigned phases_started, phases_finished;
        unsigned forced, late_kills, left, own_faults, descendants_left, essentials;
        int finished_code, passed_code; /* passed: of the single command, or of ExitCodeFrom; -1: none yet */
        uint64_t events;
};

void laws_init(Laws *laws, World *world);
void laws_break(Laws *laws, const char *law, const char *format, ...) __attribute__((format(printf, 3, 4)));
void laws_on_event(Laws *laws, const Event *event);
void laws_on_spawn(Laws *laws, uint32_t member);
void laws_on_spawn_refused(Laws *laws, uint32_t member);
void laws_on_hook(Laws *laws, uint32_t hook_run);
void laws_on_hook_gone(Laws *laws, uint32_t hook_run, const Ended *how); /* NULL: it could not be made */
void laws_on_withdraw(Laws *laws);
void laws_on_signal(Laws *laws, uint32_t member, Whom whom, int signal_number, const char *reason);
void laws_on_killed(Laws *laws, const char *reason); /* a process that was alive until now */
void laws_on_said(Laws *laws, uint32_t member, Saying saying);
void laws_on_executed(Laws *laws, uint32_t member);
void laws_on_asked_to_end(Laws *laws, bool fast);
void laws_on_own_fault(Laws *laws);
void laws_on_main_collected(Laws *laws, uint32_t member, Ended how);
void laws_on_finish(Laws *laws, int code);
void laws_on_hook_killed(Laws *laws, uint32_t hook_run);
bool laws_is_left_by_mode(const Laws *laws, const Process *process); /* lives on by KillMode=process */
/* Nothing more will happen at this instant. */
void laws_on_quiet(Laws *laws);
