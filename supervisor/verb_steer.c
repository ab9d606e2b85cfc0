/* verb_steer.c - `endwell start`, `stop` and `restart`: asks for it and shows how it ends. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct SteerOptions {
        ClientPlace place;
        bool no_wait, json;
        int first; /* of the words that name services */
} SteerOptions;

#define COMMON_USAGE                                                                                                   \
        "      --no-wait      do not wait; in a hook it never does, as the service may wait for the hook\n"            \
        "      --json         what became of each, for programs\n" VERB_PLACE_USAGE

static const VerbUsage usages[] = {
        { "start",
          "usage: endwell start SERVICE[@N]... [--no-wait] [--json]\n"
          "Starts services, and what they require, in the order of a start, and waits until they are ready. "
          "A service\n"
          "that had failed for good begins with a fresh count. What runs already is left alone.\n" COMMON_USAGE },
        { "stop", "usage: endwell stop SERVICE[@N]... [--no-wait] [--json]\n"
                  "Stops services, and those who require them, in the order of an ending, and waits until they are "
                  "gone. They\n"
                  "stay stopped until `endwell start`.\n" COMMON_USAGE },
        { "restart",
          "usage: endwell restart SERVICE[@N]... [--no-wait] [--json]\n"
          "Stops services, and those who require them, in the order of an ending, starts them in the order of "
          "a start,\n"
          "and waits until they are ready. Sockets of Listen= stay open meanwhile.\n" COMMON_USAGE },
};

static const VerbUsage *usage_of(const char *verb) {
        for (size_t i = 0; i < LENGTH_OF(usages); i++)
                if (strcmp(usages[i].verb, verb) == 0)
                        return &usages[i];
        return &usages[0];
}

/* 0, -1 when there is nothing more to do, or the exit code. */
static int parse_options(int argc, char **argv, SteerOptions *ret) {
        const VerbOption options[] = {
                { "no-wait", .flag = &ret->no_wait },
                { "json", .flag = &ret->json },
                { NULL },
        };
        const VerbUsage *usage = usage_of(argv[0]);
        int code = verb_usage_read(usage, argc, argv, options, &ret->place, &ret->first);

        return code == 0 && ret->first == argc ? verb_usage_refuse(usage, "which service? ", "none is named") : code;
}

/* ---- What became of each ---- */

typedef struct Waiting {
        const SteerOptions *options;
        Client *client;
        json_t *reached; /* the answer's; each gets a "result" once that is known */
        json_int_t seq;  /* of the request: what comes before it is of the past */
        size_t left;
} Waiting;

static const char *text(const json_t *object, const char *key) {
        const char *value = json_string_value(json_object_get(object, key));

        return value ? value : "";
}

static json_t *find(const Waiting *waiting, const json_t *event) {
        json_int_t instance = json_integer_value(json_object_get(event, "instance"));
        json_t *member;
        size_t i;

        json_array_foreach(waiting->reached, i,
                           member) if (json_integer_value(json_object_get(member, "instance")) == instance &&
                                       strcmp(text(member, "service"), text(event, "service")) == 0) return member;
        return NULL;
}

static void settle(Waiting *waiting, json_t *member, const char *result) {
        if (json_object_get(member, "result"))
                return;
        (void)json_object_set_new(member, "result", json_string(result));
        waiting->left--;
}

static void settle_all(Waiting *waiting, const char *result) {
        json_t *member;
        size_t i;

        json_array_foreach(waiting->reached, i, member) settle(waiting, member, result);
}

/* Of a restart only the run that comes counts: the one that goes may become ready yet. */
static void on_event(Waiting *waiting, json_t *member, const char *event, const json_t *line) {
        bool comes = strcmp(text(member, "effect"), "comes") == 0;

        if (strcmp(event, "service_starting") == 0)
                (void)json_object_set_new(member, "begun", json_true());
        else if (strcmp(event, "service_ready") == 0 && strcmp(text(member, "effect"), "goes") != 0 &&
                 (!comes || json_object_get(member, "begun")))
                settle(waiting, member, "ready");
        else if (strcmp(event, "service_stopped") == 0)
                settle(waiting, member, "stopped");
        else if (strcmp(event, "service_left") == 0 && strcmp(text(line, "reason"), "outlived SIGKILL") == 0)
                settle(waiting, member, "left");
        else if (strcmp(event, "service_gave_up") == 0)
                settle(waiting, member, "failed");
}

static bool is_shown(const char *event) {
        static const char *const shown[] = { "service_asked",  "service_killed",  "service_ready",
                                             "service_exited", "service_left",    "service_restart_scheduled",
                                             "hook_finished",  "service_stopped", "service_gave_up" };

        for (size_t i = 0; i < LENGTH_OF(shown); i++)
                if (strcmp(event, shown[i]) == 0)
                        return true;
        return false;
}

