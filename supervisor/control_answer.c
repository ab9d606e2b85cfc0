/* control_answer.c - makes the lines that go back to a client. */
#include "supervisor/control_answer.h"
#include "base/take.h"
#include "supervisor/control_request.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ERROR_MAX 2048 /* a message of 256 bytes, each of them escaped, and the rest */

int control_answer_error(ControlAnswer *ret, const char *code, const char *message) {
        char *text = malloc(ERROR_MAX);
        Json json;

        if (!text)
                return -ENOMEM;
        json_init(&json, text, ERROR_MAX - 1);
        json_open_object(&json, NULL);
        json_open_object(&json, "error");
        json_put_string(&json, "code", code);
        json_put_string(&json, "message", message);
        size_t length = json_finish(&json);
        text[length++] = '\n';
        *ret = (ControlAnswer){ .text = text, .length = length };
        return 0;
}

/* The method writes its value behind what is already there; a value that did not fit is whole JSON all the same, and
 * the answer says that it was cut. */
int control_answer_call(ControlAnswer *ret, const ControlMethodEntry *entry, void *userdata, const Peer *peer,
                        const json_t *params) {
        static const char before[] = "{\"result\":", after[] = "}\n", cut[] = ",\"truncated\":true}\n";
        size_t room = entry->result_max < 64 ? 64 : entry->result_max;
        _cleanup_(freep) char *text = malloc(sizeof before + room + sizeof cut);
        char message[CONTROL_MESSAGE_MAX] = "";
        const char *code = NULL;
        Json json;

        if (!text)
                return -ENOMEM;
        memcpy(text, before, sizeof before - 1);
        json_init(&json, text + sizeof before - 1, room);
        int r = entry->method(userdata, peer, params, &json, &code, message);
        if (r < 0)
                return control_answer_error(ret, code ? code : "failed", message[0] ? message : strerrordesc_np(-r));
        size_t length = sizeof before - 1 + json_finish(&json);
        const char *end = json_overflowed(&json) ? cut : after;
        memcpy(text + length, end, strlen(end));
        *ret = (ControlAnswer){ .length = length + strlen(end) };
        ret->text = TAKE(text);
        return 0;
}
