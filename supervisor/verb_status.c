/* verb_status.c - `endwell status`: the state of everything, and during an ending what it waits for. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/status_text.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>

typedef struct StatusOptions {
        ClientPlace place;
        bool json, all;
} StatusOptions;

static const VerbUsage usage = {
        "status",
        "usage: endwell status [--all] [--json]\n"
        "Shows the services, and during an ending what is being waited for and how long (marked * in the table).\n"
        "      --all          one line for every instance, however many are alike\n"
        "      --json         for programs; times are spans in microseconds\n" VERB_PLACE_USAGE,
};

/* 0, -1 when there is nothing more to do, or the exit code. */
static int parse_options(int argc, char **argv, StatusOptions *ret) {
        static const struct option options[] = {
                { "all", no_argument, NULL, 'a' },
                { "json", no_argument, NULL, 'j' },
                VERB_PLACE_OPTIONS,
                { 0 },
        };
        int option, code = 0;

        verb_usage_begin();
        while (code == 0 && (option = getopt_long(argc, argv, VERB_SHORT_OPTIONS, options, NULL)) != -1)
                switch (option) {
                case 'a': ret->all = true; break;
                case 'j': ret->json = true; break;
                default: code = verb_usage_option(&usage, option, argv, &ret->place); break;
                }
        if (code == 0 && optind < argc)
                code = verb_usage_refuse(&usage, "a word too many: ", argv[optind]);
        ret->place.verb = usage.verb;
        return code;
}

static int show(const StatusOptions *options, Client *client) {
        json_t *status = NULL;
        int code = client_ask(client, "status", NULL, &status);

        if (code != 0)
                return code;
        if (options->json) {
                json_dumpf(status, stdout, JSON_INDENT(2));
                putchar('\n');
        } else {
                status_text_write(status, (StatusTextStyle){ .all = options->all, .colour = verb_usage_colour() },
                                  stdout);
        }
        json_decref(status);
        return verb_usage_flush(usage.verb);
}

int verb_status(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        StatusOptions options = { 0 };
        int code = parse_options(argc, argv, &options);

        if (code == 0)
                code = client_open(&options.place, &client);
        if (code == 0)
                code = show(&options, client);
        return code < 0 ? EXIT_CLEAN : code;
}
