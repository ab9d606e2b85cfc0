/* verb_usage.h - what the verbs of the command line have in common: reading their options, those that name the running
 * endwell among them, and refusals. */
#pragma once
#include "supervisor/client.h"
#include <stdbool.h>
#include <stdint.h>

#define VERB_OPTIONS_MAX 8
#define VERB_PLACE_USAGE                                                                                               \
        "      --socket PATH  the control socket (else $ENDWELL_SOCKET)\n"                                             \
        "  -c, --config FILE  the configuration whose RuntimeDirectory it is in (else the default directories)\n"

typedef struct VerbUsage {
        const char *verb, *text;
} VerbUsage;

/* An option of the verb's own. */
typedef struct VerbOption {
        const char *name; /* NULL ends a table of at most VERB_OPTIONS_MAX */
        char letter;      /* of its short form; 0: it has none */
        bool *flag;       /* set when it is given */
        unsigned *choice; /* becomes `value` when it is given: the last one counts */
        unsigned value;
        /* With neither, it has a word. */
        int (*take)(const char *word, void *into); /* 0; or the exit code of a refusal that was said */
        void *into;
} VerbOption;

/* Reads the options: the verb's own, --help, and with a `place` those that name the running endwell. Fills in
 * place->verb. `*ret_first` is the index of the first word behind them. 0; -1: help was shown, end with 0; or the exit
 * code of a refusal. */
int verb_usage_read(const VerbUsage *usage, int argc, char **argv, const VerbOption *options, ClientPlace *place,
                    int *ret_first);
/* The same where no word may follow. */
int verb_usage_read_all(const VerbUsage *usage, int argc, char **argv, const VerbOption *options, ClientPlace *place);
/* A decimal number from `least` to `most`; a refusal begins with `what`. 0, or the exit code. */
int verb_usage_number(const VerbUsage *usage, const char *text, const char *what, uint64_t least, uint64_t most,
                      uint64_t *ret);
/* Says what is wrong with the words, and where help is. The exit code. */
int verb_usage_refuse(const VerbUsage *usage, const char *what, const char *word);

bool verb_usage_terminal(void); /* stdout is one */
/* Colour only on a terminal, and never with NO_COLOR (no-color.org). */
bool verb_usage_colour(void);
/* After the last word was printed: 0, or the exit code when it could not be written. */
int verb_usage_flush(const char *verb);
