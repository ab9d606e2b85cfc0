/* pid1_spawn.c - makes the processes that the crew asks for: what they find in their environment and descriptors. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/take.h"
#include "supervisor/child.h"
#include "supervisor/pid1.h"

extern char **environ;

static void add_common(Pid1 *pid1, Environment *environment, const MemberView *view) {
        environment_add(environment, "ENDWELL_EPOCH", "%u", crew_overview(pid1->crew).epoch);
        if (pid1->has_runtime) {
                environment_add(environment, "ENDWELL_RUNTIME_DIRECTORY", "%s", pid1->runtime.directory);
                environment_add(environment, "ENDWELL_SOCKET", "%s/control.sock", pid1->runtime.directory);
        }
        if (!view)
                return;
        environment_add(environment, "ENDWELL_OWNER", "%s", view->owner);
        environment_add(environment, "ENDWELL_SERVICE", "%s", view->service->name);
        environment_add(environment, "ENDWELL_INSTANCE", "%u", view->number);
        environment_add(environment, "ENDWELL_PHASE", "%s", pid1->config->phases[view->service->phase].name);
}

/* Whoever could not say that he is ready, or that he lives, would only be waited for, and ended. */
static bool must_be_heard(const ServiceConfig *service) {
        return service->type == SERVICE_NOTIFY || service->watchdog_usec != USEC_INFINITY;
}

static int add_notify_socket(Pid1 *pid1, Environment *environment, uint32_t member, const MemberView *view) {
        char name[64];
        crew_name(pid1->crew, member, name, sizeof name);
        int r = !pid1->mailbox ? -ENOTCONN
                               : mailbox_open(pid1->mailbox, member, name,
                                              view->service->rights ? view->service->rights->uid : (uid_t)-1);
        if (r >= 0) {
                environment_add(environment, "NOTIFY_SOCKET", "%s/notify/%s", pid1->runtime.directory, name);
                return 0;
        }
        if (must_be_heard(view->service))
                return r;
        if (pid1->mailbox) /* else it was said once for all */
                log_warning("could not make the notify socket of %s: %s; it starts without one", name,
                            strerrordesc_np(-r));
        return 0;
}

/* The writing ends into the logger, where a service has a LogPattern hook; -1: none. */
typedef struct Watched {
        int fds[2];
} Watched;

static void watched_done(Watched *watched) {
        close_fd(watched->fds[0]);
        close_fd(watched->fds[1]);
}

/* A service must start even when the logger cannot take its output: then that goes where it would have gone anyway, and
 * no mark is heard. */
static void watch_output(Pid1 *pid1, uint32_t member, const MemberView *view, Watched *ret) {
        if (!pid1->logger || !logger_link_watches(pid1->config, (uint16_t)view->service_index))
                return;
        int r = logger_link_open(pid1->logger, member, (uint16_t)view->service_index, view->number, ret->fds);
        if (r < 0)
                log_warning("could not lead the output of %s through the logger: %s; it goes where it may without, and "
                            "no log pattern is heard",
                            view->service->name, strerrordesc_np(-r));
}

/* The output of a service's hook stands among its own, where the logger writes that. */
static void watch_hook(Pid1 *pid1, const HookView *hook, const MemberView *view, Watched *ret) {
        if (!pid1->logger)
                return;
        int r = logger_link_open_hook(pid1->logger, hook->member, (uint16_t)view->service_index, view->number,
                                      hook->hook->name, ret->fds);
        if (r < 0)
                log_warning("could not lead the output of the hook %s through the logger: %s; it goes where endwell's "
                            "own goes",
                            hook->hook->name, strerrordesc_np(-r));
}

/* A service that shall say that it lives must know how often, and that it is meant. */
static void add_watchdog(Environment *environment, const ServiceConfig *service, ChildPlan *plan) {
        if (service->watchdog_usec == USEC_INFINITY)
                return;
        environment_add(environment, "WATCHDOG_USEC", "%" PRIu64, service->watchdog_usec);
        plan->pid_words[1] = environment_add_pid(environment, "WATCHDOG_PID");
}

void outfit_done(Outfit *outfit) {
        free(outfit->envp);
        environment_done(&outfit->own);
        environment_done(&outfit->user);
}

