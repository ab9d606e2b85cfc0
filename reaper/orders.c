/* orders.c - command line and environment of endwell-reaper. */
#include "reaper/orders.h"
#include "base/duration.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_USEC  (5 * USEC_PER_SEC)
#define RETENTION_USEC (7 * 24 * 3600 * USEC_PER_SEC)
#define BATCH          500
#define PRUNE_BATCH    5000

static const struct option known[] = {
        { "once", no_argument, NULL, 'o' },
        { "interval", required_argument, NULL, 'i' },
        { "batch", required_argument, NULL, 'b' },
        { "retention", required_argument, NULL, 'r' },
        { "prune-batch", required_argument, NULL, 'p' },
        { "config", required_argument, NULL, 'c' },
        { "log-format", required_argument, NULL, 'f' },
        { "log-level", required_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
};

static const char *environment(const char *name) {
        const char *value = getenv(name);
        return value ? value : "";
}

/* ---- Values ---- */

static int parse_batch(const char *text, unsigned *ret) {
        char *end;

        errno = 0;
        unsigned long value = strtoul(text, &end, 10);
        if (errno != 0 || *end || text[0] < '0' || text[0] > '9' || value < 1 || value > ORDERS_BATCH_MAX)
                return -EINVAL;
        *ret = (unsigned)value;
        return 0;
}

static int parse_span(const char *text, usec_t *ret) {
        usec_t span;
        int r = duration_parse(text, &span);

        if (r < 0 || span == 0)
                return -EINVAL;
        *ret = span;
        return 0;
}

static int parse_interval(const char *text, usec_t *ret) {
        usec_t span;
        int r = parse_span(text, &span);

        if (r < 0 || span == USEC_INFINITY)
                return -EINVAL;
        *ret = span;
        return 0;
}

/* Microseconds as endwell writes them, or infinity. */
static int parse_usec(const char *text, usec_t *ret) {
        char *end;

        if (strcmp(text, "infinity") == 0) {
                *ret = USEC_INFINITY;
                return 0;
        }
        errno = 0;
        unsigned long long value = strtoull(text, &end, 10);
        if (errno != 0 || *end || text[0] < '0' || text[0] > '9' || value == 0)
                return -EINVAL;
        *ret = value;
        return 0;
}

static int refuse(char *ret_problem, const char *what, const char *text, const char *wanted) {
        snprintf(ret_problem, ORDERS_PROBLEM_MAX, "%s%s: %.100s", what, wanted, text);
        return -EINVAL;
}

/* ---- The environment ---- */

static int take_environment(Orders *orders, char *ret_problem) {
        const char *interval = environment("ENDWELL_REAPER_INTERVAL_USEC");
        const char *retention = environment("ENDWELL_REAPER_RETENTION_USEC");
        const char *batch = environment("ENDWELL_REAPER_BATCH");
        const char *prune_batch = environment("ENDWELL_REAPER_PRUNE_BATCH");
        const char *socket = environment("ENDWELL_SOCKET");

        if (interval[0] && parse_usec(interval, &orders->interval_usec) < 0)
                return refuse(ret_problem, "$ENDWELL_REAPER_INTERVAL_USEC", interval, " is no number of microseconds");
        if (retention[0] && parse_usec(retention, &orders->retention_usec) < 0)
                return refuse(ret_problem, "$ENDWELL_REAPER_RETENTION_USEC", retention,
                              " is no number of microseconds");
        if (batch[0] && parse_batch(batch, &orders->batch) < 0)
                return refuse(ret_problem, "$ENDWELL_REAPER_BATCH", batch, " is not from 1 to 100000");
        if (prune_batch[0] && parse_batch(prune_batch, &orders->prune_batch) < 0)
                return refuse(ret_problem, "$ENDWELL_REAPER_PRUNE_BATCH", prune_batch, " is not from 1 to 100000");
        orders->socket = socket[0] ? socket : NULL;
        orders->owner = environment("ENDWELL_OWNER");
        orders->service = environment("ENDWELL_SERVICE");
        orders->phase = environment("ENDWELL_PHASE");
        orders->instance = (unsigned)strtoul(environment("ENDWELL_INSTANCE"), NULL, 10);
        return 0;
}

/* ---- The command line ---- */

static int take_log_word(int (*read)(const char *text), const char *text, int *ret) {
        int value = read(text);
        if (value < 0)
                return -EINVAL;
        *ret = value;
        return 0;
}

static int take_option(int option, Orders *orders, char *ret_problem) {
        int word = 0, r = 0;

        switch (option) {
        case 'o': orders->once = true; return 0;
        case 'c': orders->config = optarg; return 0;
        case 'i':
                r = parse_interval(optarg, &orders->interval_usec);
                return r < 0 ? refuse(ret_problem, "--interval", optarg, " wants a span of time, like 5s") : 0;
        case 'r':
                r = parse_span(optarg, &orders->retention_usec);
                return r < 0 ? refuse(ret_problem, "--retention", optarg, " wants a span of time or infinity") : 0;
        case 'b':
                r = parse_batch(optarg, &orders->batch);
                return r < 0 ? refuse(ret_problem, "--batch", optarg, " wants a number from 1 to 100000") : 0;
        case 'p':
                r = parse_batch(optarg, &orders->prune_batch);
                return r < 0 ? refuse(ret_problem, "--prune-batch", optarg, " wants a number from 1 to 100000") : 0;
        case 'f':
                r = take_log_word(log_format_from_string, optarg, &word);
                orders->log_format = (LogFormat)word;
                return r < 0 ? refuse(ret_problem, "--log-format", optarg, " wants auto, text, json or journal") : 0;
        default:
                r = take_log_word(log_level_from_string, optarg, &word);
                orders->log_level = (LogLevel)word;
                return r < 0 ? refuse(ret_problem, "--log-level", optarg, " wants debug, info, notice, warning or err")
                             : 0;
        }
}

static int take_words(int argc, char **argv, Orders *orders, char *ret_problem) {
        int option, r = 0;

        opterr = 0;
        optind = 0; /* of glibc: begins anew, so that this can be called twice */
        while (r == 0 && (option = getopt_long(argc, argv, ":hc:", known, NULL)) != -1) {
                if (option == 'h')
                        return ORDERS_HELP;
                if (option == '?')
                        r = refuse(ret_problem, "unknown option", argv[optind - 1], "");
                else if (option == ':')
                        r = refuse(ret_problem, "a value is missing after", argv[optind - 1], "");
                else
                        r = take_option(option, orders, ret_problem);
        }
        if (r == 0 && optind < argc)
                r = refuse(ret_problem, "a word too many", argv[optind], "");
        return r;
}

int orders_read(int argc, char **argv, Orders *ret, char ret_problem[static ORDERS_PROBLEM_MAX]) {
        Orders orders = { .interval_usec = INTERVAL_USEC,
                          .retention_usec = RETENTION_USEC,
                          .batch = BATCH,
                          .prune_batch = PRUNE_BATCH,
                          .log_format = LOG_FORMAT_AUTO,
                          .log_level = LOG_LEVEL_INFO };

        int r = take_environment(&orders, ret_problem);
        if (r == 0)
                r = take_words(argc, argv, &orders, ret_problem);
        if (r == 0)
                *ret = orders;
        return r;
}
