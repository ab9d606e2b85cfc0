/* verb_usage.c - what the verbs of the command line have in common. */
#include "supervisor/verb_usage.h"
#include "shutdown/verdict.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void verb_usage_begin(void) {
        opterr = 0;
        optind = 0; /* glibc: begin afresh, whoever parsed before */
}

int verb_usage_refuse(const VerbUsage *usage, const char *what, const char *word) {
        fprintf(stderr, "endwell %s: %s%s\nTry `endwell help %s`.\n", usage->verb, what, word, usage->verb);
        return EXIT_USAGE;
}

int verb_usage_option(const VerbUsage *usage, int option, char **argv, ClientPlace *place) {
        place->verb = usage->verb;
        switch (option) {
        case 's': place->socket = optarg; return 0;
        case 'c': place->config = optarg; return 0;
        case 'h': fputs(usage->text, stdout); return -1;
        case ':': return verb_usage_refuse(usage, "a word is missing after ", argv[optind - 1]);
        default: return verb_usage_refuse(usage, "there is no option ", argv[optind - 1]);
        }
}

bool verb_usage_terminal(void) {
        return isatty(STDOUT_FILENO);
}

bool verb_usage_colour(void) {
        const char *no = getenv("NO_COLOR");

        return verb_usage_terminal() && (!no || !no[0]);
}

int verb_usage_flush(const char *verb) {
        if (fflush(stdout) == 0 && !ferror(stdout))
                return 0;
        fprintf(stderr, "endwell %s: could not write to stdout: %s\n", verb, strerrordesc_np(errno));
        return EXIT_OWN_FAULT;
}
