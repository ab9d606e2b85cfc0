/* test_job.c - what the command of a job is told. */
#include "base/take.h"
#include "worker/job.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static Job job(void) {
        return (Job){ .key = { .id = 7, .generation = 3, .claim = "0f8fad5b-d9cb-469f-a165-70867728950e" },
                      .attempt = 2,
                      .max_attempts = 5,
                      .kind = (char *)"speech \"x\"",
                      .payload = (char *)"{\"a\":\n 1.0}",
                      .progress = NULL };
}

Test(job, its_copy_is_its_own) {
        Job from = job(), copy;
        cr_assert_eq(job_init(&copy, &from), 0);
        cr_expect_str_eq(copy.payload, from.payload);
        cr_expect_neq(copy.payload, from.payload);
        cr_expect_null(copy.progress);
        job_done(&copy);
        cr_expect_null(copy.payload);
}

Test(job, the_environment_has_what_hold_and_item_begin_need) {
        Job one = job();
        char words[1024];
        int n = job_environment(&one, "owner", "@socket", "/proc/1/fd/9", words, sizeof words);
        cr_expect_eq(n, (int)strlen(words));
        cr_expect_str_eq(words, "ENDWELL_JOB_ID=7\nENDWELL_GENERATION=3\n"
                                "ENDWELL_CLAIM_ID=0f8fad5b-d9cb-469f-a165-70867728950e\nENDWELL_ATTEMPT=2\n"
                                "ENDWELL_MAX_ATTEMPTS=5\nENDWELL_OWNER=owner\nNOTIFY_SOCKET=@socket\n"
                                "ENDWELL_PAYLOAD_FILE=/proc/1/fd/9\n");
        job_environment(&one, "owner", "@socket", "", words, sizeof words);
        cr_expect_not_null(strstr(words, "\nENDWELL_PAYLOAD_FILE\n"), "a word without = takes it away");
        cr_expect_eq(job_environment(&one, "owner", "@socket", "", words, 100), -E2BIG);
}

Test(job, a_stream_gets_it_as_one_line) {
        _cleanup_(freep) char *line = NULL;
        Job one = job();
        size_t length;
        cr_assert_eq(job_line(&one, &line, &length), 0);
        cr_expect_eq(length, strlen(line));
        cr_expect_str_eq(line, "{\"id\":7,\"generation\":3,\"claim_id\":\"0f8fad5b-d9cb-469f-a165-70867728950e\","
                               "\"attempt\":2,\"max_attempts\":5,\"kind\":\"speech \\\"x\\\"\","
                               "\"payload\":{\"a\":  1.0},\"progress\":null}\n");
}

Test(job, no_kind_is_too_long_and_no_payload_either) {
        static char kind[4001], payload[100001];
        _cleanup_(freep) char *line = NULL;
        Job one = job();
        size_t length;
        memset(kind, '\x01', sizeof kind - 1);
        memset(payload, '1', sizeof payload - 1);
        one.kind = kind;
        one.payload = payload;
        cr_assert_eq(job_line(&one, &line, &length), 0);
        cr_expect_gt(length, 124000UL);
        cr_expect_str_eq(line + length - strlen("1,\"progress\":null}\n"), "1,\"progress\":null}\n");
}