static void take_event(Waiting *waiting, const ClientLine *line) {
        const char *event = text(line->value, "event");
        char sentence[SENTENCE_MAX];

        if (json_integer_value(json_object_get(line->value, "seq")) <= waiting->seq)
                return;
        if (strcmp(event, "ending_started") == 0)
                settle_all(waiting, "ending");
        json_t *member = find(waiting, line->value);
        if (!member)
                return;
        if (!waiting->options->json && is_shown(event)) {
                puts(client_sentence(waiting->client, line, sentence, NULL));
                fflush(stdout);
        }
        on_event(waiting, member, event, line->value);
}

static int wait_for_all(Waiting *waiting) {
        while (waiting->left > 0) {
                ClientLine line;
                int code = client_read(waiting->client, -1, &line);

                if (code != 0)
                        return code;
                if (!line.value) {
                        settle_all(waiting, "ending");
                        return 0;
                }
                take_event(waiting, &line);
                json_decref(line.value);
        }
        return 0;
}

/* Down is down, whatever it is called. */
static bool is_as_wanted(const json_t *member) {
        const char *result = text(member, "result");

        if (strcmp(text(member, "effect"), "goes") == 0)
                return strcmp(result, "stopped") == 0 || strcmp(result, "failed") == 0;
        return strcmp(result, "ready") == 0;
}

static void say_miss(const Waiting *waiting, const json_t *member) {
        const char *result = text(member, "result");
        bool alone = json_integer_value(json_object_get(member, "instances")) == 1;
        char name[64];

        snprintf(name, sizeof name, alone ? "%.40s" : "%.40s@%d", text(member, "service"),
                 (int)json_integer_value(json_object_get(member, "instance")));
        fprintf(stderr, "endwell %s: %s %s\n", waiting->options->place.verb, name,
                strcmp(result, "ending") == 0    ? "was overtaken by the ending"
                : strcmp(result, "stopped") == 0 ? "was stopped meanwhile by somebody else"
                : strcmp(result, "ready") == 0   ? "was started meanwhile by somebody else"
                : strcmp(result, "left") == 0    ? "cannot be killed: something of it outlived SIGKILL"
                                                 : "failed for good");
}

static int report(const Waiting *waiting) {
        json_t *member;
        size_t i;
        int code = EXIT_CLEAN;

        json_array_foreach(waiting->reached, i, member) {
                (void)json_object_del(member, "begun");
                if (!json_object_get(member, "result") || is_as_wanted(member))
                        continue;
                code = CLIENT_REFUSED;
                say_miss(waiting, member);
        }
        if (waiting->options->json) {
                json_dumpf(waiting->reached, stdout, JSON_INDENT(2));
                putchar('\n');
        } else if (json_array_size(waiting->reached) == 0) {
                printf("nothing to do: that is how it is already\n");
        }
        int flushed = verb_usage_flush(waiting->options->place.verb);
        return flushed != 0 ? flushed : code;
}

static int steer(const SteerOptions *options, Client *client, json_t *params) {
        json_t *result = NULL;
        /* A hook of the very service would wait for itself. */
        bool waits = !options->no_wait && !getenv("ENDWELL_HOOK");
        int code = waits ? client_learn_instances(client) : 0;

        if (code == 0 && waits)
                code = client_ask(client, "subscribe", NULL, NULL);
        if (code != 0) {
                json_decref(params);
                return code;
        }
        code = client_ask(client, options->place.verb, params, &result);
        if (code != 0)
                return code;
        Waiting waiting = { .options = options,
                            .client = client,
                            .reached = json_object_get(result, "reached"),
                            .seq = json_integer_value(json_object_get(result, "seq")) };
        waiting.left = json_array_size(waiting.reached);
        json_t *member;
        size_t i;
        json_array_foreach(waiting.reached, i, member) if (strcmp(text(member, "effect"), "stays") == 0)
                settle(&waiting, member, "ready");
        if (waits)
                code = wait_for_all(&waiting);
        if (code == 0)
                code = report(&waiting);
        json_decref(result);
        return code;
}

int verb_steer(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        SteerOptions options = { 0 };
        int code = parse_options(argc, argv, &options);

        if (code == 0)
                code = client_open(&options.place, &client);
        if (code != 0)
                return code < 0 ? EXIT_CLEAN : code;
        json_t *services = json_array();
        for (int i = options.first; i < argc; i++)
                (void)json_array_append_new(services, json_string(argv[i]));
        return steer(&options, client, json_pack("{s:o}", "services", services));
}
