/* options.h - reads the command line of endwell-report into a value. */
#pragma once
#include <stdbool.h>

typedef enum OptionsAnswer {
        OPTIONS_GOOD,
        OPTIONS_HELP,
        OPTIONS_WRONG, /* ret->problem says what */
} OptionsAnswer;

typedef struct Options {
        const char *journal, *socket, *config, *output; /* NULL: not named */
        unsigned run;                                   /* 0: the last one */
        bool check, json, svg;
        char problem[160];
} Options;

OptionsAnswer options_read(int argc, char **argv, Options *ret);
const char *options_usage(void);
