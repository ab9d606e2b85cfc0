/* invocation.c - the words that PID 1 starts the gateway with. */
#include "gateway/invocation.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const struct option known[] = {
        { "socket", required_argument, NULL, 's' },
        { "listen", required_argument, NULL, 'a' },
        { "ready-when", required_argument, NULL, 'w' },
        { "dashboard", required_argument, NULL, 'd' },
        { "log-format", required_argument, NULL, 'f' },
        { "log-level", required_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
};

static int read_dashboard(Invocation *invocation) {
        invocation->dashboard = strcmp(optarg, "yes") == 0;
        return invocation->dashboard || strcmp(optarg, "no") == 0 ? 0 : -EINVAL;
}

static int read_log(int option, Invocation *invocation) {
        int r = option == 'f' ? log_format_from_string(optarg) : log_level_from_string(optarg);

        if (r < 0)
                return r;
        if (option == 'f')
                invocation->log_format = (LogFormat)r;
        else
                invocation->log_level = (LogLevel)r;
        return 0;
}

static int parse_one(int option, Invocation *invocation) {
        switch (option) {
        case 's': invocation->socket = optarg; return 0;
        case 'a': invocation->listen = optarg; return 0;
        case 'w': invocation->ready_when = optarg; return 0;
        case 'd': return read_dashboard(invocation);
        default: return read_log(option, invocation);
        }
}

static int refuse(char *ret_problem, const char *what, const char *text) {
        snprintf(ret_problem, INVOCATION_PROBLEM_MAX, "%s: %s", what, text);
        return -EINVAL;
}

int invocation_parse(int argc, char **argv, Invocation *ret, char ret_problem[static INVOCATION_PROBLEM_MAX]) {
        Invocation invocation = { .log_format = LOG_FORMAT_AUTO, .log_level = LOG_LEVEL_INFO };
        int option, index = 0;

        opterr = 0;
        optind = 0; /* of glibc: begins anew, so that this can be called twice */
        while ((option = getopt_long(argc, argv, ":", known, &index)) != -1) {
                if (option == 'h')
                        return INVOCATION_HELP;
                if (option == '?')
                        return refuse(ret_problem, "unknown option", argv[optind - 1]);
                if (option == ':')
                        return refuse(ret_problem, "a value is missing after", argv[optind - 1]);
                if (parse_one(option, &invocation) < 0)
                        return refuse(ret_problem, known[index].name, optarg);
        }
        if (optind < argc)
                return refuse(ret_problem, "too many words", argv[optind]);
        if (!invocation.socket || !invocation.listen)
                return refuse(ret_problem, "missing", invocation.socket ? "--listen" : "--socket");
        *ret = invocation;
        return 0;
}
