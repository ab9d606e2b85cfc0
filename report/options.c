/* options.c - see options.h. */
#include "report/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *options_usage(void) {
        return "usage: endwell report [--journal FILE] [--run N] [-o FILE.html|FILE.svg] [--check [--json]]\n"
               "Draws a run from its journal, or judges its order.\n"
               "  -j, --journal FILE  the journal (- is standard input)\n"
               "      --run N         of several runs in it the Nth, not the last one\n"
               "  -o, --output FILE   write a page (.html) or a picture (.svg) there, not a page to standard output\n"
               "      --check         say which laws the run kept; with -o also draw it\n"
               "      --json          the judgement for programs\n"
               "Where the journal is when it is not named:\n"
               "      --socket PATH   beside this control socket (else beside $ENDWELL_SOCKET)\n"
               "  -c, --config FILE   where this configuration has it (else in the default directories)\n"
               "Ends with 0; with --check: 0 no law was broken, 1 one was, 3 the journal cannot show it.\n";
}

static OptionsAnswer wrong(Options *options, const char *what, const char *word) {
        snprintf(options->problem, sizeof options->problem, "%s%.80s", what, word ? word : "");
        return OPTIONS_WRONG;
}

static bool ends_with(const char *text, const char *end) {
        size_t length = strlen(text), n = strlen(end);
        return length > n && strcmp(text + length - n, end) == 0;
}

static OptionsAnswer read_output(Options *options) {
        options->svg = ends_with(optarg, ".svg");
        if (!options->svg && !ends_with(optarg, ".html") && !ends_with(optarg, ".htm"))
                return wrong(options, "-o wants a name that ends in .html or .svg, not ", optarg);
        options->output = optarg;
        return OPTIONS_GOOD;
}

static OptionsAnswer read_run(Options *options) {
        char *end;
        errno = 0;
        unsigned long run = strtoul(optarg, &end, 10);
        if (errno || *end || optarg[0] < '0' || optarg[0] > '9' || run == 0 || run > UINT_MAX)
                return wrong(options, "--run wants the number of a run, from 1, not ", optarg);
        options->run = (unsigned)run;
        return OPTIONS_GOOD;
}

static OptionsAnswer take(Options *options, int option, char **argv) {
        switch (option) {
        case 'j': options->journal = optarg; return OPTIONS_GOOD;
        case 's': options->socket = optarg; return OPTIONS_GOOD;
        case 'c': options->config = optarg; return OPTIONS_GOOD;
        case 'r': return read_run(options);
        case 'o': return read_output(options);
        case 'k': options->check = true; return OPTIONS_GOOD;
        case 'J': options->json = true; return OPTIONS_GOOD;
        case 'h': return OPTIONS_HELP;
        case ':': return wrong(options, "a word is missing after ", argv[optind - 1]);
        default: return wrong(options, "there is no option ", argv[optind - 1]);
        }
}

OptionsAnswer options_read(int argc, char **argv, Options *ret) {
        static const struct option options[] = {
                { "journal", required_argument, NULL, 'j' },
                { "run", required_argument, NULL, 'r' },
                { "output", required_argument, NULL, 'o' },
                { "check", no_argument, NULL, 'k' },
                { "json", no_argument, NULL, 'J' },
                { "socket", required_argument, NULL, 's' },
                { "config", required_argument, NULL, 'c' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        OptionsAnswer answer = OPTIONS_GOOD;
        int option;

        *ret = (Options){ 0 };
        opterr = 0;
        optind = 0;
        while (answer == OPTIONS_GOOD && (option = getopt_long(argc, argv, ":j:o:c:h", options, NULL)) != -1)
                answer = take(ret, option, argv);
        if (answer == OPTIONS_GOOD && optind < argc)
                return wrong(ret, "a word too many: ", argv[optind]);
        if (answer == OPTIONS_GOOD && ret->json && !ret->check)
                return wrong(ret, "--json goes with --check", NULL);
        return answer;
}
