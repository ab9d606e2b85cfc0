/* verb_events.c - `endwell events`: the journal of the running endwell, for people or for programs. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct EventsOptions {
        ClientPlace place;
        bool follow, json, colour;
        uint64_t since;
} EventsOptions;

static const VerbUsage usage = {
        "events",
        "usage: endwell events [--follow] [--since SEQ] [--json]\n"
        "Prints the events that the running endwell keeps, the oldest first.\n"
        "  -f, --follow       go on as they happen, until endwell ends\n"
        "      --since SEQ    only those after the event with this number\n"
        "      --json         the journal's lines as they are, for programs\n" VERB_PLACE_USAGE,
};

static int take_since(const char *word, void *into) {
        return verb_usage_number(&usage, word, "--since wants the number of an event, not ", 0, INT64_MAX, into);
}

/* 0, -1 when there is nothing more to do, or the exit code. */
static int parse_options(int argc, char **argv, EventsOptions *ret) {
        const VerbOption options[] = {
                { "follow", 'f', .flag = &ret->follow },
                { "json", .flag = &ret->json },
                { "since", .take = take_since, .into = &ret->since },
                { NULL },
        };

        ret->colour = verb_usage_colour();
        return verb_usage_read_all(&usage, argc, argv, options, &ret->place);
}

/* "2026-11-30 20:14:00.123" of "2026-11-30T20:14:00.123456Z"; a time of another shape is printed as it is. */
static void print_time(const json_t *event) {
        const char *time = json_string_value(json_object_get(event, "time"));

        if (time && strlen(time) >= 23 && time[10] == 'T')
                printf("%.10s %.12s", time, time + 11);
        else
                fputs(time ? time : "-", stdout);
}

static void print_for_people(const EventsOptions *options, const Client *client, const ClientLine *line) {
        static const char *const colours[] = {
                [LOG_LEVEL_ERR] = "\033[31m", [LOG_LEVEL_WARNING] = "\033[33m", [LOG_LEVEL_NOTICE] = "\033[1m",
                [LOG_LEVEL_INFO] = "",        [LOG_LEVEL_DEBUG] = "",
        };
        char text[SENTENCE_MAX];
        LogLevel level;

        client_sentence(client, line, text, &level);
        fputs(options->colour ? "\033[2m" : "", stdout);
        print_time(line->value);
        fputs(options->colour ? "\033[0m" : "", stdout);
        printf("  %s%s%s\n", options->colour ? colours[level] : "", text, options->colour ? "\033[0m" : "");
}

/* Events that nobody keeps any more are named: who reads on must know that he did not see all. */
static void tell_gap(uint64_t expected, uint64_t seq) {
        if (seq <= expected)
                return;
        fflush(stdout);
        if (seq == expected + 1)
                fprintf(stderr, "endwell events: event %" PRIu64 " is no longer kept\n", expected);
        else
                fprintf(stderr, "endwell events: events %" PRIu64 " to %" PRIu64 " are no longer kept\n", expected,
                        seq - 1);
}

/* Prints lines until `last` was seen, or until the end. */
static int print_events(const EventsOptions *options, Client *client, uint64_t since, uint64_t last) {
        for (uint64_t seq = since; seq < last;) {
                ClientLine line;
                int code = client_read(client, -1, &line);

                if (code != 0 || !line.value)
                        return code;
                uint64_t next = (uint64_t)json_integer_value(json_object_get(line.value, "seq"));
                tell_gap(seq + 1, next);
                if (options->json)
                        puts(line.text);
                else
                        print_for_people(options, client, &line);
                json_decref(line.value);
                if (options->follow && (code = verb_usage_flush(usage.verb)) != 0)
                        return code;
                seq = next;
        }
        return 0;
}

static int show(const EventsOptions *options, Client *client) {
        json_t *result = NULL;
        json_t *params = json_pack("{s:I}", "since", (json_int_t)options->since);
        int code = options->json ? 0 : client_learn_instances(client);

        if (code == 0)
                code = client_ask(client, "subscribe", params, &result);
        else
                json_decref(params);
        if (code != 0)
                return code;
        uint64_t since = (uint64_t)json_integer_value(json_object_get(result, "since"));
        uint64_t newest = (uint64_t)json_integer_value(json_object_get(result, "newest"));
        json_decref(result);
        code = print_events(options, client, since, options->follow ? UINT64_MAX : newest);
        return code != 0 ? code : verb_usage_flush(usage.verb);
}

int verb_events(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        EventsOptions options = { 0 };
        int code = parse_options(argc, argv, &options);

        if (code == 0)
                code = client_open(&options.place, &client);
        if (code == 0)
                code = show(&options, client);
        return code < 0 ? EXIT_CLEAN : code;
}
