/* pid1_told.c - what children tell by their error pipes, their ends and their messages, translated for the crew. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kin.h"
#include "base/log.h"
#include "base/take.h"
#include "supervisor/child.h"
#include "supervisor/pid1.h"
#include "supervisor/priority.h"

static const char *step_of(Pid1 *pid1, uint32_t member, const ChildFailure *failure) {
        return failure->step == CHILD_STEP_LISTEN ? pid1_on_listen_failed(pid1, member, failure->which)
                                                  : child_failure_to_string(failure);
}

void pid1_on_launch(void *userdata, uint32_t slot, const ChildFailure *failure) {
        Pid1 *pid1 = userdata;
        uint32_t n = (uint32_t)crew_size(pid1->crew), n_runs = (uint32_t)crew_hook_runs(pid1->crew);
        if (failure && failure->step == CHILD_STEP_CONTROL_GROUP)
                pid1_doubt_group(pid1, slot, failure->error);
        else if (slot < n && failure)
                crew_on_spawn_failed(pid1->crew, slot, step_of(pid1, slot, failure), failure->error);
        else if (slot < n)
                crew_on_executed(pid1->crew, slot);
        else if (slot >= n + n_runs)
                pid1_on_probe_launch(pid1, slot - n - n_runs, failure);
        else if (failure)
                crew_on_hook_spawn_failed(pid1->crew, slot - n, child_failure_to_string(failure), failure->error);
        pid1_rearm(pid1);
}

void pid1_on_surveyed(void *userdata) {
        Pid1 *pid1 = userdata;
        crew_on_surveyed(pid1->crew);
        if (pid1->groups)
                control_groups_tidy(pid1->groups);
        pid1_rearm(pid1);
}

/* The last one in a group, perhaps. */
static void on_unknown_collected(Pid1 *pid1, pid_t pid) {
        if (pid1->config->say_orphans)
                log_notice("collected orphan %d", (int)pid);
        else
                log_debug("collected an unknown child, pid %d", (int)pid);
        if (survey_is_blind(pid1->survey))
                survey_ask(pid1->survey);
        if (pid1->groups)
                control_groups_tidy(pid1->groups);
}

static void on_main_collected(Pid1 *pid1, pid_t pid, uint32_t member, Ended how) {
        launches_settle(pid1->launches, member);
        if (pid1->mailbox)
                mailbox_drain(pid1->mailbox, member); /* what it said before it ended counts */
        pid1_look_for_ready(pid1, member);
        pid_t main_pid = crew_view(pid1->crew, member).pid;
        if (main_pid != pid && main_pid > 0)
                return; /* it had handed over by MAINPID= */
        pid1_note_end(pid1, member, &how);
        pid1_on_foreground_ended(pid1, member, pid, how);
        crew_on_exited(pid1->crew, member, how);
}

void pid1_on_collected(void *userdata, pid_t pid, const RosterEntry *entry, const char *comm, Ended how) {
        Pid1 *pid1 = userdata;
        if (!entry) {
                on_unknown_collected(pid1, pid);
                return;
        }
        switch (entry->kind) {
        case ROSTER_MAIN: on_main_collected(pid1, pid, entry->owner, how); break;
        case ROSTER_HOOK:
                /* One that was given up may die long after, when the next run of the same hook is already there. */
                if (pid1->hook_pids[entry->owner] != pid)
                        break;
                launches_settle(pid1->launches, (uint32_t)crew_size(pid1->crew) + entry->owner);
                pid1->hook_pids[entry->owner] = 0;
                crew_on_hook_exited(pid1->crew, entry->owner, how);
                break;
        case ROSTER_ORPHAN:
                if (pid1->config->say_orphans)
                        log_notice("collected orphan %d (%s)", (int)pid, comm);
                crew_on_orphan_gone(pid1->crew, entry->owner, pid, comm, how);
                if (pid1->groups)
                        control_groups_tidy(pid1->groups);
                break;
        case ROSTER_PROBE: pid1_on_probe_exited(pid1, pid, entry->owner, how); break;
        case ROSTER_HELPER: pid1_on_helper_exited(pid1, entry->owner, how); break;
        }
        pid1_rearm(pid1);
}

