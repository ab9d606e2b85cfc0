/* laws.c - what the crew asks of its stage, judged against the world's truth; see laws.h. */
#include "tests/sim/laws.h"

#include "supervisor/respawn.h"
#include "tests/sim/laws_internal.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void laws_init(Laws *laws, World *world) {
        memset(laws, 0, sizeof *laws);
        laws->world = world;
        laws->ending_usec = laws->asked_usec = USEC_INFINITY;
        laws->passed_code = -1;
        for (unsigned i = 0; i < SIM_MEMBERS_MAX; i++)
                laws->members[i].ready_usec = laws->members[i].asked_usec = USEC_INFINITY;
}

void laws_break(Laws *laws, const char *law, const char *format, ...) {
        if (laws->broken)
                return; /* the first is the cause, the others may be its consequences */
        va_list args;
        va_start(args, format);
        vsnprintf(laws->text, sizeof laws->text, format, args);
        va_end(args);
        snprintf(laws->law, sizeof laws->law, "%s", law);
        laws->broken = true;
}

const ServiceConfig *laws_service(const Laws *laws, uint32_t member) {
        return &laws->world->schedule->services[laws->world->schedule->service_of[member]];
}

bool laws_is_development(const Laws *laws) {
        return laws->world->schedule->config.mode == MODE_DEVELOPMENT;
}

bool laws_is_resting(const Laws *laws, uint32_t member) {
        const char *state = crew_view(laws->world->crew, member).state;
        return strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 || strcmp(state, "left") == 0 ||
               strcmp(state, "stopped") == 0;
}

/* Given up, or out of sight below one that was. */
bool laws_is_given_up(const Laws *laws, const Process *process) {
        while (!process->given_up && process->parent != PID_ONE)
                process = &laws->world->processes[process->parent];
        return process->given_up;
}

/* KillMode=process: what its main process leaves lives on, with all that is below it, unless nobody can tell whose it
 * is. */
bool laws_is_left_by_mode(const Laws *laws, const Process *process) {
        const World *world = laws->world;
        if (process->tree == CREW_NOBODY || laws_service(laws, process->tree)->kill_mode != KILL_PROCESS)
                return false;
        while (process->parent != PID_ONE && process->kind == PROCESS_DESCENDANT)
                process = &world->processes[process->parent];
        return process->kind == PROCESS_DESCENDANT && !process->script.anonymous;
}

/* Who stands aside is waited for by nobody, once its own turn has come. */
static bool was_ready(const Laws *laws, uint32_t member) {
        const MemberTruth *truth = &laws->members[member];
        return truth->ever_ready || (laws_service(laws, member)->aside && truth->had_turn);
}

static bool was_settled(const Laws *laws, uint32_t member) {
        return was_ready(laws, member) || laws_is_resting(laws, member);
}

/* Nobody has started this instance by hand, but one beside it, which will do. */
static bool is_spare(const Laws *laws, uint32_t member) {
        const Schedule *schedule = laws->world->schedule;
        if (!laws_service(laws, member)->by_hand || laws->members[member].had_turn)
                return false;
        for (uint32_t other = 0; other < schedule->config.n_members; other++)
                if (schedule->service_of[other] == schedule->service_of[member] && was_ready(laws, other))
                        return true;
        return false;
}

void laws_check_start_order(Laws *laws, uint32_t member) {
        const Schedule *schedule = laws->world->schedule;
        const ServiceConfig *service = laws_service(laws, member);
        const Relation *after = service_after(service), *requires = service_requires(service);
        for (uint32_t other = 0; other < schedule->config.n_members; other++) {
                if (laws_service(laws, other)->phase > service->phase && !was_settled(laws, other) &&
                    !laws_service(laws, other)->by_hand)
                        laws_break(laws, "A", "member %u started before member %u of a later phase was ready", member,
                                   other);
                for (uint16_t i = 0; i < after->n; i++)
                        if (schedule->service_of[other] == after->items[i] && !was_settled(laws, other))
                                laws_break(laws, "A",
                                           "member %u started before member %u, which it comes after, was ready",
                                           member, other);
                for (uint16_t i = 0; i < requires->n; i++)
                        if (schedule->service_of[other] == requires->items[i] && !was_ready(laws, other) &&
                            !laws->members[other].held /* one of several; see O */ && !is_spare(laws, other))
                                laws_break(laws, "A", "member %u started, and member %u, which it requires, never did",
                                           member, other);
        }
}

