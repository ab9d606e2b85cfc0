/* pid1_control.c - the methods of the control socket, as far as they are the supervisor's. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/pid1.h"
#include "supervisor/status.h"

#define STATUS_MAX (1024 * 1024)
#define ANSWER_MAX 1024

static void record_request(Pid1 *pid1, const ControlPeer *peer, const char *method) {
        pid1_record(pid1, &(Event){ .kind = EVENT_REQUEST_RECEIVED,
                                    .epoch = crew_overview(pid1->crew).epoch,
                                    .method = method,
                                    .peer_pid = peer->pid,
                                    .peer_uid = peer->uid });
}

static int on_status(void *userdata, const ControlPeer *peer, const json_t *params, Json *result, const char **ret_code,
                     char *ret_message) {
        Pid1 *pid1 = userdata;
        (void)peer, (void)params, (void)ret_code, (void)ret_message;
        status_write(pid1->crew, pid1->config, result);
        return 0;
}

static int on_shutdown(void *userdata, const ControlPeer *peer, const json_t *params, Json *result,
                       const char **ret_code, char *ret_message) {
        Pid1 *pid1 = userdata;
        const json_t *now = json_object_get(params, "now");
        if (now && !json_is_boolean(now)) {
                *ret_code = "bad_params";
                snprintf(ret_message, 256, "shutdown: `now` must be true or false");
                return -EINVAL;
        }
        record_request(pid1, peer, "shutdown");
        bool first = !crew_is_ending(pid1->crew);
        crew_end(pid1->crew, "request", json_is_true(now));
        pid1_rearm(pid1);
        json_open_object(result, NULL);
        json_bool(result, "begun", first);
        json_unsigned(result, "epoch", crew_overview(pid1->crew).epoch);
        json_close(result);
        return 0;
}

static uint64_t number(const json_t *params, const char *key) {
        json_int_t value = json_integer_value(json_object_get(params, key));
        return value > 0 ? (uint64_t)value : 0;
}

static void report_mark(Pid1 *pid1, const ControlPeer *peer, const json_t *params) {
        const char *hook = json_string_value(json_object_get(params, "hook"));
        const char *edge = json_string_value(json_object_get(params, "edge"));
        if (hook && *hook && strlen(hook) <= 40)
                crew_on_mark(pid1->crew, CREW_NOBODY, hook,
                             edge && strcmp(edge, "end") == 0 ? NOTIFY_EDGE_END : NOTIFY_EDGE_BEGIN, peer->pid,
                             (int)json_integer_value(json_object_get(params, "rc")));
}

static int on_report(void *userdata, const ControlPeer *peer, const json_t *params, Json *result, const char **ret_code,
                     char *ret_message) {
        Pid1 *pid1 = userdata;
        const char *event = json_string_value(json_object_get(params, "event"));
        unsigned epoch = crew_overview(pid1->crew).epoch;
        if (event && strcmp(event, "readiness_acknowledged") == 0)
                crew_on_acknowledged(pid1->crew, "gateway");
        else if (event && strcmp(event, "reaper_settled") == 0)
                pid1_record(pid1, &(Event){ .kind = EVENT_REAPER_SETTLED,
                                            .epoch = epoch,
                                            .owner = json_string_value(json_object_get(params, "owner")),
                                            .released = number(params, "released"),
                                            .buried = number(params, "buried") });
        else if (event && strcmp(event, "database_quiet") == 0)
                pid1_record(pid1, &(Event){ .kind = EVENT_DATABASE_QUIET,
                                            .epoch = epoch,
                                            .sessions = number(params, "sessions") });
        else if (event && strcmp(event, "hook_marked") == 0)
                report_mark(pid1, peer, params);
        else {
                *ret_code = "bad_params";
                snprintf(ret_message, 256, "report: `event` must be one of readiness_acknowledged, reaper_settled, "
                                           "database_quiet, hook_marked");
                return -EINVAL;
        }
        pid1_rearm(pid1);
        json_open_object(result, NULL);
        json_bool(result, "taken", true);
        json_close(result);
        return 0;
}

const ControlMethodEntry pid1_methods[] = {
        { "status", on_status, STATUS_MAX },
        { "shutdown", on_shutdown, ANSWER_MAX },
        { "report", on_report, ANSWER_MAX },
        { NULL, NULL, 0 },
};
