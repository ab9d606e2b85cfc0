/* pid1.c - birth, the loop and the end of the first process; see pid1.h. */
#include "supervisor/pid1.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/child.h"
#include "supervisor/priority.h"
#include "supervisor/shed.h"
#include "supervisor/upward.h"

#define LOSSES_USEC   (1 * USEC_PER_SEC)
#define LATE_USEC     (100 * USEC_PER_MSEC)
#define CATCH_UP_USEC (20 * USEC_PER_MSEC)

/* We were stopped, or had no processor: while we slept limits went by, but those whom they were for may have ended in
 * time. Their deaths are waiting to be heard, and come first, once. */
static bool must_catch_up(Pid1 *pid1, usec_t due_usec) {
        usec_t now = clock_now_usec();
        pid1->put_off = !pid1->put_off && now > usec_add(due_usec, LATE_USEC);
        if (pid1->put_off)
                pid1->not_before_usec = usec_add(now, CATCH_UP_USEC);
        return pid1->put_off;
}

/* Whoever is dead at the deadline and was not heard yet is not given up as if he lived: with thousands of deaths that
 * takes more than one turn of the loop. */
static void hear_the_last(Pid1 *pid1) {
        if (!crew_is_ending(pid1->crew) || clock_now_usec() < crew_overview(pid1->crew).deadline_usec)
                return;
        roster_collect_all(pid1->roster);
        survey_look(pid1->survey);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Pid1 *pid1 = userdata;
        (void)source;
        if (!must_catch_up(pid1, usec)) {
                hear_the_last(pid1);
                crew_on_time(pid1->crew);
        }
        pid1_rearm(pid1);
        return 0;
}

void pid1_hear_the_dead(Pid1 *pid1) {
        if (!crew_is_ending(pid1->crew))
                roster_collect_all(pid1->roster);
}

void pid1_rearm(Pid1 *pid1) {
        usec_t next = usec_add(crew_next_usec(pid1->crew), pid1->away_usec);
        if (next == USEC_INFINITY) {
                (void)sd_event_source_set_enabled(pid1->timer, SD_EVENT_OFF);
                return;
        }
        if (sd_event_source_set_time(pid1->timer, usec_max(next, pid1->not_before_usec)) < 0 ||
            sd_event_source_set_enabled(pid1->timer, SD_EVENT_ONESHOT) < 0)
                crew_on_own_fault(pid1->crew, "could not set the timer", ENOMEM);
}

void pid1_say_lost_lines(Pid1 *pid1) {
        uint64_t lost = log_dropped() - pid1->lost_lines;
        if (lost == 0)
                return;
        pid1->lost_told_usec = clock_now_usec();
        pid1_record(pid1, &(Event){ .kind = EVENT_LOG_DROPPED, .epoch = crew_overview(pid1->crew).epoch, .n = lost });
        pid1->lost_lines = log_dropped();
}

/* At most once a second, and before the last event: with a stderr that nobody reads each event loses a line, and one
 * about that would lose the next. */
static void say_losses(Pid1 *pid1) {
        if (!pid1->finished && clock_now_usec() >= usec_add(pid1->lost_told_usec, LOSSES_USEC))
                pid1_say_lost_lines(pid1);
        int error = archive_file_error(pid1->archive);
        if (error != 0 && error != pid1->archive_error)
                log_warning("could not write the journal's file: %s; the last events stay in memory",
                            strerrordesc_np(error));
        pid1->archive_error = error;
}

void pid1_flush(Pid1 *pid1) {
        archive_flush(pid1->archive);
        say_losses(pid1);
        if (pid1->control)
                control_pump(pid1->control);
        if (pid1->logger)
                logger_link_pump(pid1->logger);
}

static int on_pump(sd_event_source *source, void *userdata) {
        (void)source;
        pid1_flush(userdata);
        return 0;
}

static void on_client_dropped(void *userdata, pid_t peer, const char *reason) {
        Pid1 *pid1 = userdata;
        char name[16];
        snprintf(name, sizeof name, "%d", (int)peer);
        pid1_record(pid1, &(Event){ .kind = EVENT_CLIENT_DROPPED,
                                    .epoch = crew_overview(pid1->crew).epoch,
                                    .peer = name,
                                    .reason = reason });
}

static int make_sources(Pid1 *pid1) {
        int r = sd_event_add_time(pid1->event, &pid1->timer, CLOCK_MONOTONIC, 0, 1, on_timer, pid1);
        if (r >= 0)
                r = sd_event_source_set_enabled(pid1->timer, SD_EVENT_OFF);
        /* The ending's instants are as urgent as the signal that began it. */
        if (r >= 0)
                r = sd_event_source_set_priority(pid1->timer, PRIORITY_CHILD - 1);
        if (r >= 0)
                r = sd_event_source_set_exit_on_failure(pid1->timer, true);
        if (r >= 0)
                r = sd_event_add_defer(pid1->event, &pid1->pump, on_pump, pid1);
        if (r >= 0)
                r = sd_event_source_set_enabled(pid1->pump, SD_EVENT_OFF);
        /* After the signals and deaths that are there already: their events go out in one piece. */
        return r < 0 ? r : sd_event_source_set_priority(pid1->pump, PRIORITY_ORDINARY - 2);
}