static void check_empty_tree(Laws *laws, uint32_t member) {
        const World *world = laws->world;
        for (uint32_t i = 0; i < world->n_processes; i++) {
                const Process *process = &world->processes[i];
                if (process_is_alive(process) && process->tree == member && process_is_of_run(process) &&
                    !process->script.anonymous && !laws_is_given_up(laws, process) &&
                    !laws_is_left_by_mode(laws, process))
                        laws_break(laws, "B", "member %u was started while pid %d of its last run lived", member,
                                   (int)process->pid);
        }
}

void laws_on_spawn(Laws *laws, uint32_t member) {
        MemberTruth *truth = &laws->members[member];
        const ServiceConfig *service = laws_service(laws, member);

        if (laws->ending || laws->asked_usec != USEC_INFINITY)
                laws_break(laws, "L5", "member %u was started after the ending began", member);
        if (service->start_limit_burst > 0 && truth->failed_runs >= service->start_limit_burst)
                laws_break(laws, "L8", "member %u was started after %u failed runs, StartLimitBurst is %u", member,
                           truth->failed_runs, service->start_limit_burst);
        if (laws->services[laws->world->schedule->service_of[member]].closed || truth->dropped)
                laws_break(laws, "S", "member %u was started after what it is given was closed", member);
        laws_check_steered_start(laws, member);
        if (truth->gave_up)
                laws_break(laws, "L8", "member %u was started after it had failed for good", member);
        if (truth->spawned_turn == truth->turn + 1)
                laws_break(laws, "B", "member %u was started twice in one turn", member);
        if (laws->world->now_usec < truth->restart_usec)
                laws_break(laws, "G", "member %u was restarted before its delay was over", member);
        check_empty_tree(laws, member);
        truth->spawned_turn = truth->turn + 1;
        truth->ever_spawned = true;
        laws_begin_run(laws, member);
        truth->stopping = truth->killed = truth->extended = truth->drained = truth->stops_before = false;
}

static void note_exit_code(Laws *laws, uint32_t member, int code) {
        const Config *config = &laws->world->schedule->config;
        laws->members[member].exit_code = code;
        if (config->single || config->exit_code_from == laws->world->schedule->service_of[member])
                laws->passed_code = code;
}

void laws_on_spawn_refused(Laws *laws, uint32_t member) {
        laws->members[member].failed_runs++;
        note_exit_code(laws, member, 125);
}

void laws_on_said(Laws *laws, uint32_t member, Saying saying) {
        MemberTruth *truth = &laws->members[member];
        ServiceType type = laws_service(laws, member)->type;
        if ((saying == SAYS_READY && type == SERVICE_NOTIFY) || (saying == SAYS_LINE && type == SERVICE_NOTIFY_FD)) {
                truth->says_ready = true;
                laws_try_ready(laws, member);
        }
        if (saying == SAYS_WATCHDOG && truth->ready_usec != USEC_INFINITY)
                truth->sign_usec = laws->world->now_usec;
        truth->triggered |= saying == SAYS_TRIGGER && laws_is_up(laws, member);
        truth->stopping |= saying == SAYS_STOPPING;
        truth->extended |= saying == SAYS_EXTEND;
        truth->drained |= saying == SAYS_DRAINED;
}

void laws_on_asked_to_end(Laws *laws, bool fast) {
        if (laws->asked_usec == USEC_INFINITY)
                laws->asked_usec = laws->world->now_usec;
        laws->fast |= fast;
}

void laws_on_own_fault(Laws *laws) {
        if (laws->asked_usec == USEC_INFINITY)
                laws->asked_usec = laws->world->now_usec;
        if (!laws->world->finished)
                laws->own_faults++;
}

static bool is_clean(const Laws *laws, uint32_t member, Ended how) {
        const ServiceConfig *service = laws_service(laws, member);
        if (how.code == CLD_EXITED)
                return how.status == 0 || exit_set_has_code(service->success, how.status);
        return exit_set_has_signal(service->success, how.status);
}

/* It tells that it is ready, and ended by itself before it did. */
static bool ended_unready(const Laws *laws, uint32_t member) {
        const MemberTruth *truth = &laws->members[member];
        return laws_tells_ready(laws, member) && truth->ready_usec == USEC_INFINITY && !truth->told_to_go &&
               !laws->ending;
}

