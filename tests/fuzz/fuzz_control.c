/* fuzz_control.c - any bytes as a request line of the control socket: an answer with a reason, or a request whose parts
 * are what they should be. */
#include "supervisor/control_params.h"
#include "supervisor/control_request.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_params(const json_t *params) {
        const char *text;
        uint64_t number;
        bool truth;

        (void)control_params_string(params, "as", &text);
        (void)control_params_unsigned(params, "since", &number);
        (void)control_params_bool(params, "now", &truth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char message[CONTROL_MESSAGE_MAX] = "";
        const char *code = NULL;
        ControlRequest request = { 0 };

        if (size > CONTROL_LINE_MAX)
                return 0;
        int r = control_request_parse((const char *)data, size, &request, &code, message);
        if (r < 0) {
                if (!code || !message[0] || request.root)
                        abort();
                return 0;
        }
        if (!request.method || strlen(request.method) > size)
                abort();
        read_params(request.params);
        control_request_done(&request);
        return 0;
}
