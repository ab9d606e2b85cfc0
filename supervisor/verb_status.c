/* verb_status.c - `endwell status`: the state of everything, and during an ending what it waits for. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/status_text.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <string.h>

#define WATCH_MSEC 1000

typedef struct StatusOptions {
        ClientPlace place;
        bool json, all, watch;
} StatusOptions;

static const VerbUsage usage = {
        "status",
        "usage: endwell status [--all] [--watch] [--json]\n"
        "Shows the services, and during an ending what is being waited for and how long (marked * in the table).\n"
        "      --all          one line for every instance, however many are alike\n"
        "      --watch        again and again until endwell ends: in place on a terminal, else one after another\n"
        "      --json         for programs; times are spans in microseconds\n" VERB_PLACE_USAGE,
};

/* 0, -1 when there is nothing more to do, or the exit code. */
static int parse_options(int argc, char **argv, StatusOptions *ret) {
        const VerbOption options[] = {
                { "all", .flag = &ret->all },
                { "json", .flag = &ret->json },
                { "watch", .flag = &ret->watch },
                { NULL },
        };

        return verb_usage_read_all(&usage, argc, argv, options, &ret->place);
}

static void print(const StatusOptions *options, const json_t *status) {
        if (options->json) {
                json_dumpf(status, stdout, options->watch ? JSON_COMPACT : JSON_INDENT(2));
                putchar('\n');
        } else {
                status_text_write(status, (StatusTextStyle){ .all = options->all, .colour = verb_usage_colour() },
                                  stdout);
        }
}

static int show(const StatusOptions *options, Client *client) {
        json_t *status = NULL;
        int code = client_ask(client, "status", NULL, &status);

        if (code != 0)
                return code;
        print(options, status);
        json_decref(status);
        return verb_usage_flush(usage.verb);
}

/* Home, and what is behind the end of each line and below the last one is cleared: nothing flickers. */
static void print_in_place(const StatusOptions *options, const json_t *status) {
        _cleanup_(freep) char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        if (!out)
                return;
        status_text_write(status, (StatusTextStyle){ .all = options->all, .colour = verb_usage_colour() }, out);
        if (fclose(out) != 0)
                return;
        fputs("\033[H", stdout);
        for (const char *at = text, *end; *at; at = end + 1) {
                end = strchrnul(at, '\n');
                printf("%.*s\033[K\n", (int)(end - at), at);
                if (!*end)
                        break;
        }
        fputs("\033[J", stdout);
}

/* Until endwell ends: then its socket is gone, or says no more. */
static int watch(const StatusOptions *options, Client *client) {
        bool in_place = !options->json && verb_usage_terminal(), first = true;

        if (in_place)
                fputs("\033[2J", stdout);
        for (;;) {
                json_t *status = NULL;
                int code = client_try(client, "status", &status);

                if (code != 0 || !status)
                        return code;
                if (in_place)
                        print_in_place(options, status);
                else {
                        if (!first && !options->json)
                                putchar('\n');
                        print(options, status);
                }
                first = false;
                json_decref(status);
                code = verb_usage_flush(usage.verb);
                if (code != 0)
                        return code;
                /* Nothing comes but the end. */
                if (client_has_line_within(client, WATCH_MSEC))
                        return EXIT_CLEAN;
        }
}

int verb_status(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        StatusOptions options = { 0 };
        int code = parse_options(argc, argv, &options);

        if (code == 0)
                code = client_open(&options.place, &client);
        if (code == 0)
                code = options.watch ? watch(&options, client) : show(&options, client);
        return code < 0 ? EXIT_CLEAN : code;
}
