/* command_line.h - reads the command line of endwell-worker into a value.
 *
 * Prints nothing. */
#pragma once
#include "base/log.h"
#include "base/usec.h"
#include "worker/outcome.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMAND_LINE_PROBLEM_MAX 256
#define COMMAND_LINE_SLOTS_MAX   4096

typedef struct CommandLine {
        const char *queue, *config; /* config: NULL: not given */
        unsigned slots;
        usec_t stall_usec, hard_usec; /* USEC_INFINITY: none */
        usec_t kill_after_usec, poll_usec;
        usec_t drain_usec;    /* USEC_INFINITY: what the supervisor leaves */
        usec_t lifetime_usec; /* USEC_INFINITY: for ever */
        uint64_t max_jobs;    /* UINT64_MAX: no limit */
        size_t max_result;
        OutcomeCodes bury;
        bool stream, quiet, strict_lease;
        LogFormat log_format;
        LogLevel log_level;
        char **argv; /* the command; ended by NULL, points into main's */
} CommandLine;

#define COMMAND_LINE_HELP    1
#define COMMAND_LINE_VERSION 2

/* 0, one of the above, or -EINVAL with a sentence. */
int command_line_parse(int argc, char **argv, CommandLine *ret, char ret_problem[static COMMAND_LINE_PROBLEM_MAX]);
extern const char command_line_help[];
