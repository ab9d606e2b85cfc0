/* arguments.h - reads the command line of endwell-prober. Pure. */
#pragma once
#include "base/log.h"

#define ARGUMENTS_HELP        1
#define ARGUMENTS_PROBLEM_MAX 256

typedef struct Arguments {
        LogFormat log_format;
        LogLevel log_level;
} Arguments;

/* 0; ARGUMENTS_HELP; or -EINVAL with a sentence in ret_problem. */
int arguments_parse(int argc, char **argv, Arguments *ret, char ret_problem[static ARGUMENTS_PROBLEM_MAX]);