static bool has_failed(const Laws *laws, uint32_t member, Ended how, usec_t ready_for) {
        const MemberTruth *truth = &laws->members[member];
        const ServiceConfig *service = laws_service(laws, member);
        if (truth->ill || !is_clean(laws, member, how) || ended_unready(laws, member) ||
            (truth->asked_usec != USEC_INFINITY && truth->ready_usec == USEC_INFINITY))
                return true;
        if (service->type == SERVICE_ONESHOT || service->restart != RESTART_ALWAYS)
                return false;
        bool recycles = truth->stopping && how.code == CLD_EXITED && how.status == 0;
        return ready_for < RESPAWN_EARLY_USEC && !recycles;
}

void laws_on_main_collected(Laws *laws, uint32_t member, Ended how) {
        MemberTruth *truth = &laws->members[member];
        const ServiceConfig *service = laws_service(laws, member);
        usec_t ready_for = laws_ready_for(laws, member);

        if (ready_for >= usec_max(60 * USEC_PER_SEC, service->restart_max_usec))
                truth->failed_runs = 0;
        bool asked = truth->asked_usec != USEC_INFINITY || truth->killed;
        note_exit_code(laws, member, how.code == CLD_EXITED ? how.status : 128 + how.status);
        if (service->type == SERVICE_ONESHOT && is_clean(laws, member, how))
                truth->ever_ready = true;
        if (has_failed(laws, member, how, ready_for)) {
                truth->failed_runs++;
                bool for_good = laws->ending || service->restart == RESTART_NO ||
                                (service->start_limit_burst > 0 && truth->failed_runs >= service->start_limit_burst);
                bool by_itself = !is_clean(laws, member, how) || ended_unready(laws, member);
                if (for_good && service->essential && !asked && by_itself && !truth->anew)
                        truth->doomed = true;
        }
}

/* Found (itself, or whom it is below) after this phase began: late strays belong to the phase that is ending. */
static bool was_found_since(const Laws *laws, const Process *process, unsigned phase) {
        while (process->parent != PID_ONE)
                process = &laws->world->processes[process->parent];
        return process->known && process->known_in > phase;
}

/* L1: who must be gone before a phase may be asked. What is nobody's belongs to the phase that is ending when it is
 * found: it must be gone before the next one. */
static void check_earlier_phases(Laws *laws, uint32_t member) {
        const World *world = laws->world;
        unsigned phase = laws_service(laws, member)->phase;
        for (uint32_t i = 0; i < world->n_processes; i++) {
                const Process *process = &world->processes[i];
                if (!process_is_alive(process) || laws_is_given_up(laws, process) ||
                    laws_is_left_by_mode(laws, process) || was_found_since(laws, process, phase))
                        continue;
                if (process->known && process->known_as == CREW_NOBODY && phase > 0)
                        laws_break(laws, "L1", "member %u was asked while pid %d, nobody's, lived", member,
                                   (int)process->pid);
                else if (process->tree != CREW_NOBODY && laws_service(laws, process->tree)->phase < phase)
                        laws_break(laws, "L1",
                                   "member %u was asked while pid %d of member %u lived, whose phase is earlier",
                                   member, (int)process->pid, process->tree);
        }
        if (phase >= laws->phases_started)
                laws_break(laws, "L1", "member %u was asked before its phase began", member);
}

/* A: inside a phase, who comes after this one is gone before it is asked. */
static void check_stop_order(Laws *laws, uint32_t member) {
        const World *world = laws->world;
        const Relation *before = service_before(laws_service(laws, member));
        for (uint32_t i = 0; i < world->n_processes; i++) {
                const Process *process = &world->processes[i];
                if (!process_is_alive(process) || laws_is_given_up(laws, process) || process->tree == CREW_NOBODY ||
                    process->script.anonymous || process->hook_run != NO_SLOT || laws_is_left_by_mode(laws, process))
                        continue;
                if (laws_is_resting(laws, process->tree))
                        continue; /* given up, or a late stray: it belongs to the phase, not to the run */
                for (uint16_t n = 0; n < before->n; n++)
                        if (world->schedule->service_of[process->tree] == before->items[n])
                                laws_break(laws, "A",
                                           "member %u was asked while pid %d of member %u, which comes after it, lived",
                                           member, (int)process->pid, process->tree);
        }
}

