/* pid1_stage.c - what the crew asks of the world, carried out with real processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/take.h"
#include "shutdown/sentence.h"
#include "shutdown/verdict.h"
#include "supervisor/child.h"
#include "supervisor/environment.h"
#include "supervisor/kin.h"
#include "supervisor/pid1.h"
#include "supervisor/termination.h"
#include "supervisor/upward.h"

extern char **environ;

static usec_t stage_now(void *self) {
        (void)self;
        return clock_now_usec();
}

/* xorshift128+: for jitter and names, not for secrets. */
static uint32_t stage_random(void *self) {
        Pid1 *pid1 = self;
        uint64_t a = pid1->random_state[0], b = pid1->random_state[1];
        pid1->random_state[0] = b;
        a ^= a << 23;
        pid1->random_state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
        return (uint32_t)((pid1->random_state[1] + b) >> 32);
}

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

static void add_notify_socket(Pid1 *pid1, Environment *environment, uint32_t member) {
        char name[64];
        crew_name(pid1->crew, member, name, sizeof name);
        if (!pid1->mailbox)
                return;
        int r = mailbox_open(pid1->mailbox, member, name);
        if (r < 0)
                log_warning("could not make the notify socket of %s: %s; it starts without one", name,
                            strerrordesc_np(-r));
        else
                environment_add(environment, "NOTIFY_SOCKET", "%s/notify/%s", pid1->runtime.directory, name);
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
                log_warning("could not lead the output of %s through the logger: %s; its log patterns are not heard",
                            view->service->name, strerrordesc_np(-r));
}

static ChildOutput output_of(const Output *output, int watched_fd) {
        ChildOutput child = CHILD_OUTPUT_INHERIT;
        child.fd = watched_fd;
        child.null = output->kind == OUTPUT_NULL;
        child.append = output->kind == OUTPUT_APPEND;
        child.path = output->path;
        return child;
}