/* The environment and the rights of a process; `outfit->own` has endwell's words already. */
static int dress(const Pid1 *pid1, Outfit *outfit, const Rights *rights, char *const *configured,
                 const Inheritance *inheritance, ChildPlan *plan) {
        if (rights)
                environment_add_user(&outfit->user, rights);
        if (pid1->config->database.word) /* there: whoever says another one himself has that */
                environment_put(&outfit->user, pid1->config->database.word);
        int r = environment_join(&(EnvironmentParts){ .own = &outfit->own,
                                                      .configured = configured,
                                                      .user = &outfit->user,
                                                      .inherited = environ,
                                                      .inheritance = inheritance },
                                 &outfit->envp);
        plan->envp = outfit->envp;
        plan->rights = rights;
        return r;
}

static int dress_as_service(const Pid1 *pid1, Outfit *outfit, const ServiceConfig *service, ChildPlan *plan) {
        plan->directory = service->working_directory;
        return dress(pid1, outfit, service->rights, service->environment, service->inheritance, plan);
}

int pid1_plan_check(Pid1 *pid1, uint32_t member, Outfit *outfit, ChildPlan *ret) {
        MemberView view = crew_view(pid1->crew, member);
        *ret = (ChildPlan){ .output = CHILD_OUTPUT_INHERIT, .error = CHILD_OUTPUT_INHERIT };
        add_common(pid1, &outfit->own, &view);
        if (view.pid > 0)
                environment_add(&outfit->own, "MAINPID", "%d", (int)view.pid);
        return dress_as_service(pid1, outfit, view.service, ret);
}

static ChildOutput output_of(const Output *output, int watched_fd) {
        ChildOutput child = CHILD_OUTPUT_INHERIT;
        child.fd = watched_fd;
        child.null = output->kind == OUTPUT_NULL;
        child.append = output->kind == OUTPUT_APPEND || output->kind == OUTPUT_LOG; /* a log, too, without a logger */
        child.path = output->path;
        return child;
}

/* A fork that fails for want of memory or of processes says EAGAIN or ENOMEM; the pipe by which the child tells what
 * fails needs descriptors. */
static const char *step_of(int r) {
        return r == -EMFILE || r == -ENFILE ? "pipe" : "fork";
}

int pid1_start(Pid1 *pid1, const ChildPlan *plan, const RosterEntry *entry, uint32_t slot, pid_t *ret_pid) {
        pid_t pid;
        int failure_fd;
        int r = child_spawn(plan, &pid, &failure_fd);
        if (r < 0)
                return r;
        launches_watch(pid1->launches, slot, failure_fd);
        RosterEntry known = *entry;
        known.pid = pid;
        r = roster_add(pid1->roster, &known);
        if (r < 0) {
                /* It cannot be recognised when it ends, so it must not run: its group ends here, as an unknown child.
                 */
                (void)child_signal_group(pid, SIGKILL);
                return r;
        }
        *ret_pid = pid;
        return 0;
}

int pid1_spawn(void *self, uint32_t member, pid_t *ret_pid) {
        Pid1 *pid1 = self;
        MemberView view = crew_view(pid1->crew, member);
        _cleanup_(outfit_done) Outfit outfit = { 0 };
        _cleanup_(watched_done) Watched watched = { { -1, -1 } };
        _cleanup_(handover_done) Handover handover = { .ready_fd = -1 };
        ChildPlan plan = { .argv = view.service->argv,
                           .inherit_input = member == pid1->foreground,
                           .inherit_others = pid1->config->single,
                           .session = pid1_session_of(pid1, member, view.attempt) };
        pid1_plan_group(pid1, member, &plan);
        add_common(pid1, &outfit.own, &view);
        add_watchdog(&outfit.own, view.service, &plan);
        int r = add_notify_socket(pid1, &outfit.own, member, &view);
        if (r < 0) {
                crew_on_spawn_failed(pid1->crew, member, "notify socket", -r);
                return r;
        }
        r = pid1_hand_over(pid1, member, &view, &outfit.own, &handover);
        if (r < 0) {
                crew_on_spawn_failed(pid1->crew, member, handover.step, -r);
                return r;
        }
        plan.descriptors = handover.descriptors;
        plan.n_descriptors = handover.n;
        plan.listening = handover.listening;
        plan.pid_words[0] = handover.listen_pid;
        r = dress_as_service(pid1, &outfit, view.service, &plan);
        if (r < 0)
                return r;
        watch_output(pid1, member, &view, &watched);
        plan.output = output_of(service_output(view.service), watched.fds[0]);
        plan.error = output_of(service_error(view.service), watched.fds[1]);
        r = pid1_start(pid1, &plan, &(RosterEntry){ .kind = ROSTER_MAIN, .owner = member }, member, ret_pid);
        if (watched.fds[0] >= 0)
                logger_link_started(pid1->logger, member, r < 0 ? 0 : *ret_pid);
        if (r < 0) {
                crew_on_spawn_failed(pid1->crew, member, step_of(r), -r);
                return r;
        }
        survey_note_session(pid1->survey, member, *ret_pid);
        return 0;
}

