/* invocation.h - reads the command line of endwell-gateway. */
#pragma once
#include "base/log.h"
#include <stdbool.h>

#define INVOCATION_HELP        1
#define INVOCATION_PROBLEM_MAX 160

typedef struct Invocation {
        const char *socket, *listen, *ready_when; /* the last: NULL is all */
        bool dashboard;
        LogFormat log_format;
        LogLevel log_level;
} Invocation;

/* 0, INVOCATION_HELP, or -EINVAL and the problem. The strings are those of argv. */
int invocation_parse(int argc, char **argv, Invocation *ret, char ret_problem[static INVOCATION_PROBLEM_MAX]);
