/* main.c - the program endwell: blocks signals before anything else when it shall be the first process, then calls a
 * verb. */
#include "shutdown/verdict.h"
#include "supervisor/signals.h"
#include "supervisor/verbs.h"
#include <stdio.h>
#include <string.h>

static int refuse(const char *word, const char *nearest) {
        fprintf(stderr, "endwell: there is no verb %s", word);
        if (nearest)
                fprintf(stderr, "; did you mean %s?", nearest);
        fputs("\nTry `endwell help`.\n", stderr);
        return EXIT_USAGE;
}

/* `endwell run -- COMMAND --help` is COMMAND's business. */
static int wants_help_of_run(int argc, char **argv) {
        for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
                if (strcmp(argv[i], "--help") == 0)
                        return 1;
        return 0;
}

static int dispatch(int argc, char **argv) {
        const char *nearest = NULL;
        const Verb *verb = verb_find(argv[0], &nearest);
        char help[] = "help", run[] = "run";

        if (!verb)
                return refuse(argv[0], nearest);
        if (verb->run == verb_run && wants_help_of_run(argc, argv))
                return verb_help(2, (char *[]){ help, run, NULL });
        return verb->run(argc, argv);
}

int main(int argc, char **argv) {
        /* The very first thing: a signal that comes before it is lost in a PID 1, where nothing else would happen to
         * it. */
        if (argc >= 2 && strcmp(argv[1], "run") == 0)
                signals_block();
        if (argc < 2) {
                char help[] = "help";
                (void)verb_help(1, (char *[]){ help, NULL });
                return EXIT_USAGE;
        }
        if (strcmp(argv[1], "--version") == 0) {
                puts("endwell " ENDWELL_VERSION);
                return fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_OWN_FAULT;
        }
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
                char help[] = "help";
                return verb_help(1, (char *[]){ help, NULL });
        }
        return dispatch(argc - 1, argv + 1);
}