static int start(Pid1 *pid1, const ChildPlan *plan, const RosterEntry *entry, uint32_t slot, pid_t *ret_pid) {
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

static ChildSession session_of(const Pid1 *pid1) {
        return pid1->config->single && isatty(STDIN_FILENO) ? CHILD_FOREGROUND : CHILD_OWN_SESSION;
}

static int stage_spawn(void *self, uint32_t member, pid_t *ret_pid) {
        Pid1 *pid1 = self;
        MemberView view = crew_view(pid1->crew, member);
        Environment own = { 0 };
        _cleanup_(freep) char **envp = NULL;
        _cleanup_(watched_done) Watched watched = { { -1, -1 } };
        add_common(pid1, &own, &view);
        add_notify_socket(pid1, &own, member);
        int r = environment_join(&own, view.service->environment, environ, &envp);
        if (r < 0)
                return r;
        watch_output(pid1, member, &view, &watched);
        ChildPlan plan = { .argv = view.service->argv,
                           .envp = envp,
                           .directory = view.service->working_directory,
                           .inherit_input = pid1->config->single,
                           .output = output_of(&view.service->standard_output, watched.fds[0]),
                           .error = output_of(&view.service->standard_error, watched.fds[1]),
                           .session = session_of(pid1) };
        r = start(pid1, &plan, &(RosterEntry){ .kind = ROSTER_MAIN, .owner = member }, member, ret_pid);
        if (r < 0)
                return r;
        survey_note_session(pid1->survey, member, *ret_pid);
        if (watched.fds[0] >= 0)
                logger_link_started(pid1->logger, member, *ret_pid);
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

static int stage_spawn_hook(void *self, uint32_t run, pid_t *ret_pid) {
        Pid1 *pid1 = self;
        HookView hook = crew_hook_view(pid1->crew, run);
        bool has_member = hook.member != CREW_NOBODY;
        MemberView view = has_member ? crew_view(pid1->crew, hook.member) : (MemberView){ 0 };
        Environment own = { 0 };
        _cleanup_(freep) char **envp = NULL;
        add_common(pid1, &own, has_member ? &view : NULL);
        add_hook_words(pid1, &own, &hook);
        if (has_member)
                add_member_words(pid1, &own, &hook, &view);
        int r = environment_join(&own, hook.hook->environment, environ, &envp);
        if (r < 0)
                return r;
        ChildPlan plan = { .argv = hook.hook->argv,
                           .envp = envp,
                           .directory = hook.hook->working_directory,
                           .output = CHILD_OUTPUT_INHERIT,
                           .error = CHILD_OUTPUT_INHERIT,
                           .session = CHILD_OWN_SESSION };
        r = start(pid1, &plan, &(RosterEntry){ .kind = ROSTER_HOOK, .owner = run },
                  (uint32_t)crew_size(pid1->crew) + run, ret_pid);
        if (r >= 0)
                pid1->hook_pids[run] = *ret_pid;
        return r;
}

/* Single-command mode asks with the signal that arrived, and with -g the whole group. */
static void ask_command(Pid1 *pid1, uint32_t member, int signal_number, const char *reason) {
        pid_t pid = crew_view(pid1->crew, member).pid;
        int number = pid1->ending_signal > 0 ? pid1->ending_signal : signal_number;
        if (pid <= 0)
                return;
        if (!pid1->passed_on &&
            (pid1->config->ask_group ? child_signal_group(pid, number) : child_signal(pid, number)) < 0)
                return; /* it ended in this very moment */
        pid1->passed_on = false;
        (void)child_signal(pid, SIGCONT);
        crew_told(pid1->crew, member, pid, NULL, number, reason);
}

static void stage_signal(void *self, uint32_t member, Whom whom, int signal_number, const char *reason) {
        Pid1 *pid1 = self;
        if (pid1->config->single && whom == WHOM_MAIN && signal_number != SIGKILL)
                ask_command(pid1, member, signal_number, reason);
        else
                survey_signal(pid1->survey, member, whom, signal_number, reason);
}

static void stage_signal_hook(void *self, uint32_t run, int signal_number) {
        Pid1 *pid1 = self;
        pid_t pid = pid1->hook_pids[run];
        if (pid > 0)
                (void)child_signal_group(pid, signal_number); /* gone meanwhile: its end is told next */
}

static void stage_survey(void *self) {
        pid1_survey(self);
}

/* A drop-in for tini says nothing while all is well, and one line when the command could not run, had to be killed, or
 * a fault is ours. The command's own code needs no explanation. */
static LogLevel level_for_command(const Event *event) {
        LogLevel level = sentence_level(event);
        switch ((int)event->kind) {
        case EVENT_SERVICE_EXITED: return event->error ? LOG_LEVEL_ERR : LOG_LEVEL_INFO;
        case EVENT_SERVICE_GAVE_UP:
        case EVENT_ENDING_FINISHED: return LOG_LEVEL_INFO;
        default: break;
        }
        return level == LOG_LEVEL_NOTICE ? LOG_LEVEL_INFO : level;
}

void pid1_record(Pid1 *pid1, Event *event) {
        char line[EVENT_LINE_MAX], sentence[SENTENCE_MAX];
        event->seq = ++pid1->seq;
        event->mono_usec = clock_now_usec();
        event->wall_usec = clock_wall_usec();
        size_t length = event_write(event, line, sizeof line);
        archive_append(pid1->archive, event->seq, line, length);
        LogLevel level = pid1->config->single ? level_for_command(event) : sentence_level(event);
        if (log_wants(level))
                log_line(level, "%s", sentence_write(event, sentence));
        upward_tell(event);
        (void)sd_event_source_set_enabled(pid1->pump, SD_EVENT_ONESHOT);
}

static void stage_record(void *self, const Event *event) {
        Event filled = *event;
        if (filled.kind == EVENT_SUPERVISOR_STARTED)
                filled.pid = getpid();
        if (filled.kind == EVENT_ENDING_FINISHED)
                pid1_say_lost_lines(self);
        pid1_record(self, &filled);
}

static bool stage_withdraw(void *self) {
        Pid1 *pid1 = self;
        return pid1->control && control_has_gateway(pid1->control);
}

/* The last line is written; the logger has what is left of the deadline to write it down. */
static void stage_finish(void *self, int code, const char *explanation) {
        Pid1 *pid1 = self;
        pid1->finished = true;
        pid1->code = code;
        int r = termination_write(pid1->config->termination_message_path, code, explanation);
        if (r < 0)
                log_warning("could not write the termination message: %s", strerrordesc_np(-r));
        if (!pid1_await_logger(pid1))
                (void)sd_event_exit(pid1->event, code);
}

const Stage pid1_stage = {
        .now = stage_now,
        .random = stage_random,
        .spawn = stage_spawn,
        .spawn_hook = stage_spawn_hook,
        .signal = stage_signal,
        .signal_hook = stage_signal_hook,
        .survey = stage_survey,
        .record = stage_record,
        .withdraw = stage_withdraw,
        .finish = stage_finish,
};
