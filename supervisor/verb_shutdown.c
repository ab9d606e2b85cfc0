/* verb_shutdown.c - `endwell shutdown`: asks for the ending and shows it to its end. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ShutdownOptions {
        ClientPlace place;
        bool now, no_wait;
} ShutdownOptions;

static const VerbUsage usage = {
        "shutdown",
        "usage: endwell shutdown [--now] [--no-wait]\n"
        "Begins the ending, as SIGTERM does, and waits until it is over. A second one changes nothing and waits too.\n"
        "      --now          fast: phase order kept, but no drain and no delay; what lives after 1 s is killed\n"
        "      --no-wait      do not wait; in a hook it never does, as the ending waits for the "
        "hook\n" VERB_PLACE_USAGE,
};

/* 0, -1 when there is nothing more to do, or the exit code. */
static int parse_options(int argc, char **argv, ShutdownOptions *ret) {
        const VerbOption options[] = {
                { "now", .flag = &ret->now },
                { "no-wait", .flag = &ret->no_wait },
                { NULL },
        };

        return verb_usage_read_all(&usage, argc, argv, options, &ret->place);
}

static bool is_progress(const char *event) {
        static const char *const shown[] = {
                "ending_started", "phase_finished",   "drain_progress", "service_killed",
                "service_left",   "descendants_left", "hook_finished",  "ending_finished"
        };

        for (size_t i = 0; event && i < LENGTH_OF(shown); i++)
                if (strcmp(event, shown[i]) == 0)
                        return true;
        return false;
}

/* True when it was the last one. */
static bool show_event(const Client *client, const ClientLine *line) {
        const char *kind = json_string_value(json_object_get(line->value, "event"));
        char text[SENTENCE_MAX];

        if (is_progress(kind))
                puts(client_sentence(client, line, text, NULL));
        fflush(stdout);
        return kind && strcmp(kind, "ending_finished") == 0;
}

/* A connection that ends before the last event means that endwell itself did not come to the end of its ending. */
static int wait_for_end(Client *client) {
        for (bool last = false; !last;) {
                ClientLine line;
                int code = client_read(client, -1, &line);

                if (code != 0)
                        return code;
                if (!line.value) {
                        fprintf(stderr, "endwell shutdown: the connection ended before the ending was over\n");
                        return EXIT_NOT_RUNNING;
                }
                if (client_is_answer(line.value))
                        code = client_check_answer(client, line.value);
                else
                        last = show_event(client, &line);
                json_decref(line.value);
                if (code != 0)
                        return code;
        }
        return 0;
}

/* Subscribed before the request is sent, so that an ending of a millisecond is not missed. */
static int shut_down(const ShutdownOptions *options, Client *client) {
        json_t *params = json_pack("{s:b}", "now", options->now);

        /* A hook of the very ending would wait for itself. */
        if (options->no_wait || getenv("ENDWELL_HOOK"))
                return client_ask(client, "shutdown", params, NULL);
        int code = client_learn_instances(client);
        if (code == 0)
                code = client_ask(client, "subscribe", NULL, NULL);
        if (code != 0) {
                json_decref(params);
                return code;
        }
        code = client_send(client, "shutdown", params);
        return code != 0 ? code : wait_for_end(client);
}

int verb_shutdown(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        ShutdownOptions options = { 0 };
        int code = parse_options(argc, argv, &options);

        if (code == 0)
                code = client_open(&options.place, &client);
        if (code == 0)
                code = shut_down(&options, client);
        return code < 0 ? EXIT_CLEAN : code;
}
