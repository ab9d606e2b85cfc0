/* tidings.c - see tidings.h. */
#include "gateway/tidings.h"
#include "base/enumeration.h"
#include "base/utf8.h"
#include <errno.h>
#include <string.h>

static const char *const kind_words[_TIDINGS_MAX] = {
        [TIDINGS_EVENT] = "event",   [TIDINGS_SUBSCRIBED] = "subscribed", [TIDINGS_STATUS] = "status",
        [TIDINGS_ANSWER] = "answer", [TIDINGS_REFUSED] = "refused",
};

ENUMERATION(tidings_kind, TidingsKind, kind_words)

static void copy_text(const char *text, char *ret_word, size_t size) {
        size_t length = text ? utf8_cut(text, strlen(text), size - 1) : 0;

        memcpy(ret_word, text ? text : "", length);
        ret_word[length] = '\0';
}

#define COPY(root, key, field) copy_text(json_string_value(json_object_get(root, key)), field, sizeof(field))

static uint64_t number(const json_t *root, const char *key) {
        json_int_t value = json_integer_value(json_object_get(root, key));
        return value > 0 ? (uint64_t)value : 0;
}

static bool is_true(const json_t *root, const char *key) {
        return json_is_true(json_object_get(root, key));
}

static void read_words(const json_t *root, Tidings *tidings) {
        const json_t *phases = json_object_get(root, "phases"), *phase;
        size_t i;

        COPY(root, "event", tidings->event);
        COPY(root, "service", tidings->service);
        COPY(root, "phase", tidings->phase);
        COPY(root, "hook", tidings->hook);
        COPY(root, "cause", tidings->cause);
        COPY(root, "effect", tidings->effect);
        COPY(root, "reason", tidings->reason);
        json_array_foreach(phases, i, phase) {
                if (i < TIDINGS_PHASES_MAX) {
                        copy_text(json_string_value(phase), tidings->phases[i], sizeof tidings->phases[i]);
                        tidings->n_phases = (unsigned)i + 1;
                }
        }
}

/* hook_finished says how its process ended, as service_exited does: exited and 0 is good. */
static bool has_failed(const json_t *root) {
        const char *code = json_string_value(json_object_get(root, "code"));
        return is_true(root, "timed_out") || (code && strcmp(code, "exited") != 0) || number(root, "status") != 0 ||
               json_is_string(json_object_get(root, "error"));
}

static void read_event(const json_t *root, Tidings *tidings) {
        read_words(root, tidings);
        tidings->epoch = number(root, "epoch");
        tidings->mono_usec = number(root, "mono_us");
        tidings->took_usec = number(root, "took_us");
        tidings->limit_usec = number(root, "limit_us");
        tidings->deadline_usec = number(root, "deadline_us");
        tidings->n = number(root, "n");
        tidings->released = number(root, "released");
        tidings->buried = number(root, "buried");
        tidings->attempt = (unsigned)number(root, "attempt");
        tidings->members = (unsigned)number(root, "members");
        tidings->gone = (unsigned)number(root, "gone");
        tidings->killed = (unsigned)number(root, "killed");
        tidings->left = (unsigned)number(root, "left");
        tidings->code = (int)number(root, "code");
        tidings->ready = is_true(root, "ready");
        tidings->ok = is_true(root, "ok");
        tidings->timed_out = is_true(root, "timed_out");
        tidings->failed = has_failed(root);
}

static int read_answer(const json_t *root, Tidings *tidings) {
        const json_t *result = json_object_get(root, "result"), *error = json_object_get(root, "error");

        tidings->kind = TIDINGS_ANSWER;
        if (json_is_object(error)) {
                tidings->kind = TIDINGS_REFUSED;
                COPY(error, "message", tidings->reason);
                return 0;
        }
        if (!json_is_object(result))
                return -EBADMSG;
        if (is_true(result, "subscribed")) {
                tidings->kind = TIDINGS_SUBSCRIBED;
                tidings->newest = number(result, "newest");
        } else if (json_object_get(result, "services")) {
                tidings->kind = TIDINGS_STATUS;
                return snapshot_read(result, &tidings->status);
        }
        return 0;
}

int tidings_read(const char *line, size_t length, Tidings *ret) {
        Tidings tidings = { .kind = TIDINGS_EVENT };
        json_error_t error;
        json_t *root = json_loadb(line, length, 0, &error);
        int r = 0;

        if (!root)
                return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
        tidings.seq = number(root, "seq");
        if (!json_is_object(root))
                r = -EBADMSG;
        else if (tidings.seq > 0)
                read_event(root, &tidings);
        else
                r = read_answer(root, &tidings);
        json_decref(root);
        if (r == 0)
                *ret = tidings;
        return r;
}
