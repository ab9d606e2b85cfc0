/* verb_signal.c - `endwell signal`: sends a signal to the main process of a service. */
#include "base/names.h"
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>

static const VerbUsage usage = {
        "signal",
        "usage: endwell signal SERVICE[@N] SIGNAL\n"
        "Sends a signal to the main process of a service, of each instance without @N: HUP, SIGUSR1, 15. Nothing "
        "else\n"
        "changes: who ends of it has ended by itself, and is restarted by its rules.\n" VERB_PLACE_USAGE,
};

int verb_signal(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        ClientPlace place = { 0 };
        json_t *result = NULL;
        int first, code = verb_usage_read(&usage, argc, argv, NULL, &place, &first);

        if (code == 0 && argc - first != 2)
                code = verb_usage_refuse(&usage, "a service and a signal must be named", "");
        if (code == 0 && signal_from_string(argv[first + 1]) <= 0)
                code = verb_usage_refuse(&usage, "this is no signal: ", argv[first + 1]);
        if (code == 0)
                code = client_open(&place, &client);
        if (code == 0)
                code = client_ask(client, "signal",
                                  json_pack("{s:s,s:s}", "service", argv[first], "signal", argv[first + 1]), &result);
        json_decref(result);
        return code < 0 ? EXIT_CLEAN : code;
}
