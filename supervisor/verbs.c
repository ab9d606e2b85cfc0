/* verbs.c - the table of verbs. */
#include "supervisor/verbs.h"
#include "base/names.h"
#include <string.h>

#define VERBS_MAX 32

const Verb verbs[] = {
        { "run", verb_run, "runs a configuration, or one command, as the first process of a container" },
        { "check", verb_check, "says every error of a configuration, or how it would start and end" },
        { "status", verb_status, "shows the services, and during an ending what it waits for" },
        { "events", verb_events, "prints the journal, also as it happens" },
        { "logs", verb_logs, "prints the last lines that a service wrote, also as they come" },
        { "start", verb_steer, "starts services, and what they require" },
        { "stop", verb_steer, "stops services, those who require them first; they stay stopped" },
        { "restart", verb_steer, "restarts services, and those who require them" },
        { "signal", verb_signal, "sends a signal to a service" },
        { "hook", verb_hook, "runs a hook now, once an epoch" },
        { "wait", verb_wait, "waits until everything is ready" },
        { "health", verb_health, "tells by its exit code whether all is well" },
        { "shutdown", verb_shutdown, "begins the ending and waits until it is over" },
        { "notify", verb_notify, "sends READY=1 and its like from a shell" },
        { "mark", verb_mark, "tells that an application's own hook begins or ended" },
        { "jobs", verb_program, "puts jobs into the ledger, lists and shows them, gives them another try" },
        { "ledger", verb_program, "installs the job ledger in PostgreSQL, or says where it differs" },
        { "worker", verb_program, "claims jobs of the ledger and runs a command for each" },
        { "reaper", verb_program, "returns or buries the jobs of the dead, as endwell runs it beside a database" },
        { "report", verb_program, "draws a run from its journal, or judges its order" },
        { "help", verb_help, "explains a verb" },
        { 0 },
};

const Verb *verb_find(const char *name, const char **ret_nearest) {
        const char *names[VERBS_MAX];
        size_t n = 0;

        for (const Verb *verb = verbs; verb->name && n < VERBS_MAX; verb++) {
                if (strcmp(verb->name, name) == 0)
                        return verb;
                names[n++] = verb->name;
        }
        *ret_nearest = name_nearest(name, names, n);
        return NULL;
}
