/* command_line.c - see command_line.h. */
#include "worker/command_line.h"
#include "base/duration.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULT_DEFAULT (1024 * 1024)
#define RESULT_MOST    (256 * 1024 * 1024)

const char command_line_help[] =
        "usage: endwell worker --queue QUEUE [OPTION...] -- COMMAND [ARGUMENT...]\n"
        "Claims jobs of a queue of the ledger and runs COMMAND for each: payload on stdin, result on stdout.\n"
        "  -q, --queue QUEUE         the queue; it is created when there is none of that name\n"
        "  -n, --concurrency N       jobs at once (1)\n"
        "      --stream              one long-lived COMMAND a slot, which speaks JSON lines\n"
        "      --stall-timeout SPAN  stop a command that makes no progress for so long (none)\n"
        "      --hard-timeout SPAN   stop a command that runs longer; can only shorten the queue's (none)\n"
        "      --kill-after SPAN     from asking a command to stop to killing it (5s)\n"
        "      --bury-codes CODES    exit codes that bury a job at once: 65,78\n"
        "      --max-result SIZE     a longer result fails the job (1M)\n"
        "      --poll SPAN           between two questions for new jobs (1s)\n"
        "      --drain-timeout SPAN  for the jobs that run at SIGTERM (what the supervisor leaves, else 20s)\n"
        "      --max-jobs N          end after so many jobs\n"
        "      --max-lifetime SPAN   take no job after so long, and end\n"
        "      --strict-lease        stop commands whose lease could not be renewed, even if nobody took it\n"
        "      --quiet               do not pass on what commands write to stderr\n"
        "  -c, --config FILE         take the database from [Database] of this configuration\n"
        "      --log-format FORMAT   auto, text, json, journal\n"
        "      --log-level LEVEL     debug, info, notice, warning, err\n"
        "The database: -c FILE, else $ENDWELL_DATABASE_URL (or _URL_FILE), $DATABASE_URL, libpq's PG* variables.\n";

enum {
        STREAM = 256,
        STALL,
        HARD,
        KILL_AFTER,
        BURY,
        RESULT,
        POLL,
        DRAIN,
        JOBS,
        LIFETIME,
        STRICT,
        QUIET,
        FORMAT,
        LEVEL,
        VERSION
};

static const struct option options[] = {
        { "queue", required_argument, NULL, 'q' },         { "concurrency", required_argument, NULL, 'n' },
        { "stream", no_argument, NULL, STREAM },           { "stall-timeout", required_argument, NULL, STALL },
        { "hard-timeout", required_argument, NULL, HARD }, { "kill-after", required_argument, NULL, KILL_AFTER },
        { "bury-codes", required_argument, NULL, BURY },   { "max-result", required_argument, NULL, RESULT },
        { "poll", required_argument, NULL, POLL },         { "drain-timeout", required_argument, NULL, DRAIN },
        { "max-jobs", required_argument, NULL, JOBS },     { "max-lifetime", required_argument, NULL, LIFETIME },
        { "strict-lease", no_argument, NULL, STRICT },     { "quiet", no_argument, NULL, QUIET },
        { "config", required_argument, NULL, 'c' },        { "log-format", required_argument, NULL, FORMAT },
        { "log-level", required_argument, NULL, LEVEL },   { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, VERSION },         { 0 },
};

static int refuse(char *problem, const char *what, const char *value) {
        snprintf(problem, COMMAND_LINE_PROBLEM_MAX, "%s: %.120s", what, value);
        return -EINVAL;
}

static int read_span(const char *name, const char *value, usec_t least, usec_t *ret, char *problem) {
        char what[96];
        if (duration_parse(value, ret) == 0 && *ret >= least)
                return 0;
        snprintf(what, sizeof what, "--%s is no span of time that can be taken (30s, 5min)", name);
        return refuse(problem, what, value);
}

static int read_number(const char *name, const char *value, uint64_t most, uint64_t *ret, char *problem) {
        char *end = NULL, what[96];
        errno = 0;
        uint64_t number = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
        if (number > 0 && number <= most && errno == 0 && *end == '\0') {
                *ret = number;
                return 0;
        }
        snprintf(what, sizeof what, "--%s is no number that can be taken", name);
        return refuse(problem, what, value);
}