/* C: SIGKILL comes at a limit, never before. What says it drained, and what a crash orphaned, has its own rules. */
static void check_not_too_early(Laws *laws, uint32_t member, const char *reason) {
        const MemberTruth *truth = &laws->members[member];
        const ServiceConfig *service = laws_service(laws, member);
        usec_t now = laws->world->now_usec;
        usec_t limit = usec_add(laws->ending_usec, budget_limit(&laws->world->schedule->config.budget, service->phase));
        if (laws->fast || laws_is_development(laws) || truth->drained || now >= limit || strcmp(reason, "died") == 0)
                return;
        if (truth->asked_usec == USEC_INFINITY)
                laws_break(laws, "C", "member %u was killed, reason %s, and never asked", member, reason);
        else if (service->timeout_stop_usec < USEC_UNSET &&
                 now < usec_add(truth->asked_usec, service->timeout_stop_usec))
                laws_break(laws, "C", "member %u was killed, reason %s, before its TimeoutStopSec", member, reason);
}

void laws_on_signal(Laws *laws, uint32_t member, Whom whom, int signal_number, const char *reason) {
        World *world = laws->world;
        if (world->trace) {
                world_say(world, "signal %d to %s of member %d, reason %s", signal_number,
                          whom == WHOM_MAIN   ? "the main process"
                          : whom == WHOM_REST ? "the rest"
                                              : "all",
                          (int)member, reason ? reason : "-");
        }
        if (!reason)
                laws_break(laws, "E", "a signal without a reason");
        if (world->finished)
                laws_break(laws, "L10", "a signal after the end");
        if (member != CREW_NOBODY && whom != WHOM_MAIN && laws_service(laws, member)->kill_mode == KILL_PROCESS)
                laws_break(laws, "C", "member %u has KillMode=process, and more than its main process was signalled",
                           member);
        if (signal_number == 0 || member == CREW_NOBODY || whom == WHOM_REST || world->main_slot[member] == NO_SLOT)
                return;
        if (strcmp(reason, "reload") == 0) {
                laws_on_reload_signal(laws, member, signal_number);
                return;
        }
        if (strcmp(reason, "request") == 0) {
                if (!laws->signalling || laws->ending)
                        laws_break(laws, "O", "member %u was sent a signal that nobody asked for", member);
                return;
        }
        MemberTruth *truth = &laws->members[member];
        /* One that is dead, and be it that PID 1 has not collected it yet, was not asked. */
        bool lives = process_is_alive(&world->processes[world->main_slot[member]]);
        if (signal_number == SIGKILL) {
                if (lives && laws->ending && reason)
                        check_not_too_early(laws, member, reason);
                truth->killed = true;
                laws->services[world->schedule->service_of[member]].stopped |= laws->ending;
                return;
        }
        if (!truth->told_to_go) {
                laws_check_steered_stop(laws, member, reason);
                laws_check_hooks_before_stop(laws, member, reason);
                laws_check_ill(laws, member, signal_number, reason);
                laws_check_sockets_before(laws, member, reason);
        }
        truth->told_to_go = true;
        if (truth->asked_usec != USEC_INFINITY || !lives)
                return;
        truth->asked_usec = world->now_usec;
        if (!laws->ending || truth->stops_before || laws_is_development(laws))
                return;
        unsigned phase = laws_service(laws, member)->phase;
        if (!laws->phase_asked[phase])
                check_earlier_phases(laws, member);
        laws->phase_asked[phase] = true;
        if (!laws->fast)
                check_stop_order(laws, member);
}

/* Also of one that dies already of the killing of a hook's group: PID 1 cannot know that. */
void laws_on_killed(Laws *laws, const char *reason) {
        if (!laws->ending || !reason || strcmp(reason, "drained") == 0 || strcmp(reason, "died") == 0)
                return;
        laws->forced++;
        usec_t limit = usec_add(laws->ending_usec, laws->world->schedule->config.budget.deadline_usec);
        if (laws->world->now_usec >= usec_sub(limit, laws->world->schedule->config.budget.reserve_usec))
                laws->late_kills++;
}

void laws_on_withdraw(Laws *laws) {
        if (laws->withdrawn)
                laws_break(laws, "L6", "readiness was withdrawn twice");
        if (laws->phases_started > 0)
                laws_break(laws, "L6", "readiness was withdrawn after a phase began");
        laws->withdrawn = true;
}