static int make_mailbox(Pid1 *pid1) {
        char directory[128];
        snprintf(directory, sizeof directory, "%s/notify", pid1->runtime.directory);
        if (mkdir(directory, 0711) < 0 && errno != EEXIST)
                return -errno;
        if (chmod(directory, 0711) < 0) /* whatever the umask left of it: services of other uids must come through */
                return -errno;
        return mailbox_new(&pid1->mailbox, pid1->event, directory, (uint32_t)crew_size(pid1->crew), pid1_on_message,
                           pid1);
}

static int make_control(Pid1 *pid1) {
        char path[128];
        snprintf(path, sizeof path, "%s/control.sock", pid1->runtime.directory);
        return control_new(&pid1->control, pid1->event,
                           &(ControlPlan){ .path = path,
                                           .group = pid1->config->control_group,
                                           .methods = pid1_methods,
                                           .userdata = pid1,
                                           .archive = pid1->archive,
                                           .dropped = on_client_dropped });
}

/* What an earlier run was cut off with is told once this one has begun; a journal that cannot be read costs only that.
 */
static void read_past(Pid1 *pid1, const char *file) {
        int r = past_read(file, &pid1->past);
        if (r < 0)
                log_warning(
                        "could not read the journal of an earlier run in %s: %s; jobs of its services wait for their "
                        "leases",
                        file, strerrordesc_np(-r));
}

static int make_archive(Pid1 *pid1) {
        const char *configured = pid1->config->journal_file;
        if ((configured || pid1->has_runtime) &&
            asprintf(&pid1->journal_path, "%s%s", configured ? configured : pid1->runtime.directory,
                     configured ? "" : "/journal.jsonl") < 0) {
                pid1->journal_path = NULL; /* else undefined */
                return -ENOMEM;
        }
        const char *file = pid1->journal_path;
        if (file && !pid1->config->single)
                read_past(pid1, file);
        return archive_new(&pid1->archive, &(ArchivePlan){ .path = file,
                                                           .max_size = pid1->config->journal_max_size,
                                                           .through_logger = file && !archive_is_on_tmpfs(file) });
}

/* The sockets are worth a warning in single-command mode, and worth the run in the configuration's. */
static int make_sockets(Pid1 *pid1) {
        if (!pid1->has_runtime)
                return 0;
        int r = make_mailbox(pid1);
        if (r >= 0)
                r = make_control(pid1);
        if (r >= 0 || !pid1->config->single)
                return r;
        log_warning("could not make the sockets in %s: %s; going on without them", pid1->runtime.directory,
                    strerrordesc_np(-r));
        return 0;
}

static int make_parts(Pid1 *pid1) {
        size_t n_runs;
        int r = sd_event_default(&pid1->event);
        if (r >= 0)
                r = crew_new(&pid1->crew, pid1->config, &pid1_stage, pid1, pid1->pid_one);
        if (r < 0)
                return r;
        n_runs = crew_hook_runs(pid1->crew);
        pid1->hook_pids = calloc(n_runs + 1, sizeof *pid1->hook_pids);
        if (!pid1->hook_pids)
                return -ENOMEM;
        uint32_t n_members = (uint32_t)crew_size(pid1->crew);
        r = make_sources(pid1);
        if (r >= 0)
                r = pid1_make_herald(pid1);
        if (r >= 0)
                r = roster_new(&pid1->roster, pid1->event, pid1_on_collected, pid1);
        if (r >= 0)
                r = survey_new(&pid1->survey, pid1->event, pid1->roster, n_members, pid1_on_surveyed, pid1);
        if (r >= 0)
                r = launches_new(&pid1->launches, pid1->event,
                                 n_members + (uint32_t)(n_runs + crew_probe_runs(pid1->crew)), pid1_on_launch, pid1);
        if (r >= 0)
                r = make_archive(pid1);
        if (r < 0)
                return r;
        survey_set_crew(pid1->survey, pid1->crew);
        pid1_make_groups(pid1);
        pid1_find_foreground(pid1);
        r = make_sockets(pid1);
        if (r >= 0)
                r = pid1_make_holders(pid1);
        if (r >= 0)
                r = pid1_make_logger(pid1);
        if (r >= 0)
                r = pid1_make_probes(pid1);
        if (r >= 0)
                r = pid1_make_gateway(pid1);
        return r < 0 ? r : signals_new(&pid1->signals, pid1->event, pid1_on_signal, pid1);
}

/* The last child's end to our exit is time in which an orchestrator waits: what the kernel takes back anyway is not
 * given back by hand, and the libraries do not tidy up. Sockets that others may find are removed first. A build that
 * looks for leaks frees everything. */
