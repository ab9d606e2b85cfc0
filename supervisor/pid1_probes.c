/* pid1_probes.c - carries out the checks of probes: commands as children of ours, the others by the prober; and hooks
 * by HTTP. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/kin.h"
#include "base/names.h"
#include "base/take.h"
#include "supervisor/child.h"
#include "supervisor/pid1.h"

#define DETAIL_MAX 128
#define TREE_MAX   4096 /* processes below a check that are killed one by one */

extern char **environ;

/* ---- Commands ---- */

struct ProbeChild {
        pid_t pid; /* 0: none runs */
        bool called_off;
        const char *error_step; /* before exec; NULL: none */
        int error;
};

static uint32_t slot_of(const Pid1 *pid1, uint32_t probe_run) {
        return (uint32_t)(crew_size(pid1->crew) + crew_hook_runs(pid1->crew)) + probe_run;
}

static int begin_command(Pid1 *pid1, uint32_t probe_run, const ProbeView *view) {
        _cleanup_(outfit_done) Outfit outfit = { 0 };
        ChildPlan plan;
        pid_t pid;
        int r = pid1_plan_check(pid1, view->member, &outfit, &plan);
        if (r < 0)
                return r;
        plan.argv = view->probe->argv;
        plan.session = CHILD_OWN_SESSION;
        plan.output = plan.error = (ChildOutput){ .fd = -1, .null = true };
        r = pid1_start(pid1, &plan, &(RosterEntry){ .kind = ROSTER_PROBE, .owner = probe_run },
                       slot_of(pid1, probe_run), &pid);
        if (r >= 0)
                pid1->probe_children[probe_run] = (ProbeChild){ .pid = pid };
        return r;
}

void pid1_on_probe_launch(Pid1 *pid1, uint32_t probe_run, const ChildFailure *failure) {
        ProbeChild *child = &pid1->probe_children[probe_run];
        if (!failure)
                return;
        child->error_step = child_failure_to_string(failure);
        child->error = failure->error;
}

static ProbeAnswer judge(const ProbeChild *child, Ended how, char detail[static DETAIL_MAX]) {
        char name[SIGNAL_TEXT_MAX];
        if (child->called_off) {
                snprintf(detail, DETAIL_MAX, "called off");
                return PROBE_UNKNOWN;
        }
        if (child->error_step)
                snprintf(detail, DETAIL_MAX, "could not be run (%s): %s", child->error_step,
                         strerrordesc_np(child->error));
        else if (how.code == CLD_EXITED)
                snprintf(detail, DETAIL_MAX, "exit code %d", how.status);
        else
                snprintf(detail, DETAIL_MAX, "killed by %s", signal_to_string(how.status, name));
        return how.code == CLD_EXITED && how.status == 0 ? PROBE_SUCCEEDED : PROBE_FAILED;
}

static int kill_below(void *userdata, const KinProcess *process) {
        (void)userdata;
        (void)child_signal_stranger(process->pid, process->start_ticks, SIGKILL);
        return 0;
}

/* Also who has left its group, as long as it is below it: first, for afterwards it is not. */
static void kill_check(pid_t pid) {
        (void)kin_descendants(pid, TREE_MAX, kill_below, NULL);
        (void)child_signal_group(pid, SIGKILL); /* gone meanwhile: its end is told next */
}

/* A check leaves nothing behind: what is still in its group is killed. The number of a group cannot come round while
 * somebody is in it; when nobody is, and a child of ours has been given it in this very moment, that one is spared. */
static void clean_up_after(Pid1 *pid1, pid_t group) {
        if (!roster_find(pid1->roster, group))
                (void)child_signal_group(group, SIGKILL);
}

void pid1_on_probe_exited(Pid1 *pid1, pid_t pid, uint32_t probe_run, Ended how) {
        ProbeChild *child = &pid1->probe_children[probe_run];
        char detail[DETAIL_MAX];
        clean_up_after(pid1, pid);
        /* One that was given up may die long after, when the next check is already there. */
        if (child->pid != pid)
                return;
        launches_settle(pid1->launches, slot_of(pid1, probe_run));
        ProbeChild ended = *child;
        *child = (ProbeChild){ 0 };
        ProbeAnswer answer = judge(&ended, how, detail);
        crew_on_probed(pid1->crew, probe_run, answer, detail);
}

/* ---- By the prober ---- */

/* Its numbers: first the probe runs, then the hook runs. */
static uint32_t request_of_hook(const Pid1 *pid1, uint32_t hook_run) {
        return (uint32_t)crew_probe_runs(pid1->crew) + hook_run;
}

