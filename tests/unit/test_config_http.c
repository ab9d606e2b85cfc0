/* test_config_http.c - the requests of Http hooks, and that nothing of a bad one is said. */
#include "base/take.h"
#include "supervisor/config_http.h"
#include <criterion/criterion.h>
#include <string.h>

Test(config_http, a_method_and_a_url_in_its_one_form) {
        static const char *const rows[][3] = {
                { "POST http://balancer/drain", "POST", "http://balancer:80/drain" },
                { "  DELETE\thttps://[0::1]:8443?x=1 ", "DELETE", "https://[::1]:8443/?x=1" },
                { "GET 'http://127.0.0.1/a'", "GET", "http://127.0.0.1:80/a" },
                { "PUT https://a.example", "PUT", "https://a.example:443/" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                _cleanup_(freep) char *method = NULL;
                _cleanup_(freep) char *url = NULL;
                Problem problem = { "" };
                cr_assert_eq(http_parse(rows[i][0], &method, &url, &problem), 0, "%s", problem.text);
                cr_expect_str_eq(method, rows[i][1]);
                cr_expect_str_eq(url, rows[i][2]);
        }
}

Test(config_http, bad_ones_are_told_what_would_be_right_without_their_url) {
        static const char *const rows[][2] = {
                { "", "begins with no method of HTTP" },
                { "http://host/s3cret", "begins with no method of HTTP" },
                { "POTS http://host/s3cret", "(did you mean POST?)" },
                { "post http://host/s3cret", "(did you mean POST?)" },
                { "POST", "the URL is missing" },
                { "POST http://host/ s3cret", "only a method and a URL" },
                { "POST host/s3cret", "http:// or https://" },
                { "POST http://app:s3cret@host/", "a user or a password" },
                { "POST 'http://host/s3cret x'", "write it as %XX" },
                { "POST \"http://host/s3cret", "quote" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char *method = NULL, *url = NULL;
                Problem problem = { "" };
                cr_expect_eq(http_parse(rows[i][0], &method, &url, &problem), -EINVAL, "%s was taken", rows[i][0]);
                cr_expect_not_null(strstr(problem.text, rows[i][1]), "%s: %s", rows[i][0], problem.text);
                cr_expect_null(strstr(problem.text, "s3cret"), "%s", problem.text);
                cr_expect(!method && !url);
        }
}