static int read_size(const char *value, size_t *ret, char *problem) {
        uint64_t size;
        if (size_parse(value, &size) < 0 || size == 0 || size > RESULT_MOST)
                return refuse(problem, "--max-result is no size from 1 to 256M", value);
        *ret = (size_t)size;
        return 0;
}

static int read_log(CommandLine *line, int option, const char *value, char *problem) {
        int word = option == FORMAT ? log_format_from_string(value) : log_level_from_string(value);
        if (word < 0)
                return refuse(problem, option == FORMAT ? "--log-format knows no" : "--log-level knows no", value);
        if (option == FORMAT)
                line->log_format = (LogFormat)word;
        else
                line->log_level = (LogLevel)word;
        return 0;
}

static int take_number(CommandLine *line, int option, const char *value, char *problem) {
        uint64_t slots;
        if (option == JOBS)
                return read_number("max-jobs", value, UINT64_MAX - 1, &line->max_jobs, problem);
        int r = read_number("concurrency", value, COMMAND_LINE_SLOTS_MAX, &slots, problem);
        if (r == 0)
                line->slots = (unsigned)slots;
        return r;
}

static int take_value(CommandLine *line, int option, const char *value, char *problem) {
        switch (option) {
        case 'q': line->queue = value; return 0;
        case 'c': line->config = value; return 0;
        case JOBS:
        case 'n': return take_number(line, option, value, problem);
        case STALL: return read_span("stall-timeout", value, USEC_PER_MSEC, &line->stall_usec, problem);
        case HARD: return read_span("hard-timeout", value, USEC_PER_MSEC, &line->hard_usec, problem);
        case KILL_AFTER: return read_span("kill-after", value, 0, &line->kill_after_usec, problem);
        case POLL: return read_span("poll", value, 10 * USEC_PER_MSEC, &line->poll_usec, problem);
        case DRAIN: return read_span("drain-timeout", value, 0, &line->drain_usec, problem);
        case LIFETIME: return read_span("max-lifetime", value, USEC_PER_MSEC, &line->lifetime_usec, problem);
        case RESULT: return read_size(value, &line->max_result, problem);
        case BURY:
                return outcome_codes_parse(value, &line->bury) == 0
                               ? 0
                               : refuse(problem, "--bury-codes is no list of exit codes (75 always tries again)",
                                        value);
        case FORMAT:
        case LEVEL: return read_log(line, option, value, problem);
        case STREAM: line->stream = true; return 0;
        case STRICT: line->strict_lease = true; return 0;
        case QUIET: line->quiet = true; return 0;
        case 'h': return COMMAND_LINE_HELP;
        case VERSION: return COMMAND_LINE_VERSION;
        case ':': return refuse(problem, "this option needs a value", value);
        default: return refuse(problem, "there is no such option", value);
        }
}

static int judge(CommandLine *line, char *problem) {
        if (!line->queue || !*line->queue || strlen(line->queue) > 200)
                return refuse(problem, "a queue must be named, by --queue", line->queue ? line->queue : "nothing is");
        if (!*line->argv || !**line->argv)
                return refuse(problem, "there is no command", "it stands behind --");
        if (line->poll_usec == USEC_INFINITY || line->kill_after_usec == USEC_INFINITY)
                return refuse(problem, "--poll and --kill-after need an end", "infinity");
        return 0;
}

int command_line_parse(int argc, char **argv, CommandLine *ret, char ret_problem[static COMMAND_LINE_PROBLEM_MAX]) {
        CommandLine line = { .slots = 1,
                             .stall_usec = USEC_INFINITY,
                             .hard_usec = USEC_INFINITY,
                             .kill_after_usec = 5 * USEC_PER_SEC,
                             .poll_usec = USEC_PER_SEC,
                             .drain_usec = USEC_INFINITY,
                             .lifetime_usec = USEC_INFINITY,
                             .max_jobs = UINT64_MAX,
                             .max_result = RESULT_DEFAULT,
                             .log_format = LOG_FORMAT_AUTO,
                             .log_level = LOG_LEVEL_INFO };
        int option, r = 0;

        optind = 0;
        opterr = 0;
        while (r == 0 && (option = getopt_long(argc, argv, "+:q:n:c:h", options, NULL)) != -1)
                r = take_value(&line, option, option == ':' || option == '?' ? argv[optind - 1] : optarg, ret_problem);
        line.argv = argv + optind;
        if (r == 0)
                r = judge(&line, ret_problem);
        if (r >= 0)
                *ret = line;
        return r;
}
