/* verb_health.c - `endwell health`: for a HEALTHCHECK or an exec probe, in an image without an HTTP client. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/client.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <string.h>

enum { HEALTH_READY, HEALTH_LIVE, HEALTH_STARTUP };

static const VerbUsage usage = {
        "health",
        "usage: endwell health [--ready|--live|--startup]\n"
        "Exits with 0 or 1, and with nothing else: for a HEALTHCHECK or an exec probe.\n"
        "      --ready        everything is ready, and no ending has begun (the default)\n"
        "      --live         endwell runs and answers, also in an ending\n"
        "      --startup      the start is over\n" VERB_PLACE_USAGE,
};

static int parse_options(int argc, char **argv, ClientPlace *ret_place, unsigned *ret) {
        const VerbOption options[] = {
                { "ready", .choice = ret, .value = HEALTH_READY },
                { "live", .choice = ret, .value = HEALTH_LIVE },
                { "startup", .choice = ret, .value = HEALTH_STARTUP },
                { NULL },
        };

        return verb_usage_read_all(&usage, argc, argv, options, ret_place);
}

static bool is_well(const json_t *status, unsigned health) {
        const char *step = json_string_value(json_object_get(status, "step"));

        if (health == HEALTH_LIVE)
                return true;
        if (health == HEALTH_STARTUP)
                return step && strcmp(step, "starting") != 0;
        return json_is_true(json_object_get(status, "ready"));
}

/* Docker knows 0 and 1, and reserves the rest. */
int verb_health(int argc, char **argv) {
        _cleanup_(client_freep) Client *client = NULL;
        ClientPlace place = { 0 };
        unsigned health = HEALTH_READY;
        json_t *status = NULL;
        int code = parse_options(argc, argv, &place, &health);

        if (code < 0)
                return EXIT_CLEAN;
        if (code == 0)
                code = client_open(&place, &client);
        if (code == 0)
                code = client_ask(client, "status", NULL, &status);
        bool well = code == 0 && is_well(status, health);
        if (code == 0)
                puts(well                                              ? "well"
                     : health == HEALTH_STARTUP                        ? "it still starts"
                     : json_is_true(json_object_get(status, "ending")) ? "not ready: the ending has begun"
                                                                       : "not ready");
        json_decref(status);
        return well ? EXIT_CLEAN : 1;
}
