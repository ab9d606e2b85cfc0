/* test_sink_requests.c - what counts of the requests that came, and how often. */
#include "base/take.h"
#include "verify/sink_requests.h"
#include <criterion/criterion.h>
#include <string.h>

static void add(Requests *requests, const char *method, const char *url, const char *key, const char *body) {
        cr_assert_eq(sink_requests_add(requests, method, url, "h:1", key, body, strlen(body)), 0);
}

static void expect(const Requests *requests, const char *const *lines, size_t n) {
        cr_assert_eq(requests->n_lines, n);
        for (size_t i = 0; i < n; i++)
                cr_expect_str_eq(requests->lines[i], lines[i]);
}

Test(sink_requests, a_post_counts_as_often_as_it_comes_and_a_keyed_one_once) {
        Requests requests = { 0 };

        add(&requests, "POST", "/a", NULL, "x=1");
        add(&requests, "POST", "/a", NULL, "x=1");
        add(&requests, "POST", "/a", "k", "x=1");
        add(&requests, "POST", "/a", "k", "x=1");
        add(&requests, "POST", "/a", "l", "x=1");
        expect(&requests,
               (const char *const[]){ "POST h:1/a key=k x=1", "POST h:1/a key=l x=1", "POST h:1/a x=1",
                                      "POST h:1/a x=1" },
               4);
        cr_expect_eq(requests.seen, 5);
        sink_requests_done(&requests);
}

Test(sink_requests, put_and_delete_and_what_is_refused_count_once) {
        Requests requests = { 0 };

        for (int i = 0; i < 3; i++) {
                add(&requests, "PUT", "/a", NULL, "b");
                add(&requests, "DELETE", "/a", NULL, "");
                add(&requests, "CONNECT", "x:443", NULL, "");
        }
        add(&requests, "PUT", "/a", NULL, "another");
        expect(&requests,
               (const char *const[]){ "CONNECT h:1x:443", "DELETE h:1/a", "PUT h:1/a another", "PUT h:1/a b" }, 4);
        cr_expect_eq(requests.seen, 10);
        sink_requests_done(&requests);
}

Test(sink_requests, reading_does_not_count) {
        static const char *const methods[] = { "GET", "HEAD", "OPTIONS" };
        Requests requests = { 0 };

        for (size_t i = 0; i < LENGTH_OF(methods); i++)
                add(&requests, methods[i], "/a", NULL, "");
        expect(&requests, NULL, 0);
        cr_expect_eq(requests.seen, 0);
        sink_requests_done(&requests);
}

Test(sink_requests, the_absolute_form_of_a_proxy_names_the_host_and_bodies_stay_one_line) {
        Requests requests = { 0 };

        cr_assert_eq(sink_requests_add(&requests, "POST", "http://api.example/v1?q", "ignored", NULL, "a\nb\0c", 5), 0);
        cr_assert_eq(sink_requests_add(&requests, "POST", "http://api.example", NULL, NULL, "", 0), 0);
        expect(&requests, (const char *const[]){ "POST api.example/", "POST api.example/v1?q a\\nb\\x00c" }, 2);
        sink_requests_done(&requests);
}