/* A main process named by MAINPID= need not be our child yet, and then its end is not told by SIGCHLD but by its pidfd.
 */
typedef struct Stranger {
        Pid1 *pid1;
        uint32_t member;
        pid_t pid;
        int fd;
        sd_event_source *source;
} Stranger;

/* Its own parent collected it: nobody knows the code. What was the main process once is awaited as an orphan by now. */
static void tell_of_unknown_end(Pid1 *pid1, uint32_t member, pid_t pid) {
        const Ended unknown = { .code = CLD_EXITED };
        const RosterEntry *known = roster_find(pid1->roster, pid);
        if (!known)
                return;
        RosterEntry entry = *known;
        char comm[ROSTER_COMM_MAX];
        strcpy(comm, roster_comm(pid1->roster, known)); /* it goes with its entry */
        roster_remove(pid1->roster, pid);
        if (entry.kind == ROSTER_ORPHAN)
                crew_on_orphan_gone(pid1->crew, entry.owner, pid, comm, unknown);
        else if (crew_view(pid1->crew, member).pid == pid) {
                if (pid1->mailbox)
                        mailbox_drain(pid1->mailbox, member);
                pid1_look_for_ready(pid1, member);
                crew_on_exited(pid1->crew, member, unknown);
        }
}

static int on_stranger_gone(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Stranger *stranger = userdata;
        Pid1 *pid1 = stranger->pid1;
        uint32_t member = stranger->member;
        pid_t pid = stranger->pid;
        (void)fd, (void)revents;
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
        sd_event_source_unref(source);     /* frees the stranger, see on_stranger_freed() */
        roster_collect(pid1->roster, pid); /* ours by now: its end is told with its code */
        tell_of_unknown_end(pid1, member, pid);
        pid1_rearm(pid1);
        return 0;
}

static void on_stranger_freed(void *userdata) {
        Stranger *stranger = userdata;
        close_fd(stranger->fd);
        free(stranger);
}

/* 0 or -errno: then its end is noticed only if it becomes our child. */
static int watch_stranger(Pid1 *pid1, uint32_t member, pid_t pid) {
        Stranger *stranger = calloc(1, sizeof *stranger);
        if (!stranger)
                return -ENOMEM;
        *stranger = (Stranger){ .pid1 = pid1, .member = member, .pid = pid };
        stranger->fd = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
        int r = stranger->fd < 0 ? -errno
                                 : sd_event_add_io(pid1->event, &stranger->source, stranger->fd, EPOLLIN,
                                                   on_stranger_gone, stranger);
        if (r < 0) {
                on_stranger_freed(stranger);
                return r;
        }
        (void)sd_event_source_set_priority(stranger->source, PRIORITY_CHILD + 1);
        return sd_event_source_set_destroy_callback(stranger->source, on_stranger_freed);
}

static bool is_inside(Pid1 *pid1, uint32_t member, pid_t pid) {
        return survey_owner_of(pid1->survey, pid) == member;
}

static void refuse(Pid1 *pid1, uint32_t member, pid_t sender, const char *reason) {
        MemberView view = crew_view(pid1->crew, member);
        pid1_record(pid1, &(Event){ .kind = EVENT_NOTIFY_REFUSED,
                                    .epoch = crew_overview(pid1->crew).epoch,
                                    .service = view.service->name,
                                    .instance = view.number,
                                    .instances = view.service->instances,
                                    .pid = sender,
                                    .reason = reason });
}

