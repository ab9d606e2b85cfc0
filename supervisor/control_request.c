/* control_request.c - reads one line from a client of the control socket. */
#include "supervisor/control_request.h"
#include "base/take.h"
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

__attribute__((format(printf, 4, 5))) static int refuse(const char **ret_code, const char *code, char *ret_message,
                                                        const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(ret_message, CONTROL_MESSAGE_MAX, format, arguments);
        va_end(arguments);
        *ret_code = code;
        return -EBADMSG;
}

/* The deepest nesting that a parser could meet in this text, whether or not it is JSON. */
static size_t deepest(const char *line, size_t length) {
        size_t depth = 0, most = 0;
        bool quoted = false;

        for (size_t i = 0; i < length; i++) {
                char c = line[i];

                if (quoted && c == '\\')
                        i++;
                else if (c == '"')
                        quoted = !quoted;
                else if (!quoted && (c == '[' || c == '{'))
                        most = ++depth > most ? depth : most;
                else if (!quoted && (c == ']' || c == '}') && depth > 0)
                        depth--;
        }
        return most;
}

static int refuse_json(const json_error_t *error, const char **ret_code, char *ret_message) {
        if (json_error_code(error) != json_error_out_of_memory)
                return refuse(ret_code, "bad_json", ret_message, "the line is not JSON: %s (at byte %d)", error->text,
                              error->position);
        refuse(ret_code, "no_memory", ret_message, "there is no memory left to read the request");
        return -ENOMEM;
}

int control_request_parse(const char *line, size_t length, ControlRequest *ret, const char **ret_code,
                          char ret_message[static CONTROL_MESSAGE_MAX]) {
        _cleanup_(json_decrefp) json_t *root = NULL;
        json_error_t error;

        if (deepest(line, length) > CONTROL_DEPTH_MAX)
                return refuse(ret_code, "too_deep", ret_message, "the request is nested more than %d levels deep",
                              CONTROL_DEPTH_MAX);
        root = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
        if (!root)
                return refuse_json(&error, ret_code, ret_message);
        if (!json_is_object(root))
                return refuse(ret_code, "bad_request", ret_message, "a request is an object: {\"method\":\"status\"}");
        const json_t *method = json_object_get(root, "method"), *params = json_object_get(root, "params");
        if (!json_is_string(method))
                return refuse(ret_code, "bad_request", ret_message, "the request has no \"method\" that is a text");
        if (params && !json_is_null(params) && !json_is_object(params))
                return refuse(ret_code, "bad_request", ret_message, "\"params\" must be an object");
        *ret = (ControlRequest){ .method = json_string_value(method),
                                 .params = json_is_object(params) ? params : NULL };
        ret->root = TAKE(root);
        return 0;
}

void control_request_done(ControlRequest *request) {
        json_decref(request->root);
        *request = (ControlRequest){ 0 };
}
