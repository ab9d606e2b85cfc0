/* verb_usage.c - what the verbs of the command line have in common. */
#include "supervisor/verb_usage.h"
#include "shutdown/verdict.h"
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int verb_usage_refuse(const VerbUsage *usage, const char *what, const char *word) {
        fprintf(stderr, "endwell %s: %s%s\nTry `endwell help %s`.\n", usage->verb, what, word, usage->verb);
        return EXIT_USAGE;
}

#define OWN     256 /* the verb's own, by their index: beyond every letter */
#define SOCKET  255
#define N_PLACE 2

/* The two tables of getopt_long(3). */
typedef struct Known {
        struct option longs[VERB_OPTIONS_MAX + N_PLACE + 2];
        char shorts[2 * (VERB_OPTIONS_MAX + N_PLACE + 1) + 2]; /* a letter and a colon each */
        size_t n_longs, n_shorts;
} Known;

static void know(Known *known, const char *name, char letter, bool has_word, int value) {
        int word = has_word ? required_argument : no_argument;

        known->longs[known->n_longs++] = (struct option){ name, word, NULL, value };
        if (letter)
                known->shorts[known->n_shorts++] = letter;
        if (letter && has_word)
                known->shorts[known->n_shorts++] = ':';
}

static void know_all(Known *known, const VerbOption *options, bool has_place) {
        *known = (Known){ .shorts = ":", .n_shorts = 1 }; /* a missing word is told from an unknown option */
        for (size_t i = 0; options && options[i].name; i++) {
                assert(i < VERB_OPTIONS_MAX);
                know(known, options[i].name, options[i].letter, options[i].take != NULL, OWN + (int)i);
        }
        know(known, "help", 'h', false, 'h');
        if (has_place) {
                know(known, "socket", '\0', true, SOCKET);
                know(known, "config", 'c', true, 'c');
        }
}

/* What getopt_long() answered, by its index or its letter; NULL: none of the verb's own. */
static const VerbOption *find(const VerbOption *options, int answer) {
        for (size_t i = 0; options && options[i].name; i++)
                if (answer == OWN + (int)i || (options[i].letter && answer == options[i].letter))
                        return &options[i];
        return NULL;
}

static int take_own(const VerbOption *option) {
        if (option->take)
                return option->take(optarg, option->into);
        if (option->flag)
                *option->flag = true;
        else
                *option->choice = option->value;
        return 0;
}

static int take(const VerbUsage *usage, int answer, char **argv, ClientPlace *place) {
        switch (answer) {
        case SOCKET: place->socket = optarg; return 0;
        case 'c': place->config = optarg; return 0;
        case 'h': fputs(usage->text, stdout); return -1;
        case ':': return verb_usage_refuse(usage, "a word is missing after ", argv[optind - 1]);
        default: return verb_usage_refuse(usage, "there is no option ", argv[optind - 1]);
        }
}

int verb_usage_read(const VerbUsage *usage, int argc, char **argv, const VerbOption *options, ClientPlace *place,
                    int *ret_first) {
        const VerbOption *own;
        int answer, code = 0;
        Known known;

        know_all(&known, options, place != NULL);
        opterr = 0;
        optind = 0; /* glibc: begin afresh, whoever parsed before */
        while (code == 0 && (answer = getopt_long(argc, argv, known.shorts, known.longs, NULL)) != -1)
                code = (own = find(options, answer)) ? take_own(own) : take(usage, answer, argv, place);
        if (place)
                place->verb = usage->verb;
        *ret_first = optind;
        return code;
}

int verb_usage_read_all(const VerbUsage *usage, int argc, char **argv, const VerbOption *options, ClientPlace *place) {
        int first, code = verb_usage_read(usage, argc, argv, options, place, &first);

        return code == 0 && first < argc ? verb_usage_refuse(usage, "a word too many: ", argv[first]) : code;
}

int verb_usage_number(const VerbUsage *usage, const char *text, const char *what, uint64_t least, uint64_t most,
                      uint64_t *ret) {
        char *end;

        errno = 0;
        unsigned long long number = strtoull(text, &end, 10);
        if (errno != 0 || *end || text[0] < '0' || text[0] > '9' || number < least || number > most)
                return verb_usage_refuse(usage, what, text);
        *ret = number;
        return 0;
}

bool verb_usage_terminal(void) {
        return isatty(STDOUT_FILENO);
}

bool verb_usage_colour(void) {
        const char *no = getenv("NO_COLOR");

        return verb_usage_terminal() && (!no || !no[0]);
}

int verb_usage_flush(const char *verb) {
        if (fflush(stdout) == 0 && !ferror(stdout))
                return 0;
        fprintf(stderr, "endwell %s: could not write to stdout: %s\n", verb, strerrordesc_np(errno));
        return EXIT_OWN_FAULT;
}
