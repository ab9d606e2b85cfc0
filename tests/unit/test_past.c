/* test_past.c - whom a run that was cut off left behind, told from its journal alone. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/take.h"
#include "shutdown/event.h"
#include "supervisor/past.h"

#define OWNER(n) "00000000-0000-4000-8000-00000000000" n

static char folder[64], path[80], rotated[84];

static void setup(void) {
        strcpy(folder, "/tmp/past-test-XXXXXX");
        cr_assert(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/journal", folder);
        snprintf(rotated, sizeof rotated, "%s.1", path);
}

static void teardown(void) {
        unlink(path);
        unlink(rotated);
        rmdir(folder);
}

TestSuite(past, .init = setup, .fini = teardown);

static void write_text(const char *where, const char *text, size_t length) {
        FILE *file = fopen(where, "a");
        cr_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
}

static void write_event(const char *where, Event event) {
        char line[EVENT_LINE_MAX];
        write_text(where, line, event_write(&event, line, sizeof line));
}

static void begins(const char *where, bool pid_namespace) {
        write_event(where, (Event){ .kind = EVENT_SUPERVISOR_STARTED, .pid_namespace = pid_namespace });
}

static void starts(const char *where, const char *service, const char *owner) {
        write_event(
                where,
                (Event){ .kind = EVENT_SERVICE_STARTED, .service = service, .instance = 2, .pid = 7, .owner = owner });
}

static void is_gone(const char *where, const char *service, const char *owner) {
        write_event(where, (Event){ .kind = EVENT_SERVICE_GONE, .service = service, .instance = 2, .owner = owner });
}

static void ends(const char *where) {
        write_event(where, (Event){ .kind = EVENT_ENDING_FINISHED });
}

/* The owners that are told, by their last letter, sorted. */
static void left_are(const char *expected) {
        _cleanup_(past_done) Past past = { 0 };
        char letters[64] = "";
        cr_assert_eq(past_read(path, &past), 0);
        for (char letter = '0'; letter <= '9'; letter++)
                for (size_t i = 0; i < past.n_runs; i++)
                        if (past.runs[i].owner[35] == letter)
                                letters[strlen(letters)] = letter;
        cr_assert_eq(past.n_runs, strlen(expected));
        cr_assert_str_eq(letters, expected);
}

Test(past, no_journal_is_no_past) {
        left_are("");
}

Test(past, who_was_started_and_not_told_gone_was_cut_off) {
        begins(path, true);
        starts(path, "web", OWNER("1"));
        starts(path, "db", OWNER("2"));
        is_gone(path, "web", OWNER("1"));
        starts(path, "web", OWNER("3"));
        left_are("23");

        _cleanup_(past_done) Past past = { 0 };
        cr_assert_eq(past_read(path, &past), 0);
        cr_assert(past.pid_namespace);
        for (size_t i = 0; i < past.n_runs; i++) {
                cr_assert_eq(past.runs[i].instance, 2);
                cr_assert_str_eq(past.runs[i].service, past.runs[i].owner[35] == '2' ? "db" : "web");
        }
}

Test(past, a_run_that_ended_left_nobody) {
        begins(path, true);
        starts(path, "web", OWNER("1"));
        ends(path);
        left_are("");
}

/* The logger appends to the file that is there. */
Test(past, an_end_before_the_last_run_says_nothing_of_it) {
        begins(path, true);
        starts(path, "web", OWNER("1"));
        ends(path);
        begins(path, false);
        starts(path, "web", OWNER("2"));
        left_are("2");

        _cleanup_(past_done) Past past = { 0 };
        cr_assert_eq(past_read(path, &past), 0);
        cr_assert_not(past.pid_namespace);
}

Test(past, a_long_run_has_its_older_half_in_the_rotated_file) {
        begins(rotated, true);
        starts(rotated, "web", OWNER("1"));
        starts(rotated, "db", OWNER("2"));
        is_gone(path, "web", OWNER("1"));
        starts(path, "web", OWNER("3"));
        left_are("23");
}

Test(past, a_torn_last_line_and_nonsense_are_passed_over) {
        begins(path, true);
        write_text(path, "nonsense\n{}\n\n", 13);
        starts(path, "web", OWNER("1"));
        char line[EVENT_LINE_MAX];
        size_t length = event_write(&(Event){ .kind = EVENT_SERVICE_GONE, .service = "web", .owner = OWNER("1") }, line,
                                    sizeof line);
        write_text(path, line, length - 1); /* whole but for its newline: more may have been meant to follow */
        left_are("1");
}

Test(past, names_that_are_none_of_ours_are_not_believed) {
        static const char endless[] = "0123456789012345678901234567890123456789x";
        begins(path, true);
        starts(path, "web", "short");
        starts(path, "web", OWNER("1") "x");
        starts(path, endless, OWNER("1"));
        write_event(path, (Event){ .kind = EVENT_SERVICE_STARTED, .pid = 7, .owner = OWNER("1") });
        left_are("");
}

Test(past, what_is_no_file_is_an_error_and_no_wait) {
        Past past = { 0 };
        cr_assert_eq(mkdir(path, 0700), 0);
        cr_assert_leq(past_read(path, &past), 0);
        cr_assert_eq(past.n_runs, 0);
        rmdir(path);
        cr_assert_eq(mkfifo(path, 0600), 0);
        cr_assert_leq(past_read(path, &past), 0);
        cr_assert_eq(past.n_runs, 0);
}

Test(past, the_last_of_very_many_runs_is_found) {
        FILE *file = fopen(path, "a");
        char owner[40], line[EVENT_LINE_MAX];

        cr_assert_not_null(file);
        begins(path, true);
        for (unsigned i = 0; i < 50000; i++) {
                snprintf(owner, sizeof owner, "%08x-0000-4000-8000-000000000000", i + 1);
                Event started = { .kind = EVENT_SERVICE_STARTED, .service = "web", .pid = 7, .owner = owner };
                Event gone = { .kind = EVENT_SERVICE_GONE, .service = "web", .owner = owner };
                fwrite(line, 1, event_write(&started, line, sizeof line), file);
                if (i > 0)
                        fwrite(line, 1, event_write(&gone, line, sizeof line), file);
        }
        fclose(file);
        starts(path, "web", "00000000-0000-4000-8000-000000000005");
        left_are("05"); /* the first, which is never told gone, and the last */
}
