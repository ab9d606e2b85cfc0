/* pid1_logger.c - the logger among the first process's parts: made when something needs it, waited for where it
 * matters. */
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "supervisor/libexec.h"
#include "supervisor/pid1.h"

#define LOGGER_END_USEC (1 * USEC_PER_SEC)    /* at least, where the deadline allows it, for the last lines on a disk */
#define SETTLE_USEC     (250 * USEC_PER_MSEC) /* a stuck target must not hold up the news of a death any longer */

extern char **environ;

static void on_spawned(void *userdata, pid_t pid) {
        Pid1 *pid1 = userdata;
        int r = roster_add(pid1->roster, &(RosterEntry){ .pid = pid, .kind = ROSTER_HELPER, .owner = HELPER_LOGGER });
        if (r < 0)
                log_warning("could not remember the logger, pid %d: %s; its end will not be noticed", (int)pid,
                            strerrordesc_np(-r));
}

static void on_marked(void *userdata, uint32_t member, const char *hook, pid_t pid) {
        Pid1 *pid1 = userdata;
        crew_on_mark(pid1->crew, member, hook, NOTIFY_EDGE_BEGIN, pid, 0);
        pid1_rearm(pid1);
}

static void stop_settling(Pid1 *pid1) {
        pid1->settler = sd_event_source_unref(pid1->settler);
        survey_ask(pid1->survey);
}

static void on_settled(void *userdata) {
        Pid1 *pid1 = userdata;
        if (pid1->settler)
                stop_settling(pid1);
}

static int on_unsettled(sd_event_source *source, uint64_t usec, void *userdata) {
        (void)source, (void)usec;
        stop_settling(userdata);
        return 0;
}

/* The last words of a dead service are read before its death is judged, so that a hook that it ran last is in the
 * journal before the end. */
void pid1_survey(Pid1 *pid1) {
        if (pid1->settler)
                return;
        if (pid1->logger && logger_link_settle(pid1->logger) &&
            sd_event_add_time(pid1->event, &pid1->settler, CLOCK_MONOTONIC, usec_add(clock_now_usec(), SETTLE_USEC), 1,
                              on_unsettled, pid1) >= 0)
                return;
        survey_ask(pid1->survey);
}

static void on_said(void *userdata, LogLevel level, const char *sentence) {
        (void)userdata;
        log_line(level, "%s", sentence);
}

static bool is_needed(const Pid1 *pid1, bool journal) {
        for (size_t s = 0; s < pid1->config->n_services; s++)
                if (logger_link_watches(pid1->config, (uint16_t)s))
                        return true;
        return journal;
}

int pid1_make_logger(Pid1 *pid1) {
        const char *file = pid1->journal_path;
        /* A single command gets no second process beside it for the sake of a journal that nobody asked for. */
        bool journal = file && !pid1->config->single && !archive_is_on_tmpfs(file);
        char program[PATH_MAX];
        if (!is_needed(pid1, journal))
                return 0;
        int r = libexec_find("logger", program);
        if (r < 0) {
                log_err("could not find endwell-logger: %s; nothing was started", strerrordesc_np(-r));
                return r;
        }
        return logger_link_new(&pid1->logger, pid1->event,
                               &(LoggerPlan){ .program = program,
                                              .environment = environ,
                                              .config = pid1->config,
                                              .archive = pid1->archive,
                                              .journal_path = journal ? file : NULL,
                                              .journal_max_size = pid1->config->journal_max_size,
                                              .spawned = on_spawned,
                                              .marked = on_marked,
                                              .settled = on_settled,
                                              .say = on_said,
                                              .userdata = pid1 });
}

/* ---- The end of the helpers ---- */

static bool a_helper_lives(const Pid1 *pid1) {
        return (pid1->logger && logger_link_pid(pid1->logger) != 0) ||
               (pid1->prober && prober_link_pid(pid1->prober) != 0);
}

void pid1_on_helper_exited(Pid1 *pid1, uint32_t helper, Ended how) {
        if (helper == HELPER_LOGGER)
                logger_link_on_exited(pid1->logger, how);
        else
                prober_link_on_exited(pid1->prober, how);
        if (pid1->finished && !a_helper_lives(pid1))
                (void)sd_event_exit(pid1->event, pid1->code);
}

static int on_overdue(sd_event_source *source, uint64_t usec, void *userdata) {
        Pid1 *pid1 = userdata;
        bool logger = pid1->logger && logger_link_pid(pid1->logger) != 0;
        (void)source, (void)usec;
        log_warning("the %s did not end in time; going without it", logger ? "logger" : "prober");
        (void)sd_event_exit(pid1->event, pid1->code);
        return 0;
}

/* The logger still writes the last lines down; the prober is only to be collected. */
bool pid1_await_helpers(Pid1 *pid1) {
        bool logger = pid1->logger && logger_link_finish(pid1->logger);
        bool prober = pid1->prober && prober_link_finish(pid1->prober);
        if (!logger && !prober)
                return false;
        usec_t patience = usec_max(pid1->config->budget.reserve_usec, LOGGER_END_USEC);
        usec_t deadline = usec_add(crew_overview(pid1->crew).deadline_usec, pid1->away_usec);
        usec_t limit = usec_min(deadline, usec_add(clock_now_usec(), patience));
        return sd_event_add_time(pid1->event, &pid1->waiter, CLOCK_MONOTONIC, limit, 1, on_overdue, pid1) >= 0;
}
