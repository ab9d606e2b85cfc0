/* laws.h - watches a simulated life and says which law of the house it broke.
 *
 * Sees the journal's events, the crew's requests to its stage, and the world's truth. L1 to L10 are those of the
 * design; the letters are promises of the configuration contract: A stop and start order inside a phase, B a restart
 * waits for the empty tree, C nobody is killed before time, D an ending waits for no timer when nobody is left, E the
 * journal is consistent in itself, F the core does not spin, G restarts keep their back-off, H who is said to be gone
 * is gone, P checks begin and count as promised, W a watchdog kills who is late and nobody else, S what is held is held
 * over restarts and closed before a stop, R a reload reaches whom it should,
 * O whom a person stopped stays so, whom he started comes, in order. */
#pragma once
#include "shutdown/event.h"
#include "shutdown/verdict.h"
#include "tests/sim/truth.h"
#include "tests/sim/world.h"
#include <stdbool.h>

struct Laws {
        World *world;
        bool broken;
        char law[8], text[256];
        bool sample_reading; /* write each event and read it back */
        MemberTruth members[SIM_MEMBERS_MAX];
        ServiceTruth services[SIM_SERVICES_MAX];
        ProbeTruth probes[SIM_PROBES_MAX];
        unsigned n_probes;
        HookTruth hooks[SIM_HOOKS_MAX][SIM_MEMBERS_MAX + 1]; /* the last column: a phase's hook */
        unsigned hooks_running;
        Verdict verdict, reread;
        bool ending, fast, withdrawn, finished_event, ready_told_away;
        bool hook_aborted, hook_cut;    /* a stop hook with OnFailure=abort failed; or was killed */
        bool phase_asked[PHASES_MAX];   /* its first stop signal was sent */
        bool started;                   /* start-up is finished */
        usec_t progress_usec;           /* of the last startup_progress; 0: none yet */
        usec_t ending_usec, asked_usec; /* the event, the first request; USEC_INFINITY: not yet */
        unsigned phases_started, phases_finished, reload_signals;
        bool reloading, signalling, by_hand; /* a person's request is taken up */
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
void laws_on_watchdog_changed(Laws *laws, uint32_t member, usec_t usec);
bool laws_on_check(Laws *laws, uint32_t probe_run); /* false: it must not begin */
void laws_on_check_begun(Laws *laws, uint32_t probe_run);
void laws_on_call_off(Laws *laws, uint32_t probe_run);
void laws_on_answer(Laws *laws, uint32_t probe_run, ProbeAnswer answer);
void laws_on_close_sockets(Laws *laws, uint32_t service);
void laws_on_drop_store(Laws *laws, uint32_t member);
void laws_on_reload(Laws *laws);
void laws_on_reloaded(Laws *laws, unsigned n);
void laws_on_steered(Laws *laws, uint32_t member, SteerEffect effect);
void laws_on_steering(Laws *laws, int answer);
void laws_on_asked_to_end(Laws *laws, bool fast);
void laws_on_own_fault(Laws *laws);
void laws_on_main_collected(Laws *laws, uint32_t member, Ended how);
void laws_on_finish(Laws *laws, int code);
void laws_on_hook_killed(Laws *laws, uint32_t hook_run);
bool laws_is_left_by_mode(const Laws *laws, const Process *process); /* lives on by KillMode=process */
/* Nothing more will happen at this instant. */
void laws_on_quiet(Laws *laws);
