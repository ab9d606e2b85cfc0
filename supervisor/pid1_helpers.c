/* pid1_helpers.c - what PID 1 does alike for the logger, the prober and the gateway: finds, remembers and hears them,
 * and awaits their end. */
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "supervisor/libexec.h"
#include "supervisor/pid1.h"

#define LOGGER_END_USEC (1 * USEC_PER_SEC) /* at least, where the deadline allows it, for the last lines on a disk */

static const char *const names[] = {
        [HELPER_LOGGER] = "logger", [HELPER_PROBER] = "prober", [HELPER_GATEWAY] = "gateway"
};

int pid1_find_helper(uint32_t helper, char ret_program[static PATH_MAX]) {
        int r = libexec_find(names[helper], ret_program);
        if (r < 0)
                log_err("could not find endwell-%s: %s; nothing was started", names[helper], strerrordesc_np(-r));
        return r;
}

void pid1_remember_helper(Pid1 *pid1, uint32_t helper, pid_t pid) {
        int r = roster_add(pid1->roster, &(RosterEntry){ .pid = pid, .kind = ROSTER_HELPER, .owner = helper });
        if (r < 0)
                log_warning("could not remember the %s, pid %d: %s; its end will not be noticed", names[helper],
                            (int)pid, strerrordesc_np(-r));
}

void pid1_on_said(void *userdata, LogLevel level, const char *sentence) {
        (void)userdata;
        log_line(level, "%s", sentence);
}

/* ---- Their end ---- */

static bool a_helper_lives(const Pid1 *pid1) {
        return (pid1->logger && logger_link_pid(pid1->logger) != 0) ||
               (pid1->prober && prober_link_pid(pid1->prober) != 0) ||
               (pid1->gateway && gateway_link_pid(pid1->gateway) != 0);
}

void pid1_on_helper_exited(Pid1 *pid1, uint32_t helper, Ended how) {
        if (helper == HELPER_LOGGER)
                logger_link_on_exited(pid1->logger, how);
        else if (helper == HELPER_PROBER)
                prober_link_on_exited(pid1->prober, how);
        else
                gateway_link_on_exited(pid1->gateway, how);
        if (pid1->finished && !a_helper_lives(pid1))
                (void)sd_event_exit(pid1->event, pid1->code);
}

static int on_overdue(sd_event_source *source, uint64_t usec, void *userdata) {
        Pid1 *pid1 = userdata;
        bool logger = pid1->logger && logger_link_pid(pid1->logger) != 0;
        bool gateway = pid1->gateway && gateway_link_pid(pid1->gateway) != 0;
        (void)source, (void)usec;
        log_warning("the %s did not end in time; going without it", names[logger    ? HELPER_LOGGER
                                                                          : gateway ? HELPER_GATEWAY
                                                                                    : HELPER_PROBER]);
        (void)sd_event_exit(pid1->event, pid1->code);
        return 0;
}

void pid1_rest_helpers(Pid1 *pid1) {
        pid1_release_prober(pid1);
        if (pid1->gateway)
                gateway_link_rest(pid1->gateway);
}

/* The logger still writes the last lines down, the gateway sends them to whoever listens; the prober is only to be
 * collected. */
bool pid1_await_helpers(Pid1 *pid1) {
        bool logger = pid1->logger && logger_link_finish(pid1->logger);
        bool prober = pid1->prober && prober_link_finish(pid1->prober);
        bool gateway = pid1->gateway && gateway_link_finish(pid1->gateway);
        if (!logger && !prober && !gateway)
                return false;
        usec_t patience = usec_max(pid1->config->budget.reserve_usec, LOGGER_END_USEC);
        usec_t deadline = usec_add(crew_overview(pid1->crew).deadline_usec, pid1->away_usec);
        usec_t limit = usec_min(deadline, usec_add(clock_now_usec(), patience));
        return sd_event_add_time(pid1->event, &pid1->waiter, CLOCK_MONOTONIC, limit, 1, on_overdue, pid1) >= 0;
}
