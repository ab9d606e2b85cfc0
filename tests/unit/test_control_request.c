/* test_control_request.c - what a line of the control socket may look like. */
#include "base/take.h"
#include "supervisor/control_params.h"
#include "supervisor/control_request.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

TestSuite(control_request, .timeout = 30);

static int parse(const char *line, ControlRequest *ret, const char **ret_code) {
        char message[CONTROL_MESSAGE_MAX] = "";
        int r = control_request_parse(line, strlen(line), ret, ret_code, message);

        cr_assert((r < 0) == (message[0] != '\0'), "an error has a sentence, and nothing else has one");
        return r;
}

Test(control_request, a_request_has_a_method_and_may_have_params) {
        static const char *const lines[] = { "{\"method\":\"status\"}", "{\"method\":\"status\",\"params\":null}",
                                             "{\"id\":1,\"method\":\"status\",\"params\":{}}\r",
                                             " { \"method\" : \"status\" } " };
        const char *code = NULL;

        for (size_t i = 0; i < LENGTH_OF(lines); i++) {
                ControlRequest request = { 0 };
                cr_assert_eq(parse(lines[i], &request, &code), 0, "%s", lines[i]);
                cr_assert_str_eq(request.method, "status");
                control_request_done(&request);
                cr_assert_null(request.root);
        }
}

Test(control_request, what_is_wrong_has_a_word_of_its_own) {
        static const struct {
                const char *line, *code;
        } cases[] = {
                { "", "bad_json" },
                { "status", "bad_json" },
                { "{\"method\":\"status\"", "bad_json" },
                { "{\"method\":\"status\"} {}", "bad_json" },
                { "{\"method\":\"a\",\"method\":\"b\"}", "bad_json" },
                { "{\"method\":\"a\xff\"}", "bad_json" },
                { "{\"method\":\"a\\u0000b\"}", "bad_json" },
                { "{\"method\":\"a\",\"params\":{\"n\":99999999999999999999}}", "bad_json" },
                { "[]", "bad_request" },
                { "{}", "bad_request" },
                { "{\"method\":null}", "bad_request" },
                { "{\"method\":\"a\",\"params\":\"now\"}", "bad_request" },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                ControlRequest request = { 0 };
                const char *code = NULL;
                cr_assert_eq(parse(cases[i].line, &request, &code), -EBADMSG, "%s", cases[i].line);
                cr_assert_str_eq(code, cases[i].code, "%s: %s", cases[i].line, code);
                cr_assert_null(request.root);
        }
}

Test(control_request, nesting_is_counted_before_parsing_and_not_inside_texts) {
        char line[512] = "{\"method\":\"a\",\"params\":{\"x\":";
        ControlRequest request = { 0 };
        const char *code = NULL;
        size_t at = strlen(line);

        memset(line + at, '[', 30);
        memset(line + at + 30, ']', 30);
        strcpy(line + at + 60, "}}");
        cr_assert_eq(parse(line, &request, &code), 0);
        control_request_done(&request);
        memset(line + at, '[', 31);
        memset(line + at + 31, ']', 31);
        strcpy(line + at + 62, "}}");
        cr_assert_eq(parse(line, &request, &code), -EBADMSG);
        cr_assert_str_eq(code, "too_deep");
        cr_assert_eq(parse("{\"method\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"{{{{\"}", &request, &code), 0);
        control_request_done(&request);
}

Test(control_request, params_are_read_by_type) {
        const char *code = NULL, *text = "kept";
        ControlRequest request = { 0 };
        uint64_t number = 7;
        int64_t with_sign = 7;
        bool truth = true;

        cr_assert_eq(
                parse("{\"method\":\"a\",\"params\":{\"t\":\"x\",\"n\":5,\"m\":-5,\"b\":false,\"z\":null,\"f\":1.5}}",
                      &request, &code),
                0);
        cr_assert_eq(control_params_string(request.params, "t", &text), 1);
        cr_assert_str_eq(text, "x");
        cr_assert_eq(control_params_string(request.params, "n", &text), -EINVAL);
        cr_assert_eq(control_params_unsigned(request.params, "n", &number), 1);
        cr_assert_eq(number, 5);
        cr_assert_eq(control_params_unsigned(request.params, "m", &number), -EINVAL);
        cr_assert_eq(control_params_signed(request.params, "m", &with_sign), 1);
        cr_assert_eq(with_sign, -5);
        cr_assert_eq(control_params_signed(request.params, "f", &with_sign), -EINVAL);
        cr_assert_eq(control_params_bool(request.params, "b", &truth), 1);
        cr_assert_not(truth);
        cr_assert_eq(control_params_bool(request.params, "z", &truth), 0);
        cr_assert_eq(control_params_bool(request.params, "absent", &truth), 0);
        cr_assert_eq(control_params_bool(NULL, "b", &truth), 0);
        cr_assert_not(truth);
        control_request_done(&request);
}
