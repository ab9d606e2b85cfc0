/* pid1_steer.c - what persons ask for over the control socket: starts, stops, restarts, signals and hooks. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/take.h"
#include "supervisor/control_params.h"
#include "supervisor/pid1.h"

#define TARGETS_MAX 256
#define MESSAGE_MAX 256 /* see ControlMethod */

/* A refusal of a request: what the client is told. */
typedef struct Refusal {
        const char **code;
        char *message;
} Refusal;

__attribute__((format(printf, 4, 5))) static int refuse(const Refusal *refusal, int r, const char *code,
                                                        const char *format, ...) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(refusal->message, MESSAGE_MAX, format, arguments);
        va_end(arguments);
        *refusal->code = code;
        return r;
}

static int refuse_in_ending(const Pid1 *pid1, const Refusal *refusal) {
        const char *cause = crew_overview(pid1->crew).cause;
        return refuse(refusal, -ESHUTDOWN, "ending",
                      "the ending has begun (%s): nothing is started, stopped, signalled or run by hand any more",
                      cause ? cause : "it is over");
}

static int refuse_failure(const Pid1 *pid1, const Refusal *refusal, int r, uint32_t member) {
        char name[64] = "";
        switch (-r) {
        case ESHUTDOWN: return refuse_in_ending(pid1, refusal);
        case EOPNOTSUPP:
                return refuse(refusal, r, "single",
                              "this endwell runs a single command and ends with it: `endwell shutdown` ends both");
        case EBUSY:
                crew_name(pid1->crew, member, name, sizeof name);
                return refuse(refusal, r, "left",
                              "%s cannot be started: something of it outlived SIGKILL and may run beside it still; "
                              "nothing has changed, and only a new start of the container clears it",
                              name);
        default: return refuse(refusal, r, "failed", "%s; nothing has changed", strerrordesc_np(-r));
        }
}

/* "web" or "worker@3". */
static int read_target(const Pid1 *pid1, const char *text, SteerTarget *ret, const Refusal *refusal) {
        const char *at = strchr(text, '@');
        size_t length = at ? (size_t)(at - text) : strlen(text);
        char *end = NULL;
        unsigned long number = at ? strtoul(at + 1, &end, 10) : 0;
        for (uint32_t s = 0; s < pid1->config->n_services; s++) {
                const ServiceConfig *service = &pid1->config->services[s];
                if (strncmp(service->name, text, length) != 0 || service->name[length])
                        continue;
                if (at && (at[1] < '1' || at[1] > '9' || *end || number > service->instances))
                        return refuse(refusal, -EINVAL, "unknown_instance", "there is no %.80s: %s has %u instance%s",
                                      text, service->name, service->instances, service->instances == 1 ? "" : "s");
                *ret = (SteerTarget){ .service = s, .number = (unsigned)number };
                return 0;
        }
        return refuse(refusal, -EINVAL, "unknown_service", "there is no service %.80s", text);
}

/* Who is named, for the journal, as many as have room. */
typedef struct Named {
        SteerTarget targets[TARGETS_MAX];
        size_t n;
        char text[192];
} Named;

static int read_targets(const Pid1 *pid1, const json_t *params, Named *ret, const Refusal *refusal) {
        const char *text = NULL;
        ret->n = 0;
        ret->text[0] = '\0';
        for (int r; (r = control_params_item(params, "services", ret->n, &text)) != 0;) {
                if (r < 0)
                        return refuse(refusal, r, "bad_params", "`services` must be a list of names");
                if (ret->n == TARGETS_MAX)
                        return refuse(refusal, -E2BIG, "bad_params", "at most %d services may be named at once",
                                      TARGETS_MAX);
                r = read_target(pid1, text, &ret->targets[ret->n], refusal);
                if (r < 0)
                        return r;
                size_t used = strlen(ret->text);
                if (used + strlen(text) + 2 < sizeof ret->text)
                        snprintf(ret->text + used, sizeof ret->text - used, "%s%s", used > 0 ? " " : "", text);
                ret->n++;
        }
        return ret->n > 0 ? 0 : refuse(refusal, -EINVAL, "bad_params", "`services` names nobody");
}

