/* verb_hook.c - `endwell hook run`: runs a hook now, and gives its answer; or the answer of its first run. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct HookOptions {
        ClientPlace place;
        const char *hook;
        bool json, no_wait;
} HookOptions;

static const VerbUsage usage = {
        "hook",
        "usage: endwell hook run NAME[@N] [--no-wait] [--json]\n"
        "Runs a hook now, for each instance of its service that runs, and waits for it. A hook runs once an epoch and "
        "run:\n"
        "if it did already, its answer of then is given, and marked so; if it runs now, this is that run. Exits with "
        "0\n"
        "when all of them succeeded, else with 1.\n"
        "      --no-wait      do not wait\n"
        "      --json         what became of each, for programs\n" VERB_PLACE_USAGE,
};

static int parse_options(int argc, char **argv, HookOptions *ret) {
        const VerbOption options[] = {
                { "no-wait", .flag = &ret->no_wait },
                { "json", .flag = &ret->json },
                { NULL },
        };
        int first, code = verb_usage_read(&usage, argc, argv, options, &ret->place, &first);

        if (code == 0 && (argc - first != 2 || strcmp(argv[first], "run") != 0))
                code = verb_usage_refuse(&usage, "this must be `run` and the name of a hook", "");
        if (code == 0)
                ret->hook = argv[first + 1];
        return code;
}

static const char *text(const json_t *object, const char *key) {
        const char *value = json_string_value(json_object_get(object, key));

        return value ? value : "";
}

static json_int_t integer(const json_t *object, const char *key) {
        return json_integer_value(json_object_get(object, key));
}

/* The run of `runs` that this event ends; NULL. */
static json_t *find(const json_t *runs, const json_t *event, json_int_t seq) {
        json_t *run;
        size_t i;

        if (strcmp(text(event, "event"), "hook_finished") != 0 || integer(event, "seq") <= seq)
                return NULL;
        json_array_foreach(runs, i, run) if (!json_object_get(run, "status") &&
                                             strcmp(text(run, "hook"), text(event, "hook")) == 0 &&
                                             strcmp(text(run, "service"), text(event, "service")) == 0 &&
                                             integer(run, "instance") == integer(event, "instance")) return run;
        return NULL;
}

static void finish(json_t *run, const json_t *event) {
        int status = (int)integer(event, "status");

        if (strcmp(text(event, "code"), "exited") != 0)
                status += 128;
        else if (json_is_true(json_object_get(event, "timed_out")) && status == 0)
                status = 124;
        (void)json_object_set_new(run, "status", json_integer(status));
        if (json_is_true(json_object_get(event, "timed_out")))
                (void)json_object_set_new(run, "timed_out", json_true());
}

static size_t count_left(const json_t *runs) {
        size_t i, n = 0;
        json_t *run;

        json_array_foreach(runs, i, run) n += !json_object_get(run, "status");
        return n;
}

static int wait_for_all(Client *client, const json_t *runs, json_int_t seq) {
        while (count_left(runs) > 0) {
                ClientLine line;
                int code = client_read(client, -1, &line);

                if (code != 0)
                        return code;
                if (!line.value) {
                        fprintf(stderr, "endwell hook: endwell ended before the hook did\n");
                        return CLIENT_REFUSED;
                }
                json_t *run = find(runs, line.value, seq);
                if (run)
                        finish(run, line.value);
                json_decref(line.value);
        }
        return 0;
}

static void print_run(const json_t *run) {
        static const char *const came[] = { "", ", which had begun already",
                                            ": it ran in this epoch already, and this is "
                                            "the answer of then" };
        size_t which = strcmp(text(run, "state"), "runs") == 0 ? 1 : strcmp(text(run, "state"), "ran") == 0 ? 2 : 0;

        printf("hook %s", text(run, "hook"));
        if (text(run, "service")[0] && integer(run, "instances") == 1)
                printf(" of %s", text(run, "service"));
        else if (text(run, "service")[0])
                printf(" of %s@%d", text(run, "service"), (int)integer(run, "instance"));
        if (json_object_get(run, "status"))
                printf(": exit %d%s%s\n", (int)integer(run, "status"),
                       json_is_true(json_object_get(run, "timed_out")) ? ", cut at its limit" : "", came[which]);
        else
                printf(" runs%s\n", came[which]);
}

static int report(const HookOptions *options, const json_t *runs) {
        size_t i;
        json_t *run;
        int code = EXIT_CLEAN;

        json_array_foreach(runs, i, run) {
                if (integer(run, "status") != 0)
                        code = CLIENT_REFUSED;
                if (!options->json)
                        print_run(run);
        }
        if (options->json) {
                json_dumpf(runs, stdout, JSON_INDENT(2));
                putchar('\n');
        }
        int flushed = verb_usage_flush(usage.verb);
        return flushed != 0 ? flushed : code;
}

static int run_hook(const HookOptions *options, Client *client) {
        json_t *result = NULL;
        /* A hook that waits for itself would wait for ever. */
        bool waits = !options->no_wait && !getenv("ENDWELL_HOOK");
        int code = waits ? client_ask(client, "subscribe", NULL, NULL) : 0;

        if (code == 0)
                code = client_ask(client, "hook_run", json_pack("{s:s}", "hook", options->hook), &result);
        if (code != 0)
                return code;
        const json_t *runs = json_object_get(result, "runs");
        if (waits)
                code = wait_for_all(client, runs, integer(result, "seq"));
        if (code == 0)
                code = report(options, runs);
        json_decref(result);
        return code;
}

int verb_hook(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        HookOptions options = { 0 };
        int code = parse_options(argc, argv, &options);

        if (code == 0)
                code = client_open(&options.place, &client);
        if (code == 0)
                code = run_hook(&options, client);
        return code < 0 ? EXIT_CLEAN : code;
}
