/* pid1_control.c - the methods of the control socket, as far as they are the supervisor's. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/take.h"
#include "supervisor/control_params.h"
#include "supervisor/pid1.h"
#include "supervisor/status.h"

#define STATUS_MAX  (1024 * 1024)
#define REACHED_MAX (1024 * 1024)
#define ANSWER_MAX  1024

static void record_request(Pid1 *pid1, const Peer *peer, const char *method) {
        pid1_record(pid1, &(Event){ .kind = EVENT_REQUEST_RECEIVED,
                                    .epoch = crew_overview(pid1->crew).epoch,
                                    .method = method,
                                    .peer_pid = peer->pid,
                                    .peer_uid = peer->uid });
}

static int on_status(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                     char *ret_message) {
        Pid1 *pid1 = userdata;
        (void)peer, (void)params, (void)ret_code, (void)ret_message;
        status_write(pid1->crew, pid1->config, result);
        return 0;
}

static int bad_params(const char **ret_code, char *ret_message, const char *message) {
        *ret_code = "bad_params";
        snprintf(ret_message, 256, "%s", message);
        return -EINVAL;
}

static int on_shutdown(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                       char *ret_message) {
        Pid1 *pid1 = userdata;
        bool now = false;
        if (control_params_bool(params, "now", &now) < 0)
                return bad_params(ret_code, ret_message, "shutdown: `now` must be true or false");
        pid1_hear_the_dead(pid1);
        record_request(pid1, peer, "shutdown");
        bool first = !crew_is_ending(pid1->crew);
        crew_end(pid1->crew, "request", now);
        pid1_rearm(pid1);
        json_open_object(result, NULL);
        json_put_bool(result, "begun", first);
        json_put_unsigned(result, "epoch", crew_overview(pid1->crew).epoch);
        json_close(result);
        return 0;
}

static uint64_t number(const json_t *params, const char *key) {
        uint64_t value = 0;
        (void)control_params_unsigned(params, key, &value); /* a wrong number is no number: the report itself counts */
        return value;
}

static const char *text(const json_t *params, const char *key) {
        const char *value = NULL;
        (void)control_params_string(params, key, &value);
        return value;
}

static void on_acknowledged(Pid1 *pid1, const Peer *peer, const json_t *params) {
        (void)peer, (void)params;
        crew_on_acknowledged(pid1->crew, "gateway");
}

static void on_reaper_settled(Pid1 *pid1, const Peer *peer, const json_t *params) {
        (void)peer;
        crew_on_reaper_settled(pid1->crew, text(params, "owner"), number(params, "released"), number(params, "buried"));
}

static void on_database_quiet(Pid1 *pid1, const Peer *peer, const json_t *params) {
        (void)peer;
        crew_on_database_quiet(pid1->crew, number(params, "sessions"));
}

static void on_hook_marked(Pid1 *pid1, const Peer *peer, const json_t *params) {
        const char *hook = text(params, "hook"), *edge = text(params, "edge");
        int64_t rc = 0;
        (void)control_params_signed(params, "rc", &rc);
        if (hook && name_is_valid(hook))
                crew_on_mark(pid1->crew, CREW_NOBODY, hook,
                             edge && strcmp(edge, "end") == 0 ? NOTIFY_EDGE_END : NOTIFY_EDGE_BEGIN, peer->pid,
                             (int)rc);
}

static const struct Report {
        const char *event;
        void (*take)(Pid1 *pid1, const Peer *peer, const json_t *params);
} reports[] = {
        { "readiness_acknowledged", on_acknowledged },
        { "reaper_settled", on_reaper_settled },
        { "database_quiet", on_database_quiet },
        { "hook_marked", on_hook_marked },
};

static int on_report(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                     char *ret_message) {
        Pid1 *pid1 = userdata;
        const char *event = text(params, "event");
        const struct Report *report = NULL;
        for (size_t i = 0; event && i < LENGTH_OF(reports); i++)
                if (strcmp(reports[i].event, event) == 0)
                        report = &reports[i];
        if (!report)
                return bad_params(ret_code, ret_message,
                                  "report: `event` must be one of readiness_acknowledged, "
                                  "reaper_settled, database_quiet, hook_marked");
        report->take(pid1, peer, params);
        pid1_rearm(pid1);
        json_open_object(result, NULL);
        json_put_bool(result, "taken", true);
        json_close(result);
        return 0;
}

const ControlMethodEntry pid1_methods[] = {
        { "status", on_status, STATUS_MAX },
        { "shutdown", on_shutdown, ANSWER_MAX },
        { "report", on_report, ANSWER_MAX },
        { "start", pid1_on_start, REACHED_MAX },
        { "stop", pid1_on_stop, REACHED_MAX },
        { "restart", pid1_on_restart, REACHED_MAX },
        { "signal", pid1_on_signal_request, ANSWER_MAX },
        { "hook_run", pid1_on_hook_run, REACHED_MAX },
        { NULL, NULL, 0 },
};