static void on_answered(void *userdata, uint32_t request, ProbeAnswer answer, const char *detail) {
        Pid1 *pid1 = userdata;
        uint32_t n_probes = (uint32_t)crew_probe_runs(pid1->crew);
        if (request < n_probes)
                crew_on_probed(pid1->crew, request, answer, detail);
        else
                crew_on_hook_answered(pid1->crew, request - n_probes, answer == PROBE_SUCCEEDED, detail);
        pid1_rearm(pid1);
}

static void on_spawned(void *userdata, pid_t pid) {
        pid1_remember_helper(userdata, HELPER_PROBER, pid);
}

static bool has_probe_by(const Config *config, bool command) {
        for (size_t s = 0; s < config->n_services; s++)
                for (int kind = 0; config->services[s].probes && kind < _PROBE_KIND_MAX; kind++) {
                        ProbeBy by = config->services[s].probes[kind].by;
                        if (by != PROBE_BY_NONE && (by == PROBE_BY_EXEC) == command)
                                return true;
                }
        return false;
}

static bool has_hook_by_http(const Config *config) {
        for (size_t i = 0; i < config->n_hooks; i++)
                if (config->hooks[i].url)
                        return true;
        return false;
}

static int make_prober(Pid1 *pid1) {
        char program[PATH_MAX];
        int r = pid1_find_helper(HELPER_PROBER, program);
        return r < 0 ? r
                     : prober_link_new(&pid1->prober, pid1->event,
                                       &(ProberPlan){ .program = program,
                                                      .environment = environ,
                                                      .log_format = pid1->config->log_format,
                                                      .log_level = pid1->config->log_level,
                                                      .n_requests = (uint32_t)(crew_probe_runs(pid1->crew) +
                                                                               crew_hook_runs(pid1->crew)),
                                                      .answered = on_answered,
                                                      .spawned = on_spawned,
                                                      .say = pid1_on_said,
                                                      .userdata = pid1 });
}

int pid1_make_probes(Pid1 *pid1) {
        if (has_probe_by(pid1->config, true)) {
                pid1->probe_children = calloc(crew_probe_runs(pid1->crew) + 1, sizeof *pid1->probe_children);
                if (!pid1->probe_children)
                        return -ENOMEM;
        }
        return has_probe_by(pid1->config, false) || has_hook_by_http(pid1->config) ? make_prober(pid1) : 0;
}

void pid1_release_prober(Pid1 *pid1) {
        if (pid1->prober && !has_hook_by_http(pid1->config))
                (void)prober_link_finish(pid1->prober); /* collected like any child; awaited at the end, if need be */
}

/* ---- What the crew asks ---- */

int pid1_probe(void *self, uint32_t probe_run) {
        Pid1 *pid1 = self;
        ProbeView view = crew_probe_view(pid1->crew, probe_run);
        if (view.probe->by == PROBE_BY_EXEC)
                return begin_command(pid1, probe_run, &view);
        return prober_link_ask(pid1->prober, probe_run,
                               &(ProberRequest){ .by = view.probe->by,
                                                 .target = view.probe->target,
                                                 .timeout_usec = view.timeout_usec,
                                                 .purpose = PROBER_CHECK });
}

void pid1_call_off_probe(void *self, uint32_t probe_run) {
        Pid1 *pid1 = self;
        ProbeView view = crew_probe_view(pid1->crew, probe_run);
        if (view.probe->by != PROBE_BY_EXEC) {
                prober_link_call_off(pid1->prober, probe_run);
                return;
        }
        ProbeChild *child = &pid1->probe_children[probe_run];
        child->called_off = true;
        if (child->pid > 0)
                kill_check(child->pid);
}

/* Its limit is the crew's, so that a hook that is cut is told as one, whoever would have noticed first. */
int pid1_ask_hook(Pid1 *pid1, uint32_t hook_run, const HookConfig *hook) {
        return prober_link_ask(pid1->prober, request_of_hook(pid1, hook_run),
                               &(ProberRequest){ .by = PROBE_BY_HTTP,
                                                 .method = hook->http_method,
                                                 .target = hook->url,
                                                 .timeout_usec = usec_add(hook->timeout_usec, USEC_PER_SEC),
                                                 .purpose = PROBER_HOOK });
}

void pid1_call_off_hook(Pid1 *pid1, uint32_t hook_run) {
        prober_link_call_off(pid1->prober, request_of_hook(pid1, hook_run));
}
