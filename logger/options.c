/* options.c - the words that PID 1 starts the logger with. */
#include "logger/options.h"
#include "base/duration.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define PROBLEM_MAX          256
#define JOURNAL_MAX_SIZE     (16 * UINT64_C(1024) * 1024)
#define JOURNAL_MIN_MAX_SIZE 4096 /* one line always fits */

static const struct option known[] = {
        { "socket-fd", required_argument, NULL, 's' },
        { "journal", required_argument, NULL, 'j' },
        { "journal-max-size", required_argument, NULL, 'm' },
        { "logs", required_argument, NULL, 'k' },
        { "group", required_argument, NULL, 'g' },
        { "log-format", required_argument, NULL, 'f' },
        { "log-level", required_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
};

static int parse_number(const char *text, int *ret) {
        char *end;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (errno != 0 || end == text || *end != '\0' || value < 0 || value > INT_MAX)
                return -EINVAL;
        *ret = (int)value;
        return 0;
}

static int parse_size(const char *text, uint64_t *ret) {
        int r = size_parse(text, ret);
        return r < 0 ? r : *ret < JOURNAL_MIN_MAX_SIZE ? -EINVAL : 0;
}

static int parse_one(int option, Options *options) {
        switch (option) {
        case 's': return parse_number(optarg, &options->socket_fd);
        case 'j': options->journal_path = optarg; return 0;
        case 'm': return parse_size(optarg, &options->journal_max_size);
        case 'k': options->logs_path = optarg; return 0;
        case 'g': return parse_number(optarg, &options->group);
        case 'f':
                options->log_format = log_format_from_string(optarg);
                return (int)options->log_format < 0 ? -EINVAL : 0;
        case 'l': options->log_level = log_level_from_string(optarg); return (int)options->log_level < 0 ? -EINVAL : 0;
        default: return -EINVAL;
        }
}

static int refuse(char *ret_problem, const char *what, const char *text) {
        snprintf(ret_problem, PROBLEM_MAX, "%s: %s", what, text);
        return -EINVAL;
}

int options_parse(int argc, char **argv, Options *ret, char *ret_problem) {
        Options options = { .group = -1,
                            .journal_max_size = JOURNAL_MAX_SIZE,
                            .log_format = LOG_FORMAT_AUTO,
                            .log_level = LOG_LEVEL_INFO };
        int option, index = 0;

        opterr = 0;
        optind = 0; /* of glibc: begins anew, so that this can be called twice */
        while ((option = getopt_long(argc, argv, ":", known, &index)) != -1) {
                if (option == 'h')
                        return OPTIONS_HELP;
                if (option == '?')
                        return refuse(ret_problem, "unknown option", argv[optind - 1]);
                if (option == ':')
                        return refuse(ret_problem, "a value is missing after", argv[optind - 1]);
                if (parse_one(option, &options) < 0)
                        return refuse(ret_problem, known[index].name, optarg);
        }
        if (optind < argc)
                return refuse(ret_problem, "too many words", argv[optind]);
        *ret = options;
        return 0;
}
