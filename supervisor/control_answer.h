/* control_answer.h - makes the lines that go back to a client: {"result":…} or {"error":{"code":…,"message":…}}.
 *
 * Each answer has memory of its own, as much as its method asks for, so that nothing large is kept while nobody asks.
 */
#pragma once
#include "supervisor/control.h"
#include <stddef.h>

typedef struct ControlAnswer {
        char *text; /* free() it */
        size_t length;
} ControlAnswer;

/* Both: 0 or -ENOMEM. */
int control_answer_error(ControlAnswer *ret, const char *code, const char *message);
int control_answer_call(ControlAnswer *ret, const ControlMethodEntry *entry, void *userdata, const Peer *peer,
                        const json_t *params);