static void record_request(Pid1 *pid1, const Peer *peer, const char *method, const char *detail) {
        pid1_record(pid1, &(Event){ .kind = EVENT_REQUEST_RECEIVED,
                                    .epoch = crew_overview(pid1->crew).epoch,
                                    .method = method,
                                    .peer_pid = peer->pid,
                                    .peer_uid = peer->uid,
                                    .detail = detail });
}

typedef struct Answer {
        const Pid1 *pid1;
        Json *result;
} Answer;

static void tell(void *userdata, uint32_t member, SteerEffect effect) {
        static const char *const words[] = { [STEER_GOES] = "goes",
                                             [STEER_COMES] = "comes",
                                             [STEER_ON_ITS_WAY] = "on_its_way",
                                             [STEER_STAYS] = "stays" };
        const Answer *answer = userdata;
        MemberView view = crew_view(answer->pid1->crew, member);
        json_open_object(answer->result, NULL);
        json_put_string(answer->result, "service", view.service->name);
        json_put_unsigned(answer->result, "instance", view.number);
        json_put_unsigned(answer->result, "instances", view.service->instances);
        json_put_string(answer->result, "effect", words[effect]);
        json_close(answer->result);
}

static int steer(Pid1 *pid1, Steer steer, const Peer *peer, const json_t *params, Json *result,
                 const Refusal *refusal) {
        Named named;
        Answer answer = { .pid1 = pid1, .result = result };
        uint32_t left = CREW_NOBODY;
        int r = read_targets(pid1, params, &named, refusal);
        if (r < 0)
                return r;
        pid1_hear_the_dead(pid1);
        record_request(pid1, peer, steer_to_string(steer), named.text);
        json_open_object(result, NULL);
        json_put_unsigned(result, "seq", pid1->seq);
        json_open_array(result, "reached");
        r = crew_steer(pid1->crew, steer, named.targets, named.n, tell, &answer, &left);
        pid1_rearm(pid1);
        if (r < 0)
                return refuse_failure(pid1, refusal, r, left);
        json_close(result);
        json_close(result);
        return 0;
}

int pid1_on_start(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                  char *ret_message) {
        return steer(userdata, STEER_START, peer, params, result, &(Refusal){ ret_code, ret_message });
}

int pid1_on_stop(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                 char *ret_message) {
        return steer(userdata, STEER_STOP, peer, params, result, &(Refusal){ ret_code, ret_message });
}

int pid1_on_restart(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                    char *ret_message) {
        return steer(userdata, STEER_RESTART, peer, params, result, &(Refusal){ ret_code, ret_message });
}

int pid1_on_signal_request(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                           char *ret_message) {
        Pid1 *pid1 = userdata;
        const Refusal refusal = { ret_code, ret_message };
        const char *service = NULL, *word = NULL;
        SteerTarget target;
        char detail[96];
        if (control_params_string(params, "service", &service) <= 0 ||
            control_params_string(params, "signal", &word) <= 0)
                return refuse(&refusal, -EINVAL, "bad_params", "signal: `service` and `signal` must be given");
        int number = signal_from_string(word), r = read_target(pid1, service, &target, &refusal);
        if (r < 0)
                return r;
        if (number <= 0)
                return refuse(&refusal, -EINVAL, "bad_params", "%.40s is no signal", word);
        snprintf(detail, sizeof detail, "%.60s %.24s", service, word);
        pid1_hear_the_dead(pid1);
        record_request(pid1, peer, "signal", detail);
        r = crew_signal(pid1->crew, target, number);
        pid1_rearm(pid1);
        if (r < 0)
                return refuse_failure(pid1, &refusal, r, CREW_NOBODY);
        if (r == 0)
                return refuse(&refusal, -ESRCH, "not_running", "no process of %.60s is there to get a signal", service);
        json_open_object(result, NULL);
        json_put_unsigned(result, "signalled", (unsigned)r);
        json_close(result);
        return 0;
}

