/* event_text.c - one journal event as one sentence for people.
 *
 * A template is text with {key}; what stands in [ ] is left out when a key in it is missing, empty, zero or false. {?key}
 * and {!key} write nothing and only decide. {name} is the service with its instance, {how} says how a process ended. */
#include "supervisor/event_text.h"
#include "base/duration.h"
#include "base/names.h"
#include "base/take.h"
#include "base/utf8.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct Template {
        const char *event, *text;
        EventWeight weight;
} Template;

#define EDGE    EVENT_WEIGHT_EDGE
#define WARNING EVENT_WEIGHT_WARNING
#define FAILURE EVENT_WEIGHT_FAILURE

/* clang-format off */
static const Template templates[] = {
        { "supervisor_started", "endwell {version} started, pid {pid}, mode {mode}[, configuration {config}][{!pid_namespace}, as a subreaper]", EDGE },
        { "startup_finished", "everything was started[ within {took_us}]", EDGE },
        { "reload_finished", "the reload was finished", EDGE },
        { "config_reloaded", "the configuration was read again[: {changed}]", EDGE },
        { "config_rejected", "the configuration has errors and changed nothing[: {errors}]", FAILURE },
        { "log_dropped", "{n} lines of the log were lost: stderr did not take them", WARNING },
        { "client_dropped", "a client of the control socket (pid {peer}) was dropped: {reason}", WARNING },
        { "service_starting", "{name} is being started[, attempt {attempt}]", 0 },
        { "service_started", "{name} started, pid {pid}", 0 },
        { "service_ready", "{name} became ready[ after {took_us}]", 0 },
        { "service_exited", "{name}[, pid {pid},] {how}[{?asked}, as asked][{?escalated}, by our SIGKILL][: {error}][ after {took_us}]", 0 },
        { "service_gone", "nothing of {name} is left ({cause}[{!certain}, not certain])[, {killed} killed]", 0 },
        { "service_restart_scheduled", "{name} will be started again in {delay_us}[, after {failures} failures in a row]", WARNING },
        { "service_gave_up", "{name} failed for good[ after {failures} failures][: {reason}][{?essential} (essential)]", FAILURE },
        { "service_status", "{name} says: {text}", 0 },
        { "service_extended", "{name} asked for {usec} more", 0 },
        { "service_asked", "{name}[ ({comm}, pid {pid})] was asked to stop[ by {signal}][: {reason}]", 0 },
        { "service_killed", "{name}[ ({comm}, pid {pid})] was killed[ by {signal}][: {reason}]", WARNING },
        { "service_left", "{name}[ ({comm}, pid {pid})] was given up[: {reason}]", FAILURE },
        { "descendants_left", "{left} descendants of {name} were left alive, as configured", WARNING },
        { "watchdog_expired", "{name} did not report to its watchdog in time", FAILURE },
        { "probe_changed", "the {probe} probe of {service} [{?ok}succeeds][{!ok}fails][: {detail}]", 0 },
        { "readiness_changed", "[{?ready}ready to serve][{!ready}no longer ready to serve][: {reason}]", EDGE },
        { "readiness_acknowledged", "{by} acknowledged that we are not ready[ after {took_us}]", 0 },
        { "signal_received", "{signal} was received[ from {sender_comm}][ (pid {sender_pid})]: {effect}", EDGE },
        { "ending_started", "the ending began ({cause}[: {service}])[{?fast}, fast]", EDGE },
        { "phase_started", "phase {phase} began to end[, {members} members]", EDGE },
        { "phase_finished", "phase {phase} ended[ after {took_us}][: {gone} gone][, {killed} killed][, {left} left]", EDGE },
        { "drain_progress", "phase {phase}: {left} left[, {active} active][, waiting for {waiting_for}]", 0 },
        { "orphan_adopted", "{comm}, pid {pid}, was adopted[; it is of {name}]", 0 },
        { "orphan_gone", "the adopted {comm}, pid {pid}, {how}", 0 },
        { "hook_started", "hook {hook}[ ({on})] began[ for {name}][ in phase {phase}]", 0 },
        { "hook_finished", "hook {hook}[ ({on})][ for {name}] {how}[{?timed_out}, out of time][: {error}][ after {took_us}]", 0 },
        { "hook_refused", "hook {hook}[ for {name}] was not run again: {reason}", WARNING },
        { "hook_marked", "the application's hook {hook}: {edge}[ with {rc}][ (pid {pid})]", 0 },
        { "hook_repeated", "the application's hook {hook} ran {times} times in one epoch", FAILURE },
        { "notify_refused", "a message to {name} from pid {pid} was refused: {reason}", WARNING },
        { "request_received", "{method} was requested[ by pid {peer_pid}][ of uid {peer_uid}]", EDGE },
        { "reaper_settled", "the reaper settled[: {released} jobs released][, {buried} buried]", 0 },
        { "database_quiet", "the database phase began with {sessions} sessions of ours", 0 },
        { "supervisor_failed", "endwell itself failed: {text}[: {error}]", FAILURE },
        { "ending_finished", "the ending is over: exit {code}[: {reason}][, after {took_us}][, {killed} killed][, {left} left][, {hooks_failed} hooks failed][, {left_of_grace_us} of the grace left]", EDGE },
};
/* clang-format on */