static void add_hook_words(Pid1 *pid1, Environment *environment, const HookView *hook) {
        CrewView crew = crew_overview(pid1->crew);
        environment_add(environment, "ENDWELL_HOOK", "%s", hook->hook->name);
        environment_add(environment, "ENDWELL_ATTEMPT", "%u", hook->attempt);
        if (crew.cause)
                environment_add(environment, "ENDWELL_CAUSE", "%s", crew.cause);
        if (hook->hook->phase >= 0)
                environment_add(environment, "ENDWELL_PHASE", "%s", pid1->config->phases[hook->hook->phase].name);
}

static void add_member_words(Pid1 *pid1, Environment *environment, const HookView *hook, const MemberView *view) {
        MemberResult result = crew_result(pid1->crew, hook->member);
        if (view->pid > 0)
                environment_add(environment, "MAINPID", "%d", (int)view->pid);
        if (hook->hook->on != HOOK_POST_STOP)
                return;
        environment_add(environment, "SERVICE_RESULT", "%s", result.service_result);
        if (!result.exit_code)
                return;
        environment_add(environment, "EXIT_CODE", "%s", result.exit_code);
        if (strcmp(result.exit_code, "exited") == 0)
                environment_add(environment, "EXIT_STATUS", "%d", result.exit_status);
        else
                environment_add(environment, "EXIT_STATUS", "%s",
                                sigabbrev_np(result.exit_status) ? sigabbrev_np(result.exit_status) : "UNKNOWN");
}

/* A service's secrets are no more its hook's than its own to have. */
static const Inheritance *inheritance_of(const Pid1 *pid1, const HookConfig *hook) {
        return hook->service < 0 ? NULL : pid1->config->services[hook->service].inheritance;
}

int pid1_spawn_hook(void *self, uint32_t run, pid_t *ret_pid) {
        Pid1 *pid1 = self;
        HookView hook = crew_hook_view(pid1->crew, run);
        if (hook.hook->url) {
                *ret_pid = 0;
                return pid1_ask_hook(pid1, run, hook.hook);
        }
        bool has_member = hook.member != CREW_NOBODY;
        MemberView view = has_member ? crew_view(pid1->crew, hook.member) : (MemberView){ 0 };
        _cleanup_(outfit_done) Outfit outfit = { 0 };
        _cleanup_(watched_done) Watched watched = { { -1, -1 } };
        ChildPlan plan = { .argv = hook.hook->argv,
                           .directory = hook.hook->working_directory,
                           .output = CHILD_OUTPUT_INHERIT,
                           .error = CHILD_OUTPUT_INHERIT,
                           .session = CHILD_OWN_SESSION };
        add_common(pid1, &outfit.own, has_member ? &view : NULL);
        add_hook_words(pid1, &outfit.own, &hook);
        if (has_member)
                add_member_words(pid1, &outfit.own, &hook, &view);
        int r = dress(pid1, &outfit, hook.hook->rights, hook.hook->environment, inheritance_of(pid1, hook.hook), &plan);
        if (r < 0)
                return r;
        if (has_member)
                watch_hook(pid1, &hook, &view, &watched);
        plan.output.fd = watched.fds[0];
        plan.error.fd = watched.fds[1];
        r = pid1_start(pid1, &plan, &(RosterEntry){ .kind = ROSTER_HOOK, .owner = run },
                       (uint32_t)crew_size(pid1->crew) + run, ret_pid);
        if (watched.fds[0] >= 0 || watched.fds[1] >= 0)
                logger_link_started(pid1->logger, hook.member, r < 0 ? 0 : *ret_pid);
        if (r < 0)
                crew_on_hook_spawn_failed(pid1->crew, run, step_of(r), -r);
        else
                pid1->hook_pids[run] = *ret_pid;
        return r;
}
