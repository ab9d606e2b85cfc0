/* laws_end.c - the end judged against the world's truth, and the moments in which nothing more happens. */
#include "tests/sim/laws_internal.h"
#include <string.h>

static bool finished_every_phase(const Laws *laws) {
        return laws->phases_finished == (laws_is_development(laws) ? 1 : laws->world->schedule->config.n_phases);
}

/* L7. What was never adopted by PID 1 (its parent lives on) is not PID 1's to collect. */
static void check_collected(Laws *laws) {
        const World *world = laws->world;
        for (uint32_t i = 0; i < world->n_processes; i++) {
                const Process *process = &world->processes[i];
                bool strange = process->kind == PROCESS_DESCENDANT && !process->known;
                if (process->state == PROCESS_FREE || process->parent != PID_ONE || laws_is_given_up(laws, process) ||
                    laws_is_left_by_mode(laws, process) || (strange && process->state == PROCESS_ZOMBIE))
                        continue;
                /* A stranger that came after the last look is nobody's fault. */
                if (strange && process->tree == CREW_NOBODY)
                        continue;
                laws_break(laws, "L7", "pid %d of member %d was neither collected nor given up at the end",
                           (int)process->pid, (int)process->tree);
        }
}

static bool something_was_left_by_mode(const Laws *laws) {
        const World *world = laws->world;
        for (uint32_t i = 0; i < world->n_processes; i++)
                if (process_is_alive(&world->processes[i]) && world->processes[i].parent == PID_ONE &&
                    laws_is_left_by_mode(laws, &world->processes[i]))
                        return true;
        return false;
}

/* Then nobody looks any more for what was left. */
static bool is_at_deadline(const Laws *laws) {
        return laws->world->now_usec >= usec_add(laws->asked_usec, laws->world->schedule->config.budget.deadline_usec);
}

/* What the code must be by the truth alone, highest rank first. */
static int code_by_truth(const Laws *laws) {
        if (laws->own_faults > 0)
                return EXIT_OWN_FAULT;
        if (laws->world->schedule->config.single && laws->passed_code >= 0)
                return laws->passed_code;
        if (laws_must_be_essential(laws) || laws->essentials > 0)
                return EXIT_ESSENTIAL;
        if (laws->left > 0 || laws->late_kills > 0)
                return EXIT_DEADLINE;
        if (laws->forced > 0)
                return EXIT_KILLED;
        /* One that ended well at the very instant of its limit may count as timed out. */
        if (laws->hook_aborted || (laws->hook_cut && verdict_code(&laws->verdict) == EXIT_HOOK_FAILED))
                return EXIT_HOOK_FAILED;
        if (laws->descendants_left > 0 || (!is_at_deadline(laws) && something_was_left_by_mode(laws)))
                return EXIT_DESCENDANTS;
        return laws->passed_code >= 0 ? laws->passed_code : EXIT_CLEAN;
}

static void check_code(Laws *laws, int code) {
        int truth = code_by_truth(laws), journal = verdict_code(&laws->verdict);
        if (code != journal)
                laws_break(laws, "L9", "exit %d, and the journal says %d", code, journal);
        if (laws->sample_reading && code != verdict_code(&laws->reread))
                laws_break(laws, "L9", "exit %d, and the journal as it was read back says %d", code,
                           verdict_code(&laws->reread));
        if (code != laws->finished_code)
                laws_break(laws, "L10", "exit %d, and ending_finished says %d", code, laws->finished_code);
        if (code != truth)
                laws_break(laws, "L9", "exit %d, and the truth is %d (given up %u, late kills %u, kills %u)", code,
                           truth, laws->left, laws->late_kills, laws->forced);
}

void laws_on_finish(Laws *laws, int code) {
        const World *world = laws->world;
        usec_t deadline = usec_add(laws->asked_usec, world->schedule->config.budget.deadline_usec);
        if (world->finished)
                laws_break(laws, "L10", "it finished twice");
        if (!laws->ending)
                laws_break(laws, "L10", "it finished without an ending");
        if (!laws->finished_event)
                laws_break(laws, "L10", "it finished without ending_finished");
        if (world->now_usec > deadline + (world->schedule->late_timers ? 2 * USEC_PER_MSEC : 0))
                laws_break(laws, "L4", "it finished after the deadline");
        laws_check_checks_ended(laws);
        laws_check_let_go(laws);
        check_code(laws, code);
        if (is_at_deadline(laws))
                return; /* at the deadline whatever is left is given up */
        if (!finished_every_phase(laws))
                laws_break(laws, "L2", "phases were skipped before the deadline");
        check_collected(laws);
        laws_check_hooks_ran(laws);
}

static bool somebody_is_awaited(const Laws *laws, unsigned phase) {
        const World *world = laws->world;
        for (uint32_t i = 0; i < world->n_processes; i++) {
                const Process *process = &world->processes[i];
                if (process->state == PROCESS_FREE || laws_is_given_up(laws, process) ||
                    laws_is_left_by_mode(laws, process))
                        continue;
                /* What is nobody's, or of a member that rests already, belongs to the phase that is ending. */
                if (process->known && (process->known_as == CREW_NOBODY || laws_is_resting(laws, process->tree)))
                        return true;
                bool counts = process->known || process_is_alive(process) || process->kind != PROCESS_DESCENDANT;
                if (counts && process->tree != CREW_NOBODY && laws_service(laws, process->tree)->phase <= phase)
                        return true;
        }
        return false;
}

void laws_on_quiet(Laws *laws) {
        const World *world = laws->world;
        usec_t deadline = usec_add(laws->asked_usec, world->schedule->config.budget.deadline_usec);
        if (!world->finished) {
                laws_check_health(laws);
                laws_check_holds(laws);
                laws_check_steering(laws);
        }
        if (laws->asked_usec == USEC_INFINITY || world->finished)
                return;
        if (world->now_usec > deadline + (world->schedule->late_timers ? 2 * USEC_PER_MSEC : 0))
                laws_break(laws, "L4", "the deadline has passed and it has not finished");
        if (!laws->ending)
                laws_break(laws, "D", "the ending was asked for and has not started");
        usec_t waited = world->now_usec - laws->ending_usec, room = world->schedule->config.budget.deadline_usec / 2;
        if (laws->phases_started == 0 && waited > usec_min(USEC_PER_SEC, room) + 2 * USEC_PER_MSEC)
                laws_break(laws, "D", "an acknowledgement was awaited for %.6f s", (double)waited / 1e6);
        if (laws->phases_started == 0 || laws->hooks_running > 0 || world->survey_pending)
                return;
        /* With more orphans than the core lists, one that cannot be killed may be awaited until the limit. */
        if (SIM_CROWDED)
                return;
        unsigned phase = laws_is_development(laws) ? world->schedule->config.n_phases - 1 : laws->phases_started - 1;
        if (!somebody_is_awaited(laws, phase))
                laws_break(laws, "D", "phase %u waits, and nobody of it is left", phase);
}
