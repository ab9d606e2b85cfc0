/* verb_check.c - `endwell check`: every error of a configuration, or the plan that it is. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/plan.h"
#include "supervisor/verbs.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

typedef struct CheckOptions {
        const char *path, *mode;
        bool json, help;
} CheckOptions;

static const char usage[] =
        "usage: endwell check [-c FILE] [--mode production|staging|development] [--json]\n"
        "Says every error of the configuration with FILE:LINE and exits 78, or shows how it would start and end.\n"
        "  -c, --config FILE  the configuration (else $ENDWELL_CONFIG, else /etc/endwell.ini)\n"
        "      --mode M       in this mode (else $ENDWELL_MODE, else the file's Mode)\n"
        "      --json         for programs\n";

static int refuse(const char *what, const char *word) {
        fprintf(stderr, "endwell check: %s%s\n%s", what, word, usage);
        return EXIT_USAGE;
}

/* 0, or the exit code. */
static int parse_options(int argc, char **argv, CheckOptions *ret) {
        static const struct option options[] = {
                { "config", required_argument, NULL, 'c' },   { "mode", required_argument, NULL, 'm' },
                { "json", no_argument, NULL, 'j' },           { "help", no_argument, NULL, 'h' },
                { "platform", required_argument, NULL, 'p' }, { 0 },
        };
        int option;

        opterr = 0;
        optind = 0; /* glibc: begin afresh, whoever parsed before */
        while ((option = getopt_long(argc, argv, ":c:h", options, NULL)) != -1)
                switch (option) {
                case 'c': ret->path = optarg; break;
                case 'm': ret->mode = optarg; break;
                case 'j': ret->json = true; break;
                case 'h': ret->help = true; break;
                case 'p': return refuse("--platform is not in this version yet: nothing was checked", "");
                case ':': return refuse("a word is missing after ", argv[optind - 1]);
                default: return refuse("there is no option ", argv[optind - 1]);
                }
        if (optind < argc)
                return refuse("a word too many: ", argv[optind]);
        return 0;
}

/* PID 1 raises its own limit to the hard one, so that is what counts. */
static void warn_of_descriptors(const Config *config, Complaints *complaints) {
        struct rlimit limit;
        unsigned long needed = plan_descriptors(config);

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= needed)
                return;
        complaints_warn(complaints, config->path, 0,
                        "%zu instances need about %lu descriptors, but the hard limit here is %lu (ulimit -Hn)",
                        config->n_members, needed, (unsigned long)limit.rlim_max);
}

static int show(const CheckOptions *options, const Config *config, const Complaints *complaints) {
        size_t n_errors = complaints_count(complaints), n_warnings = complaints_warning_count(complaints);

        if (options->json)
                return plan_print_json(config, complaints, stdout);
        if (!config) {
                complaints_print(complaints, stderr);
                fprintf(stderr, "endwell check: %zu error%s: nothing would be started\n", n_errors,
                        n_errors == 1 ? "" : "s");
                return 0;
        }
        int r = plan_print(config, stdout);
        if (r == 0 && n_warnings > 0) {
                printf("\n%zu warning%s:\n", n_warnings, n_warnings == 1 ? "" : "s");
                complaints_print(complaints, stdout);
        }
        return r;
}

static int check(const CheckOptions *options) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        _cleanup_(config_freep) Config *config = NULL;

        int r = complaints_new(&complaints);
        if (r == 0)
                r = config_load(options->path, options->mode, complaints, &config);
        if (r < 0 && r != -EBADMSG)
                return r;
        bool good = r == 0;
        if (good)
                warn_of_descriptors(config, complaints);
        r = show(options, config, complaints);
        if (r == 0 && fflush(stdout) != 0)
                r = -errno;
        return r < 0 ? r : good ? EXIT_CLEAN : EXIT_CONFIGURATION;
}

int verb_check(int argc, char **argv) {
        CheckOptions options = { 0 };
        int r = parse_options(argc, argv, &options);

        if (r != 0)
                return r;
        if (options.help) {
                fputs(usage, stdout);
                return EXIT_CLEAN;
        }
        r = check(&options);
        if (r >= 0)
                return r;
        fprintf(stderr, "endwell check: the configuration could not be checked: %s\n", strerrordesc_np(-r));
        return EXIT_OWN_FAULT;
}