static void leave(Pid1 *pid1, int code) {
#ifndef __SANITIZE_ADDRESS__
        if (pid1->finished) {
                control_leave(pid1->control);
                control_groups_free(pid1->groups);
                fflush(NULL);
                _exit(code);
        }
#endif
        (void)pid1, (void)code;
}

static Pid1 *pid1_free(Pid1 *pid1) {
        signals_free(pid1->signals);
        control_free(pid1->control);
        mailbox_free(pid1->mailbox);
        pid1_free_holders(pid1);
        logger_link_free(pid1->logger);
        prober_link_free(pid1->prober);
        gateway_link_free(pid1->gateway);
        launches_free(pid1->launches);
        survey_free(pid1->survey);
        control_groups_free(pid1->groups);
        oom_close(&pid1->oom);
        roster_free(pid1->roster);
        crew_free(pid1->crew);
        archive_free(pid1->archive);
        sd_event_source_unref(pid1->timer);
        sd_event_source_unref(pid1->pump);
        sd_event_source_unref(pid1->waiter);
        sd_event_source_unref(pid1->settler);
        sd_event_source_unref(pid1->herald);
        sd_event_unref(pid1->event);
        free(pid1->hook_pids);
        free(pid1->probe_children);
        free(pid1->journal_path);
        past_done(&pid1->past);
        if (pid1->has_runtime)
                runtime_close(&pid1->runtime);
        return NULL;
}

/* 0; or the exit code with which to give up. Single-command mode runs without a runtime directory. */
static int open_runtime(Pid1 *pid1) {
        pid_t holder = 0;
        int r = runtime_open(pid1->config->runtime_directory, &pid1->runtime, &holder);
        pid1->has_runtime = r >= 0;
        if (r >= 0)
                return 0;
        if (pid1->config->single) {
                log_info("no runtime directory: %s; going on without socket and journal", strerrordesc_np(-r));
                return 0;
        }
        if (r == -EBUSY)
                log_err("could not lock %s: another endwell, pid %d, runs in it; nothing was started",
                        pid1->runtime.directory, (int)holder);
        else
                log_err("could not use a runtime directory (%s): %s; nothing was started",
                        pid1->config->runtime_directory ? pid1->config->runtime_directory
                                                        : "/run/endwell and the other defaults",
                        strerrordesc_np(-r));
        return EXIT_CONFIGURATION;
}

static void seed(Pid1 *pid1) {
        if (getrandom(pid1->random_state, sizeof pid1->random_state, GRND_NONBLOCK) == sizeof pid1->random_state)
                return;
        /* Before the kernel's pool is ready, time and pid make names that do not collide here. */
        pid1->random_state[0] = clock_wall_usec() ^ ((uint64_t)getpid() << 40);
        pid1->random_state[1] = clock_now_usec() * UINT64_C(0x9E3779B97F4A7C15) | 1;
}

static void become_first(Pid1 *pid1) {
        pid1->pid_one = getpid() == 1;
        if ((!pid1->pid_one || pid1->options->subreaper) && prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) < 0)
                log_warning("could not become a subreaper: %m; orphans will not be seen");
        if (pid1->options->parent_death_signal > 0 &&
            prctl(PR_SET_PDEATHSIG, (unsigned long)pid1->options->parent_death_signal, 0L, 0L, 0L) < 0)
                log_warning("could not ask for a signal at the parent's death: %m");
        child_setup_limits();
        seed(pid1);
}

int pid1_run(Config *config, const RunOptions *options) {
        Pid1 pid1 = { .config = config, .options = options, .oom = OOM_NONE, .code = EXIT_OWN_FAULT };
        become_first(&pid1);
        int code = open_runtime(&pid1);
        if (code != 0)
                return code;
        upward_open(config->single && !pid1.has_runtime, clock_now_usec());
        int r = make_parts(&pid1);
        if (r < 0) {
                log_err("could not make what the supervisor needs: %s; nothing was started", strerrordesc_np(-r));
                pid1_free(&pid1);
                return EXIT_OWN_FAULT;
        }
        if (survey_is_blind(pid1.survey)) {
                crew_set_blind(pid1.crew);
                log_warning("/proc does not show this PID namespace: descendants that leave their group are not seen, "
                            "waited for or named; mount it to change that");
        }
        shed_start();
        crew_start(pid1.crew);
        oom_open(&pid1.oom); /* now, as nobody waits for it, and before anything can have run out of memory */
        shed_stack();
        pid1_tell_past(&pid1);
        pid1_rearm(&pid1);
        r = sd_event_loop(pid1.event);
        if (r < 0 && !pid1.finished)
                log_err("the event loop failed: %s; PID 1 cannot go on", strerrordesc_np(-r));
        code = pid1.finished ? pid1.code : EXIT_OWN_FAULT;
        pid1_leave_terminal(&pid1);
        pid1_flush(&pid1);
        leave(&pid1, code);
        pid1_free(&pid1);
        return code;
}
