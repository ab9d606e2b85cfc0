/* verb_check.c - `endwell check`: every error of a configuration, or the plan that it is. */
#include "base/take.h"
#include "shutdown/verdict.h"
#include "supervisor/plan.h"
#include "supervisor/runtime.h"
#include "supervisor/verbs.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

typedef struct CheckOptions {
        const char *path, *mode;
        const PlatformFacts *platform; /* NULL: none was named */
        bool json, help;
} CheckOptions;

static const char usage[] =
        "usage: endwell check [-c FILE] [--mode production|staging|development] [--platform P] [--json]\n"
        "Says every error of the configuration with FILE:LINE and exits 78, or shows how it would start and end.\n"
        "  -c, --config FILE  the configuration (else $ENDWELL_CONFIG, else /etc/endwell.ini)\n"
        "      --mode M       in this mode (else $ENDWELL_MODE, else the file's Mode)\n"
        "      --platform P   also what this platform will do to it: kubernetes, ecs, docker, cloud-run, fly, nomad,\n"
        "                     heroku or systemd\n"
        "      --json         for programs\n";

static int refuse(const char *what, const char *word) {
        fprintf(stderr, "endwell check: %s%s\n%s", what, word, usage);
        return EXIT_USAGE;
}

static int read_platform(const char *text, const PlatformFacts **ret) {
        int platform = platform_from_string(text);
        const char *nearest = platform_nearest(text);
        char problem[200];

        if (platform >= 0) {
                *ret = platform_facts((Platform)platform);
                return 0;
        }
        snprintf(problem, sizeof problem, "--platform %.40s: there is no such platform%s%s%s", text,
                 nearest ? ", did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        return refuse(problem, "");
}

/* 0, or the exit code. */
static int parse_options(int argc, char **argv, CheckOptions *ret) {
        static const struct option options[] = {
                { "config", required_argument, NULL, 'c' },   { "mode", required_argument, NULL, 'm' },
                { "json", no_argument, NULL, 'j' },           { "help", no_argument, NULL, 'h' },
                { "platform", required_argument, NULL, 'p' }, { 0 },
        };
        int option, code = 0;

        opterr = 0;
        optind = 0; /* glibc: begin afresh, whoever parsed before */
        while (code == 0 && (option = getopt_long(argc, argv, ":c:h", options, NULL)) != -1)
                switch (option) {
                case 'c': ret->path = optarg; break;
                case 'm': ret->mode = optarg; break;
                case 'j': ret->json = true; break;
                case 'h': ret->help = true; break;
                case 'p': code = read_platform(optarg, &ret->platform); break;
                case ':': return refuse("a word is missing after ", argv[optind - 1]);
                default: return refuse("there is no option ", argv[optind - 1]);
                }
        if (code == 0 && optind < argc)
                return refuse("a word too many: ", argv[optind]);
        return code;
}

/* What `run` would refuse, but only once it is there. */
static void try_runtime(const Config *config, Complaints *complaints) {
        const char *directory = config->runtime_directory;
        int r = runtime_try(directory);

        if (r < 0)
                complaints_add(complaints, config->runtime_place.file, config->runtime_place.line,
                               "RuntimeDirectory%s%.200s: %s cannot be used: %s", directory ? "=" : "",
                               directory ? directory : "", directory ? "it" : "none of the default directories",
                               r == -EPERM ? "it is another user's, or others may write to it" : strerrordesc_np(-r));
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

static void say_errors(const Complaints *complaints, bool planned) {
        size_t n = complaints_count(complaints);

        complaints_print(complaints, stderr);
        fprintf(stderr, "endwell check: %zu error%s: %s\n", n, n == 1 ? "" : "s",
                planned ? "it would not end, or not start, as planned here" : "nothing would be started");
}

static int show(const CheckOptions *options, const Config *config, const Complaints *complaints) {
        size_t n_warnings = complaints_warning_count(complaints);

        if (options->json)
                return plan_print_json(config, options->platform, complaints, stdout);
        if (!config) {
                say_errors(complaints, false);
                return 0;
        }
        int r = plan_print(config, stdout);
        if (r < 0)
                return r;
        if (options->platform)
                plan_print_platform(config, options->platform, stdout);
        if (complaints_count(complaints) > 0) {
                fflush(stdout);
                say_errors(complaints, true);
        } else if (n_warnings > 0) {
                printf("\n%zu warning%s:\n", n_warnings, n_warnings == 1 ? "" : "s");
                complaints_print(complaints, stdout);
        }
        return 0;
}

static int check(const CheckOptions *options) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        _cleanup_(config_freep) Config *config = NULL;

        int r = complaints_new(&complaints);
        if (r == 0)
                r = config_examine(options->path, options->mode, complaints, &config);
        if (r < 0 && r != -EBADMSG)
                return r;
        if (r == 0) {
                warn_of_descriptors(config, complaints);
                try_runtime(config, complaints);
                plan_judge(config, options->platform, complaints);
        }
        r = show(options, config, complaints);
        if (r == 0 && fflush(stdout) != 0)
                r = -errno;
        return r < 0 ? r : complaints_count(complaints) > 0 ? EXIT_CONFIGURATION : EXIT_CLEAN;
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
