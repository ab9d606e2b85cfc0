/* main.c - endwell-report: `endwell report`, a run's journal as a picture or a judgement. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/take.h"
#include "report/history.h"
#include "report/lanes.h"
#include "report/options.h"
#include "report/page.h"
#include "report/place.h"
#include "report/summary.h"
#include "shutdown/laws.h"

#define EXIT_BROKEN       1
#define EXIT_INCONCLUSIVE 3

typedef struct Report {
        Options options;
        char *journal;
        History history;
        Story story;
        Judgement judgement;
        Lanes lanes;
        char *text; /* what is to be written */
        size_t length;
} Report;

static void report_done(Report *report) {
        free(report->text);
        lanes_done(&report->lanes);
        story_done(&report->story);
        history_done(&report->history);
        free(report->journal);
}

static int fail(const char *what, const char *object, const char *why) {
        fprintf(stderr, "endwell report: %s %s: %s; nothing was written\n", what, object, why);
        return EXIT_NOT_RUNNING;
}

static int find_journal(Report *report) {
        const Options *options = &report->options;
        if (options->journal) {
                report->journal = strdup(options->journal);
                return report->journal ? 0 : fail("could not read", options->journal, strerrordesc_np(ENOMEM));
        }
        int r = place_find(options->socket, options->config, &report->journal);
        if (r == 0)
                return 0;
        if (options->config)
                return fail("could not find the journal by", options->config, file_problem(r));
        return fail("could not find", "a journal",
                    "there is no journal.jsonl in /run/endwell, $XDG_RUNTIME_DIR/endwell, /dev/shm/endwell-UID or "
                    "/tmp/endwell-UID; --journal FILE names another place");
}

static int read_journal(Report *report) {
        char why[120];
        int r = history_read(report->journal, report->options.run, &report->history);
        if (r == 0)
                return 0;
        if (r == -ENODATA)
                snprintf(why, sizeof why, "there is no event in it");
        else if (r == -ESRCH)
                snprintf(why, sizeof why, "it has %u run%s, and none with the number %u", report->history.n_runs,
                         report->history.n_runs == 1 ? "" : "s", report->options.run);
        else
                snprintf(why, sizeof why, "%s", file_problem(r));
        return fail("could not read the journal", report->journal, why);
}

static int understand(Report *report) {
        const History *history = &report->history;
        int r = story_make(history->events, history->n, &report->story);
        if (r == 0)
                r = laws_judge(history->events, history->n, &report->judgement);
        if (r == 0)
                r = lanes_make(&report->story, &report->lanes);
        return r == 0 ? 0 : fail("could not put together", report->journal, file_problem(r));
}

static int draw_page(Report *report, FILE *out) {
        const History *history = &report->history;
        const PageFacts facts = { strcmp(report->journal, "-") == 0 ? "standard input" : report->journal, history->run,
                                  history->n_runs, history->n_bad, history->torn };
        return page_write(out, &facts, &report->story, &report->judgement, &report->lanes);
}

static int draw_summary(Report *report, FILE *out) {
        if (report->options.json)
                summary_write_json(out, &report->story, &report->judgement);
        else
                summary_write(out, &report->story, &report->judgement);
        return 0;
}

static int draw_picture(Report *report, FILE *out) {
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
        return picture_write(out, PICTURE_ALONE, &report->story, &report->judgement, &report->lanes);
}

/* Whole in memory first, so that a file is written at one stroke or not at all. */
static int make(Report *report, int (*draw)(Report *report, FILE *out)) {
        free(report->text);
        report->text = NULL;
        FILE *out = open_memstream(&report->text, &report->length);
        int r = out ? draw(report, out) : -ENOMEM;
        if (out && fclose(out) != 0)
                r = -ENOMEM;
        return r == 0 ? 0 : fail("could not draw", report->journal, file_problem(r));
}

static int write_out(const Report *report, FILE *out, const char *name) {
        bool good = fwrite(report->text, 1, report->length, out) == report->length;
        int error = errno;
        if ((out == stdout ? fflush(out) : fclose(out)) != 0 && good) {
                good = false;
                error = errno;
        }
        if (good)
                return 0;
        fprintf(stderr, "endwell report: could not write %s: %s; what is there now is not whole\n", name,
                strerrordesc_np(error));
        return EXIT_NOT_RUNNING;
}

static int write_file(Report *report) {
        int code = make(report, report->options.svg ? draw_picture : draw_page);
        if (code != 0)
                return code;
        FILE *out = fopen(report->options.output, "we");
        return out ? write_out(report, out, report->options.output)
                   : fail("could not make", report->options.output, strerrordesc_np(errno));
}

static int judge(Report *report) {
        int code = make(report, draw_summary);
        if (code == 0)
                code = write_out(report, stdout, "the judgement");
        if (code != 0)
                return code;
        LawState answer = laws_answer(&report->judgement);
        return answer == LAW_BROKEN ? EXIT_BROKEN : answer == LAW_UNKNOWN ? EXIT_INCONCLUSIVE : EXIT_CLEAN;
}

/* A page is no use on a terminal: who looks at one gets the facts in words, and the hint. */
static int print(Report *report) {
        bool terminal = isatty(STDOUT_FILENO);
        int code = make(report, terminal ? draw_summary : draw_page);
        if (code == 0)
                code = write_out(report, stdout, "standard output");
        if (code == 0 && terminal)
                fputs("endwell report: -o FILE.html or -o FILE.svg draws it\n", stderr);
        return code;
}

static int carry_out(Report *report) {
        int code = find_journal(report);
        if (code == 0)
                code = read_journal(report);
        if (code == 0)
                code = understand(report);
        if (code == 0 && report->options.output)
                code = write_file(report);
        if (code == 0 && report->options.check)
                code = judge(report);
        else if (code == 0 && !report->options.output)
                code = print(report);
        return code;
}

int main(int argc, char **argv) {
        _cleanup_(report_done) Report report = { 0 };
        switch (options_read(argc, argv, &report.options)) {
        case OPTIONS_HELP: fputs(options_usage(), stdout); return fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_NOT_RUNNING;
        case OPTIONS_WRONG:
                fprintf(stderr, "endwell report: %s\nTry `endwell report --help`.\n", report.options.problem);
                return EXIT_USAGE;
        case OPTIONS_GOOD: break;
        }
        return carry_out(&report);
}
