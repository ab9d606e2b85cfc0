/* verb_wait.c - `endwell wait`: waits until everything is ready. */
#include "base/clock.h"
#include "base/duration.h"
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct WaitOptions {
        ClientPlace place;
        bool ready;
        usec_t timeout_usec;
} WaitOptions;

#define DEFAULT_USEC (60 * USEC_PER_SEC)

static const VerbUsage usage = {
        "wait",
        "usage: endwell wait --ready [--timeout TIME]\n"
        "Waits until everything is ready. Exits with 1 when it is not in time, or when the ending begins.\n"
        "      --ready        what is waited for: that everything is ready\n"
        "      --timeout TIME at most so long (60s; infinity is allowed)\n" VERB_PLACE_USAGE,
};

static int take_timeout(const char *text, void *into) {
        return duration_parse(text, into) < 0 ? verb_usage_refuse(&usage, "--timeout wants a time, not ", text) : 0;
}

static int parse_options(int argc, char **argv, WaitOptions *ret) {
        const VerbOption options[] = {
                { "ready", .flag = &ret->ready },
                { "timeout", .take = take_timeout, .into = &ret->timeout_usec },
                { NULL },
        };
        int code = verb_usage_read_all(&usage, argc, argv, options, &ret->place);

        if (code == 0 && !ret->ready)
                code = verb_usage_refuse(&usage, "what for? ", "--ready is all that can be waited for");
        return code;
}

static int left_msec(usec_t until) {
        usec_t left = usec_sub(until, clock_now_usec()) / USEC_PER_MSEC;
        return until == USEC_INFINITY ? -1 : left > INT_MAX - 1 ? INT_MAX : (int)left + 1;
}

/* 0 not yet, 1 ready, -1 never. */
static int judge(const json_t *event) {
        const char *kind = json_string_value(json_object_get(event, "event"));

        if (kind && strcmp(kind, "readiness_changed") == 0 && json_is_true(json_object_get(event, "ready")))
                return 1;
        return kind && strcmp(kind, "ending_started") == 0 ? -1 : 0;
}

static int say_never(void) {
        fprintf(stderr, "endwell wait: the ending has begun, so nothing will be ready any more\n");
        return CLIENT_REFUSED;
}

static int wait_for_events(const WaitOptions *options, Client *client) {
        usec_t until = usec_add(clock_now_usec(), options->timeout_usec);

        for (;;) {
                ClientLine line;
                char text[DURATION_TEXT_MAX];

                if (!client_has_line_within(client, left_msec(until)) ||
                    (until != USEC_INFINITY && clock_now_usec() > until)) {
                        fprintf(stderr,
                                "endwell wait: not everything was ready within %s; `endwell status` tells who\n",
                                duration_format(options->timeout_usec, text));
                        return CLIENT_REFUSED;
                }
                int code = client_read(client, -1, &line);
                if (code != 0)
                        return code;
                int answer = line.value ? judge(line.value) : -1;
                json_decref(line.value);
                if (answer != 0)
                        return answer > 0 ? EXIT_CLEAN : say_never();
        }
}

/* Subscribed before it is asked how things are, so that no change is missed between. */
static int wait_until_ready(const WaitOptions *options, Client *client) {
        json_t *status = NULL;
        int code = client_ask(client, "subscribe", NULL, NULL);

        if (code == 0)
                code = client_ask(client, "status", NULL, &status);
        if (code != 0)
                return code;
        bool ready = json_is_true(json_object_get(status, "ready"));
        bool ending = json_is_true(json_object_get(status, "ending"));
        json_decref(status);
        if (ready)
                return EXIT_CLEAN;
        return ending ? say_never() : wait_for_events(options, client);
}

int verb_wait(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        WaitOptions options = { .timeout_usec = DEFAULT_USEC };
        int code = parse_options(argc, argv, &options);

        if (code == 0)
                code = client_open(&options.place, &client);
        if (code == 0)
                code = wait_until_ready(&options, client);
        return code < 0 ? EXIT_CLEAN : code;
}