typedef struct Text {
        char *bytes;
        size_t length;
        bool lacks; /* a key of the present [ ] has nothing to say */
} Text;

static void put(Text *text, const char *bytes, size_t n) {
        size_t room = EVENT_TEXT_MAX - 1 - text->length;

        n = utf8_cut(bytes, n, room);
        memcpy(text->bytes + text->length, bytes, n);
        text->length += n;
}

static void put_string(Text *text, const char *string) {
        size_t start = text->length;

        put(text, string, strlen(string));
        utf8_clean(text->bytes + start, text->length - start);
}

static bool is_span(const char *key) {
        size_t n = strlen(key);

        return strcmp(key, "usec") == 0 || (n > 3 && strcmp(key + n - 3, "_us") == 0);
}

static void put_integer(Text *text, const char *key, json_int_t value) {
        char span[DURATION_TEXT_MAX], number[32];

        if (is_span(key) && value >= 0) {
                put_string(text, duration_format((usec_t)value, span));
                return;
        }
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, value);
        put_string(text, number);
}

static void put_value(Text *text, const char *key, const json_t *value) {
        if (json_is_string(value))
                put_string(text, json_string_value(value));
        else if (json_is_integer(value))
                put_integer(text, key, json_integer_value(value));
        else if (json_is_boolean(value))
                put_string(text, json_is_true(value) ? "yes" : "no");
        else
                for (size_t i = 0; i < json_array_size(value); i++) {
                        put_string(text, i > 0 ? ", " : "");
                        put_value(text, key, json_array_get(value, i));
                }
}

/* Whether there is something to say. */
static bool has(const json_t *event, const char *key) {
        const json_t *value = json_object_get(event, strcmp(key, "name") == 0 ? "service" : key);

        if (json_is_string(value))
                return json_string_length(value) > 0;
        if (json_is_integer(value))
                return json_integer_value(value) != 0;
        return json_is_true(value) || json_array_size(value) > 0;
}

static void put_name(Text *text, const json_t *event) {
        json_int_t instance = json_integer_value(json_object_get(event, "instance"));
        char number[32];

        put_value(text, "service", json_object_get(event, "service"));
        if (instance <= 0)
                return;
        snprintf(number, sizeof number, "@%" JSON_INTEGER_FORMAT, instance);
        put_string(text, number);
}

static void put_how(Text *text, const json_t *event) {
        const char *code = json_string_value(json_object_get(event, "code"));
        int status = (int)json_integer_value(json_object_get(event, "status"));
        char number[32], signal[SIGNAL_TEXT_MAX];

        if (!code || strcmp(code, "exited") == 0) {
                snprintf(number, sizeof number, "exited with %d", status);
                put_string(text, number);
                return;
        }
        put_string(text, strcmp(code, "dumped") == 0 ? "dumped core by " : "was killed by ");
        put_string(text, signal_to_string(status, signal));
}

static void put_key(Text *text, const json_t *event, const char *key) {
        if (key[0] == '?' || key[0] == '!') {
                text->lacks |= has(event, key + 1) != (key[0] == '?');
                return;
        }
        if (strcmp(key, "how") == 0) {
                put_how(text, event);
                return;
        }
        text->lacks |= !has(event, key);
        if (strcmp(key, "name") == 0)
                put_name(text, event);
        else
                put_value(text, key, json_object_get(event, key));
}

static void fill_in(Text *text, const json_t *event, const char *at) {
        size_t begin = 0;
        char key[32];

        for (; *at; at++)
                if (*at == '[') {
                        begin = text->length;
                        text->lacks = false;
                } else if (*at == ']') {
                        text->length = text->lacks ? begin : text->length;
                } else if (*at == '{') {
                        size_t n = strcspn(++at, "}");
                        snprintf(key, sizeof key, "%.*s", (int)n, at);
                        put_key(text, event, key);
                        at += n;
                } else {
                        put(text, at, 1);
                }
}

/* An event of a later version: its name, and every field that is not in all of them. */
static void put_unknown(Text *text, json_t *event) {
        static const char *const known[] = { "seq", "mono_us", "time", "epoch", "event" };
        const char *key;
        json_t *value;

        put_value(text, "event", json_object_get(event, "event"));
        json_object_foreach(event, key, value) {
                bool skip = false;
                for (size_t i = 0; i < LENGTH_OF(known); i++)
                        skip |= strcmp(key, known[i]) == 0;
                if (skip)
                        continue;
                put_string(text, " ");
                put_string(text, key);
                put_string(text, "=");
                put_value(text, key, value);
        }
}

static const Template *find_template(const json_t *event) {
        const char *name = json_string_value(json_object_get(event, "event"));

        for (size_t i = 0; name && i < LENGTH_OF(templates); i++)
                if (strcmp(templates[i].event, name) == 0)
                        return &templates[i];
        return NULL;
}

const char *event_text(const json_t *event, char ret_text[static EVENT_TEXT_MAX], EventWeight *ret_weight) {
        const Template *template = find_template(event);
        Text text = { .bytes = ret_text };

        if (template)
                fill_in(&text, event, template->text);
        else
                put_unknown(&text, (json_t *)event); /* jansson's iterator is not const, but changes nothing */
        ret_text[text.length] = '\0';
        if (ret_weight)
                *ret_weight = template ? template->weight : EVENT_WEIGHT_ORDINARY;
        return ret_text;
}