/* The former main process is one of the tree from now on. */
static void demote(Pid1 *pid1, uint32_t member, pid_t pid) {
        RosterEntry *entry = roster_find(pid1->roster, pid);
        KinProcess process = { 0 };
        if (!entry || entry->kind != ROSTER_MAIN)
                return;
        entry->kind = ROSTER_ORPHAN;
        if (kin_read(pid, &process) == 0)
                roster_set_comm(pid1->roster, pid, process.comm);
        crew_on_orphan_adopted(pid1->crew, member, pid, process.comm);
}

static void take_main_pid(Pid1 *pid1, uint32_t member, pid_t sender, pid_t pid) {
        pid_t before = crew_view(pid1->crew, member).pid;
        if (pid == before || before <= 0)
                return;
        if (!is_inside(pid1, member, pid)) {
                refuse(pid1, member, sender, "MAINPID is not inside the service");
                return;
        }
        RosterEntry *entry = roster_find(pid1->roster, pid);
        bool was_orphan = entry && entry->kind == ROSTER_ORPHAN;
        if (entry && !was_orphan) { /* its owner is not a member's number, and its end is told to somebody else */
                refuse(pid1, member, sender, "MAINPID is a hook");
                return;
        }
        int r = 0;
        if (was_orphan)
                entry->kind = ROSTER_MAIN;
        else
                r = roster_add(pid1->roster, &(RosterEntry){ .pid = pid, .kind = ROSTER_MAIN, .owner = member });
        if (r >= 0 && !was_orphan)
                r = watch_stranger(pid1, member, pid);
        if (r < 0) {
                if (!was_orphan)
                        roster_remove(pid1->roster, pid); /* its number may come round, as a child of ours */
                refuse(pid1, member, sender, "MAINPID cannot be watched");
                return;
        }
        demote(pid1, member, before);
        crew_on_main_pid(pid1->crew, member, pid, was_orphan);
}

/* Only who is alive and provably elsewhere is refused: a sender that is gone already cannot be judged, and the socket
 * it knew speaks for it. */
static bool is_foreign(Pid1 *pid1, uint32_t member, pid_t sender) {
        KinProcess process;
        if (survey_is_blind(pid1->survey) || sender <= 0 || sender == getpid() || is_inside(pid1, member, sender))
                return false;
        return kin_read(sender, &process) == 0 && kin_is_living(&process);
}

void pid1_on_message(void *userdata, uint32_t slot, const MailboxMessage *message) {
        Pid1 *pid1 = userdata;
        const NotifyWords *words = message->words;
        pid_t sender = message->sender; /* its uid was judged by the socket's mode */
        if (is_foreign(pid1, slot, sender)) {
                refuse(pid1, slot, sender, "the sender is not inside the service");
                return;
        }
        /* Messages are more urgent than pipes, but who speaks has been started: that is told before what it says. */
        launches_look(pid1->launches, slot);
        if (words->main_pid > 0)
                take_main_pid(pid1, slot, sender, words->main_pid);
        pid1_store(pid1, slot, message);
        crew_on_notify(pid1->crew, slot, sender, words);
        pid1_rearm(pid1);
}

/* Of a subreaper's run something may live on: that is its owner still, and nobody's jobs are given away under it. */
static bool may_live(const Pid1 *pid1, const PastRun *run) {
        char owner[37];
        return !pid1->past.pid_namespace && kin_owner(run->pid, owner) == 0 && strcmp(owner, run->owner) == 0;
}

void pid1_tell_past(Pid1 *pid1) {
        for (size_t i = 0; i < pid1->past.n_runs; i++) {
                const PastRun *run = &pid1->past.runs[i];
                if (!may_live(pid1, run))
                        pid1_record(pid1, &(Event){ .kind = EVENT_SERVICE_GONE,
                                                    .epoch = crew_overview(pid1->crew).epoch,
                                                    .service = run->service,
                                                    .instance = run->instance,
                                                    .owner = run->owner,
                                                    .cause = "crashed",
                                                    .certain = pid1->past.pid_namespace });
        }
        past_done(&pid1->past);
}
