/* verb_usage.h - what the verbs of the command line have in common: options that name the running endwell, and
 * refusals.
 *
 * Every verb reads its words with getopt_long() over a table of its own that contains VERB_PLACE_OPTIONS. */
#pragma once
#include "supervisor/client.h"
#include <getopt.h>
#include <stdbool.h>

#define VERB_SHORT_OPTIONS ":c:h" /* begin the verb's own with it */
#define VERB_PLACE_OPTIONS                                                                                             \
        { "socket", required_argument, NULL, 's' }, { "config", required_argument, NULL, 'c' }, {                      \
                "help", no_argument, NULL, 'h'                                                                         \
        }
#define VERB_PLACE_USAGE                                                                                               \
        "      --socket PATH  the control socket (else $ENDWELL_SOCKET)\n"                                             \
        "  -c, --config FILE  the configuration whose RuntimeDirectory it is in (else the default directories)\n"

typedef struct VerbUsage {
        const char *verb, *text;
} VerbUsage;

/* Begins to read `argv` afresh and silently. */
void verb_usage_begin(void);
/* An option that the verb does not know itself: one of the place, --help (-1: shown, end with 0), or a refusal (the
 * exit code). 0: taken. */
int verb_usage_option(const VerbUsage *usage, int option, char **argv, ClientPlace *place);
/* Says what is wrong with the words, and where help is. The exit code. */
int verb_usage_refuse(const VerbUsage *usage, const char *what, const char *word);

bool verb_usage_terminal(void); /* stdout is one */
/* Colour only on a terminal, and never with NO_COLOR (no-color.org). */
bool verb_usage_colour(void);
/* After the last word was printed: 0, or the exit code when it could not be written. */
int verb_usage_flush(const char *verb);
