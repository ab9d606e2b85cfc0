/* verb_mark.c - `endwell mark`: an application tells that its own hook begins or ended. */
#include "base/names.h"
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/notifier.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct MarkOptions {
        ClientPlace place;
        const char *hook, *edge;
        bool has_rc;
        int rc;
} MarkOptions;

static const VerbUsage usage = {
        "mark",
        "usage: endwell mark HOOK begin|end [--rc N]\n"
        "Tells that a hook which the application runs itself begins or has ended, so that its order and number are "
        "judged.\n"
        "      --rc N         what the hook ended with (0 is success)\n" VERB_PLACE_USAGE,
};

static int take_rc(const char *text, void *into) {
        MarkOptions *ret = into;
        char *end;
        long rc = strtol(text, &end, 10);

        if (!text[0] || *end || rc < -255 || rc > 255)
                return verb_usage_refuse(&usage, "--rc wants a number from -255 to 255, not ", text);
        ret->rc = (int)rc;
        ret->has_rc = true;
        return 0;
}

static int read_words(char **words, int n, MarkOptions *ret) {
        if (n != 2)
                return verb_usage_refuse(&usage, "two words are wanted: HOOK, and begin or end", "");
        ret->hook = words[0];
        ret->edge = words[1];
        if (!name_is_valid(ret->hook))
                return verb_usage_refuse(&usage, "this is no name of a hook: ", ret->hook);
        if (strcmp(ret->edge, "begin") != 0 && strcmp(ret->edge, "end") != 0)
                return verb_usage_refuse(&usage, "the edge is begin or end, not ", ret->edge);
        return 0;
}

/* 0, -1 when there is nothing more to do, or the exit code. */
static int parse_options(int argc, char **argv, MarkOptions *ret) {
        const VerbOption options[] = { { "rc", .take = take_rc, .into = ret }, { NULL } };
        int first, code = verb_usage_read(&usage, argc, argv, options, &ret->place, &first);

        return code == 0 ? read_words(argv + first, argc - first, ret) : code;
}

static int mark_by_notify(const MarkOptions *options) {
        char text[160], rc[32] = "";

        if (options->has_rc)
                snprintf(rc, sizeof rc, "X_ENDWELL_RC=%d\n", options->rc);
        snprintf(text, sizeof text, "X_ENDWELL_HOOK=%s\nX_ENDWELL_EDGE=%s\n%s", options->hook, options->edge, rc);
        return notifier_send(usage.verb, text);
}

static int mark_by_control(const MarkOptions *options) {
        _cleanup_(client_freep) Client *client = NULL;
        int code = client_open(&options->place, &client);
        json_t *params =
                json_pack("{s:s,s:s,s:s}", "event", "hook_marked", "hook", options->hook, "edge", options->edge);

        if (params && options->has_rc)
                json_object_set_new(params, "rc", json_integer(options->rc));
        if (code == 0)
                return client_ask(client, "report", params, NULL);
        json_decref(params);
        return code;
}

/* Who says where endwell is means that one, not the supervisor of the shell he sits in. */
int verb_mark(int argc, char **argv) {
        MarkOptions options = { 0 };
        const char *notify = getenv("NOTIFY_SOCKET");
        int code = parse_options(argc, argv, &options);

        if (code != 0)
                return code < 0 ? EXIT_CLEAN : code;
        bool named = options.place.socket || options.place.config;
        return !named && notify && notify[0] ? mark_by_notify(&options) : mark_by_control(&options);
}
