/* run_options.c - reads the words after `endwell run`, in both forms. */
#include "supervisor/run_options.h"
#include "base/duration.h"
#include "base/names.h"
#include "base/take.h"
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBLEM_MAX    256
#define GRACE_MAX_USEC (365 * 24 * 3600 * USEC_PER_SEC)

enum {
        OPTION_MODE = 256,
        OPTION_STOP_SIGNAL,
        OPTION_GRACE,
};

static int refuse(char *ret_problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(char *ret_problem, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        vsnprintf(ret_problem, PROBLEM_MAX, format, ap);
        va_end(ap);
        return -EINVAL;
}

/* ---- Values ---- */

/* Decimal digits only; -1 when it is no number up to `most`. */
static int small_number(const char *text, int most) {
        int number = 0;

        if (!*text || text[strspn(text, "0123456789")])
                return -1;
        for (; *text && number <= most; text++)
                number = number * 10 + (*text - '0');
        return number <= most ? number : -1;
}

static bool signal_can_be_caught(int number) {
        return number != SIGKILL && number != SIGSTOP;
}

static int set_rewrite(Config *config, const char *text, char *ret_problem) {
        const char *colon = strchr(text, ':');
        char from_text[SIGNAL_TEXT_MAX];

        if (!colon || (size_t)(colon - text) >= sizeof from_text)
                return refuse(ret_problem,
                              "--rewrite %.40s: write FROM:TO, as in 15:3 or TERM:QUIT; 0 drops the signal", text);
        snprintf(from_text, sizeof from_text, "%.*s", (int)(colon - text), text);
        int from = signal_from_string(from_text), to = strcmp(colon + 1, "0") == 0 ? 0 : signal_from_string(colon + 1);
        if (from < 0 || to < 0)
                return refuse(ret_problem, "--rewrite %.40s: there is no signal %.40s", text,
                              from < 0 ? from_text : colon + 1);
        if (!signal_can_be_caught(from) || from == SIGCHLD)
                return refuse(ret_problem, "--rewrite %.40s: %s is never passed on", text, from_text);
        config->rewrite[from] = (uint8_t)to;
        return 0;
}

static int set_remap(Config *config, const char *text, char *ret_problem) {
        int code = small_number(text, 255);
        if (code < 0)
                return refuse(ret_problem, "--remap-exit %.40s: must be an exit code from 0 to 255", text);
        config->remap[code / 8] |= (uint8_t)(1 << (code % 8));
        return 0;
}

static int set_grace(Config *config, const char *text, char *ret_problem) {
        usec_t grace = 0;
        int r = duration_parse(text, &grace);

        if (r < 0 || grace < USEC_PER_SEC || grace > GRACE_MAX_USEC)
                return refuse(ret_problem, "--grace %.40s: must be a span of time from 1s to a year, as in 30s or 5min",
                              text);
        config_set_grace(config, grace);
        return 0;
}

static int read_signal(const char *option, const char *text, int *ret_number, char *ret_problem) {
        int number = signal_from_string(text);
        if (number < 0)
                return refuse(ret_problem, "%s %.40s: there is no such signal", option, text);
        *ret_number = number;
        return 0;
}

static int set_stop_signal(Config *config, const char *text, char *ret_problem) {
        int number = 0, r = read_signal("--stop-signal", text, &number, ret_problem);
        if (r == 0)
                config->services[0].kill_signal = (uint8_t)number;
        return r;
}

/* ---- getopt ---- */

static void begin_options(void) {
        opterr = 0;
        optind = 0; /* glibc: begin afresh, whoever parsed before */
}

/* The word that getopt_long() has just refused, as it was written: it tells a letter only for short options. */
static int refuse_option(int argc, char **argv, int answer, const char *form, char *ret_problem) {
        char letter[3] = { '-', (char)optopt, '\0' };
        int last = optind > 1 && optind <= argc ? optind - 1 : argc - 1;
        const char *word = optopt > 0 && optopt < 256 ? letter : argv[last];

        if (answer == ':')
                return refuse(ret_problem, "%.60s needs a word after it", word);
        return refuse(ret_problem, "there is no option %.60s in `endwell run %s`", word, form);
}

/* ---- run [-c FILE] [--mode M] ---- */

static int parse_configuration_form(int argc, char **argv, RunOptions *ret, char *ret_problem) {
        static const struct option options[] = {
                { "config", required_argument, NULL, 'c' },
                { "mode", required_argument, NULL, OPTION_MODE },
                { 0 },
        };
        int option;

        begin_options();
        while ((option = getopt_long(argc, argv, "+:c:", options, NULL)) != -1) {
                if (option == 'c')
                        ret->config_path = optarg;
                else if (option == OPTION_MODE)
                        ret->mode = optarg;
                else
                        return refuse_option(argc, argv, option, "[-c FILE] [--mode M]", ret_problem);
        }
        if (optind < argc)
                return refuse(ret_problem, "a word too many: %.60s (a command comes after --: endwell run -- %.60s)",
                              argv[optind], argv[optind]);
        if (ret->mode && mode_from_string(ret->mode) < 0)
                return refuse(ret_problem, "--mode %.40s: must be production, staging or development", ret->mode);
        return 0;
}

/* ---- run [OPTIONS] -- COMMAND ARG… ---- */

static int apply_command_option(int option, RunOptions *options, char *ret_problem) {
        Config *config = options->single;

        switch (option) {
        case 's': options->subreaper = true; return 0;
        case 'g': config->ask_group = true; return 0;
        case 'c': config->ask_group = false; return 0;
        case 'w': config->say_orphans = true; return 0;
        case 'v': config->log_level += config->log_level < LOG_LEVEL_DEBUG; return 0;
        case 'e': return set_remap(config, optarg, ret_problem);
        case 'p': return read_signal("-p", optarg, &options->parent_death_signal, ret_problem);
        case OPTION_GRACE: return set_grace(config, optarg, ret_problem);
        case 'r': return set_rewrite(config, optarg, ret_problem);
        default: return set_stop_signal(config, optarg, ret_problem);
        }
}

static int parse_command_options(int argc, char **argv, RunOptions *ret, char *ret_problem) {
        static const struct option options[] = {
                { "subreaper", no_argument, NULL, 's' },
                { "group", no_argument, NULL, 'g' },
                { "single-child", no_argument, NULL, 'c' },
                { "remap-exit", required_argument, NULL, 'e' },
                { "stop-signal", required_argument, NULL, OPTION_STOP_SIGNAL },
                { "grace", required_argument, NULL, OPTION_GRACE },
                { "rewrite", required_argument, NULL, 'r' },
                { "verbose", no_argument, NULL, 'v' },
                { 0 },
        };
        int option;

        begin_options();
        while ((option = getopt_long(argc, argv, "+:sgcwve:p:r:", options, NULL)) != -1) {
                if (option == '?' || option == ':')
                        return refuse_option(argc, argv, option, "[OPTIONS] -- COMMAND", ret_problem);
                int r = apply_command_option(option, ret, ret_problem);
                if (r < 0)
                        return r;
        }
        if (optind < argc)
                return refuse(ret_problem, "a word too many before --: %.60s%s", argv[optind],
                              " (-c is --single-child here and takes no file)");
        return 0;
}

static int parse_command_form(int argc, char **argv, int dashes, RunOptions *ret, char *ret_problem) {
        if (dashes + 1 >= argc || !*argv[dashes + 1])
                return refuse(ret_problem, "there is no command after --");
        int r = config_for_command(argv + dashes + 1, &ret->single);
        if (r < 0) {
                refuse(ret_problem, "the command could not be taken over: %s", strerrordesc_np(-r));
                return r;
        }
        ret->command = argv + dashes + 1;
        ret->single->log_level = LOG_LEVEL_NOTICE;                    /* what is well is not said */
        return parse_command_options(dashes, argv, ret, ret_problem); /* never looks at the command's own options */
}

/* The index of the first "--", or -1. */
static int find_dashes(int argc, char **argv) {
        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--") == 0)
                        return i;
        return -1;
}

int run_options_parse(int argc, char **argv, RunOptions *ret, char *ret_problem) {
        RunOptions options = { 0 };
        _cleanup_(config_freep) Config *single = NULL;
        int dashes = find_dashes(argc, argv);

        int r = dashes < 0 ? parse_configuration_form(argc, argv, &options, ret_problem)
                           : parse_command_form(argc, argv, dashes, &options, ret_problem);
        single = options.single;
        if (r < 0)
                return r;
        TAKE(single);
        *ret = options;
        return 0;
}
