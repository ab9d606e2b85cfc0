/* run_options.h - reads the words after `endwell run`.
 *
 * Pure but for malloc. Two forms: `run [-c FILE] [--mode M]`, and `run [OPTIONS] -- COMMAND ARG…`; in the second `-c`
 * is
 * --single-child, as tini's and dumb-init's users write it. Source: contracts/cli.md. */
#pragma once
#include "supervisor/config.h"
#include <stdbool.h>

typedef struct RunOptions {
        const char *config_path; /* NULL: the default */
        const char *mode;        /* NULL: the default */
        char *const *command;    /* NULL: the configuration's form */
        bool subreaper;          /* -s: also said by hand; always so when we are not PID 1 */
        int parent_death_signal; /* -p; 0: none */
        Config *single; /* of the second form: from config_for_command(), with the options put into it; else NULL */
} RunOptions;

/* 0; or -EINVAL with a sentence in ret_problem (256 bytes). */
int run_options_parse(int argc, char **argv, RunOptions *ret, char *ret_problem);
