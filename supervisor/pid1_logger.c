/* pid1_logger.c - the logger among the first process's parts: made when something needs it, waited for where it
 * matters. */
#include <limits.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "supervisor/pid1.h"

#define SETTLE_USEC (250 * USEC_PER_MSEC) /* a stuck target must not hold up the news of a death any longer */

extern char **environ;

static void on_spawned(void *userdata, pid_t pid) {
        pid1_remember_helper(userdata, HELPER_LOGGER, pid);
}

static void on_marked(void *userdata, uint32_t member, const char *hook, pid_t pid) {
        Pid1 *pid1 = userdata;
        crew_on_mark(pid1->crew, member, hook, NOTIFY_EDGE_BEGIN, pid, 0);
        pid1_rearm(pid1);
}

static void on_lost(void *userdata, uint32_t member, uint64_t lines) {
        Pid1 *pid1 = userdata;
        MemberView view = crew_view(pid1->crew, member);
        pid1_record(pid1, &(Event){ .kind = EVENT_LOG_DROPPED,
                                    .epoch = crew_overview(pid1->crew).epoch,
                                    .service = view.service->name,
                                    .instance = view.number,
                                    .instances = view.service->instances,
                                    .n = lines });
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
        char program[PATH_MAX], logs[sizeof pid1->runtime.directory + sizeof "/logs.sock"];
        if (!is_needed(pid1, journal))
                return 0;
        int r = pid1_find_helper(HELPER_LOGGER, program);
        snprintf(logs, sizeof logs, "%s/logs.sock", pid1->runtime.directory);
        return r < 0 ? r
                     : logger_link_new(&pid1->logger, pid1->event,
                                       &(LoggerPlan){ .program = program,
                                                      .environment = environ,
                                                      .config = pid1->config,
                                                      .archive = pid1->archive,
                                                      .journal_path = journal ? file : NULL,
                                                      .journal_max_size = pid1->config->journal_max_size,
                                                      .logs_path = pid1->has_runtime ? logs : NULL,
                                                      .lost = on_lost,
                                                      .spawned = on_spawned,
                                                      .marked = on_marked,
                                                      .settled = on_settled,
                                                      .say = pid1_on_said,
                                                      .userdata = pid1 });
}
