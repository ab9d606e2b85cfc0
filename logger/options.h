/* options.h - reads the command line of endwell-logger. Pure. */
#pragma once
#include "base/log.h"
#include <stdint.h>

#define OPTIONS_HELP 1

typedef struct Options {
        int socket_fd;
        const char *journal_path; /* NULL: none */
        uint64_t journal_max_size;
        const char *logs_path; /* the socket of those who ask for what is kept; NULL: none */
        int group;             /* gid of those who may ask besides root and our uid; -1: none */
        LogFormat log_format;
        LogLevel log_level;
} Options;

/* 0; OPTIONS_HELP; or -EINVAL with a sentence in ret_problem (256 bytes). */
int options_parse(int argc, char **argv, Options *ret, char *ret_problem);
