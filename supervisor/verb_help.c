/* verb_help.c - `endwell help [VERB]`. */
#include "shutdown/verdict.h"
#include "supervisor/verb_usage.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <string.h>

static const char run_usage[] =
        "usage: endwell run [-c FILE] [--mode production|staging|development]\n"
        "       endwell run [OPTIONS] -- COMMAND ARG...\n"
        "Becomes the first process of a container: starts the services of FILE (else $ENDWELL_CONFIG, else\n"
        "/etc/endwell.ini), keeps them up, and ends them in order when SIGTERM comes. With COMMAND there is no file: "
        "one\n"
        "service, signals are passed on to it, and its exit code is ours.\n"
        "  -g, --group            ask the whole process group of COMMAND to stop\n"
        "      --stop-signal SIG  ask it with this signal\n"
        "      --grace TIME       what the platform gives between its first signal and SIGKILL (30s)\n"
        "  -r, --rewrite FROM:TO  pass another signal on; 0 drops it; may repeat\n"
        "  -e, --remap-exit CODE  this exit code of COMMAND becomes 0; may repeat\n"
        "  -p SIG                 get this signal when our own parent dies\n"
        "  -w                     say when an orphan is collected\n"
        "  -v, --verbose          say what happens; twice: everything\n"
        "  -c, --single-child     only signal COMMAND itself (in this form -c is no file)\n"
        "  -s, --subreaper        collect orphans without being PID 1 (always so)\n"
        "Exit codes: 0 clean, 64 bad usage, 70 endwell's own fault, 78 bad configuration, 80 a hook failed, 81 "
        "somebody had\n"
        "to be killed, 82 the deadline was hit, 83 an essential service failed for good, 84 descendants were left.\n";

static const VerbUsage usage = {
        "help",
        "usage: endwell help [VERB]\n",
};

static int list_verbs(void) {
        puts("endwell - starts an application's processes in phases, keeps them up, and ends them in order\n"
             "usage: endwell VERB [WORDS]      endwell help VERB      endwell --version\n");
        for (const Verb *verb = verbs; verb->name; verb++)
                printf("  %-10s %s\n", verb->name, verb->summary);
        return verb_usage_flush(usage.verb);
}

/* Every verb explains itself; only run's words have no place for --help among those of its command. */
static int explain(const Verb *verb) {
        char name[32], help[] = "--help";
        char *words[] = { name, help, NULL };

        snprintf(name, sizeof name, "%s", verb->name);
        if (verb->run == verb_run)
                fputs(run_usage, stdout);
        else if (verb->run == verb_help)
                fputs(usage.text, stdout);
        else
                return verb->run(2, words);
        return verb_usage_flush(usage.verb);
}

int verb_help(int argc, char **argv) {
        const char *nearest = NULL;

        if (argc < 2)
                return list_verbs();
        if (argc > 2)
                return verb_usage_refuse(&usage, "a word too many: ", argv[2]);
        if (strcmp(argv[1], "--help") == 0)
                return explain(verb_find("help", &nearest));
        const Verb *verb = verb_find(argv[1], &nearest);
        if (verb)
                return explain(verb);
        fprintf(stderr, "endwell help: there is no verb %s%s%s%s\n", argv[1], nearest ? "; did you mean " : "",
                nearest ? nearest : "", nearest ? "?" : "");
        return EXIT_USAGE;
}