/* ---- Hooks ---- */

typedef struct HookRequest {
        const char *name;
        size_t length;   /* of the hook's name in it */
        unsigned number; /* of the instance; 0: all that run */
} HookRequest;

static bool is_meant(const Pid1 *pid1, const HookRequest *request, uint32_t run) {
        HookView view = crew_hook_view(pid1->crew, run);
        if (strncmp(view.hook->name, request->name, request->length) != 0 || view.hook->name[request->length])
                return false;
        return request->number == 0 ||
               (view.member != CREW_NOBODY && crew_view(pid1->crew, view.member).number == request->number);
}

static void write_run(const Pid1 *pid1, uint32_t run, int answer, Json *result) {
        static const char *const words[] = {
                [HOOK_MAY_BEGIN] = "begun", [HOOK_ALREADY_RUNS] = "runs", [HOOK_ALREADY_RAN] = "ran"
        };
        HookView view = crew_hook_view(pid1->crew, run);
        json_open_object(result, NULL);
        json_put_string(result, "hook", view.hook->name);
        if (view.member != CREW_NOBODY) {
                MemberView member = crew_view(pid1->crew, view.member);
                json_put_string(result, "service", member.service->name);
                json_put_unsigned(result, "instance", member.number);
                json_put_unsigned(result, "instances", member.service->instances);
        }
        json_put_string(result, "state", words[answer]);
        if (view.state == HOOK_FINISHED)
                json_put_signed(result, "status", view.status);
        json_close(result);
}

/* Of one who runs for several instances those that do not run are passed over, unless it is all of them. */
static int run_hooks(Pid1 *pid1, const HookRequest *request, Json *result, const Refusal *refusal) {
        int n = 0, last = -ENOENT;
        for (uint32_t run = 0; run < crew_hook_runs(pid1->crew); run++) {
                if (!is_meant(pid1, request, run))
                        continue;
                int r = crew_run_hook(pid1->crew, run);
                if (r == -ESHUTDOWN)
                        return refuse_in_ending(pid1, refusal);
                if (r >= 0) {
                        write_run(pid1, run, r, result);
                        n++;
                } else {
                        last = r;
                }
        }
        if (n > 0)
                return 0;
        switch (-last) {
        case ENOENT: return refuse(refusal, last, "unknown_hook", "there is no hook %.80s", request->name);
        case ENOTCONN:
                return refuse(refusal, last, "not_running", "the service of hook %.60s does not run", request->name);
        case EOPNOTSUPP:
                return refuse(refusal, last, "not_ours", "the service runs the hook %.60s itself (LogPattern)",
                              request->name);
        default:
                return refuse(refusal, last, "failed", "the hook %.60s could not begin: %s", request->name,
                              strerrordesc_np(-last));
        }
}

int pid1_on_hook_run(void *userdata, const Peer *peer, const json_t *params, Json *result, const char **ret_code,
                     char *ret_message) {
        Pid1 *pid1 = userdata;
        const Refusal refusal = { ret_code, ret_message };
        HookRequest request = { 0 };
        char *end = NULL;
        if (control_params_string(params, "hook", &request.name) <= 0)
                return refuse(&refusal, -EINVAL, "bad_params", "hook_run: `hook` must be the name of a hook");
        const char *at = strchr(request.name, '@');
        request.length = at ? (size_t)(at - request.name) : strlen(request.name);
        request.number = at ? (unsigned)strtoul(at + 1, &end, 10) : 0;
        if (at && (at[1] < '1' || at[1] > '9' || *end))
                return refuse(&refusal, -EINVAL, "bad_params", "%.80s is not NAME or NAME@INSTANCE", request.name);
        record_request(pid1, peer, "hook_run", request.name);
        json_open_object(result, NULL);
        json_put_unsigned(result, "seq", pid1->seq);
        json_open_array(result, "runs");
        int r = run_hooks(pid1, &request, result, &refusal);
        pid1_rearm(pid1);
        if (r < 0)
                return r;
        json_close(result);
        json_close(result);
        return 0;
}
