/* arguments.c - the words that PID 1 starts the prober with. */
#include "prober/arguments.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

static const struct option known[] = {
        { "log-format", required_argument, NULL, 'f' },
        { "log-level", required_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
};

static int parse_one(int option, Arguments *arguments) {
        int r = option == 'f' ? log_format_from_string(optarg) : log_level_from_string(optarg);

        if (r < 0)
                return r;
        if (option == 'f')
                arguments->log_format = (LogFormat)r;
        else
                arguments->log_level = (LogLevel)r;
        return 0;
}

static int refuse(char *ret_problem, const char *what, const char *text) {
        snprintf(ret_problem, ARGUMENTS_PROBLEM_MAX, "%s: %s", what, text);
        return -EINVAL;
}

int arguments_parse(int argc, char **argv, Arguments *ret, char ret_problem[static ARGUMENTS_PROBLEM_MAX]) {
        Arguments arguments = { .log_format = LOG_FORMAT_AUTO, .log_level = LOG_LEVEL_INFO };
        int option, index = 0;

        opterr = 0;
        optind = 0; /* of glibc: begins anew, so that this can be called twice */
        while ((option = getopt_long(argc, argv, ":", known, &index)) != -1) {
                if (option == 'h')
                        return ARGUMENTS_HELP;
                if (option == '?')
                        return refuse(ret_problem, "unknown option", argv[optind - 1]);
                if (option == ':')
                        return refuse(ret_problem, "a value is missing after", argv[optind - 1]);
                if (parse_one(option, &arguments) < 0)
                        return refuse(ret_problem, known[index].name, optarg);
        }
        if (optind < argc)
                return refuse(ret_problem, "too many words", argv[optind]);
        *ret = arguments;
        return 0;
}
