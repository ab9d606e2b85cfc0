/* control_request.h - reads one line from a client of the control socket into a request.
 *
 * Pure but for jansson's memory. The line is anybody's: its nesting is looked at before it is parsed, because a parser
 * recurses, and doubled keys are refused, because two readers would see two requests. */
#pragma once
#include <stddef.h>

#define CONTROL_LINE_MAX    (64 * 1024) /* with its newline */
#define CONTROL_DEPTH_MAX   32
#define CONTROL_MESSAGE_MAX 256

typedef struct json_t json_t;

typedef struct ControlRequest {
        json_t *root; /* owns all of it */
        const char *method;
        const json_t *params; /* an object, or NULL when none were sent */
} ControlRequest;

/* `line` without its newline. 0; -EBADMSG with a code word and a sentence; -ENOMEM with both too. */
int control_request_parse(const char *line, size_t length, ControlRequest *ret, const char **ret_code,
                          char ret_message[static CONTROL_MESSAGE_MAX]);
void control_request_done(ControlRequest *request);
