/* test_log_file.c - a log is rotated between lines, in a row of files, and survives what a disk and a person may do. */
#include "logger/log_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[96];

static void make_folder(void) {
        strcpy(folder, "/tmp/endwell-log-XXXXXX");
        cr_assert_not_null(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/web.log", folder);
}

static void remove_folder(void) {
        char command[128];
        snprintf(command, sizeof command, "rm -rf %s", folder);
        cr_assert_eq(system(command), 0);
}

TestSuite(log_file, .init = make_folder, .fini = remove_folder);

static const char *content(unsigned n) {
        static char text[4096];
        char name[128];
        snprintf(name, sizeof name, n ? "%s.%u" : "%s", path, n);
        FILE *file = fopen(name, "r");
        if (!file)
                return "none";
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        return text;
}

static LogFile *take(LogFiles *files, uint64_t max_size, unsigned most) {
        LogFile *file;
        cr_assert_eq(log_files_take(files, &(LogFilePlan){ .path = path, .max_size = max_size, .most = most }, &file),
                     0);
        return file;
}

static int append(LogFile *file, const char *text) {
        int error;
        size_t n = log_file_append(file, text, strlen(text), &error);
        cr_assert_eq(n == strlen(text), error == 0);
        return error;
}

Test(log_file, a_full_file_is_passed_down_and_the_oldest_goes) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 8, 3);
        append(file, "one\ntwo\nthree\n");
        append(file, "four\n"), append(file, "five\n");
        cr_assert_str_eq(content(0), "five\n");
        cr_assert_str_eq(content(1), "four\n");
        cr_assert_str_eq(content(2), "three\n");
        cr_assert_str_eq(content(3), "none");
        log_file_release(file);
}

Test(log_file, one_file_is_emptied_when_it_is_full) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 8, 1);
        append(file, "one\ntwo\n"), append(file, "three\n");
        cr_assert_str_eq(content(0), "three\n");
        cr_assert_str_eq(content(1), "none");
        log_file_release(file);
}

Test(log_file, a_line_longer_than_a_file_has_one_of_its_own) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 8, 2);
        append(file, "one\n"), append(file, "longer than that\n"), append(file, "two\n");
        cr_assert_str_eq(content(0), "two\n");
        cr_assert_str_eq(content(1), "longer than that\n");
        log_file_release(file);
}

Test(log_file, a_line_that_comes_in_parts_is_not_torn_by_a_rotation) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 8, 2);
        append(file, "begin"), append(file, " and end"), append(file, " of it\n"), append(file, "two\n");
        cr_assert_str_eq(content(1), "begin and end of it\n");
        cr_assert_str_eq(content(0), "two\n");
        log_file_release(file);
}

Test(log_file, what_an_earlier_run_left_is_appended_to_on_a_line_of_its_own) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 100, 2);
        append(file, "torn");
        log_file_release(file);
        cr_assert_null(files.first);
        file = take(&files, 100, 2);
        append(file, "new\n");
        cr_assert_str_eq(content(0), "torn\nnew\n");
        log_file_release(file);
}

Test(log_file, all_who_name_a_path_share_one_file) {
        LogFiles files = { 0 };
        LogFile *one = take(&files, 8, 2), *two = take(&files, 8, 2);
        cr_assert_eq(one, two);
        append(one, "one\n");
        log_file_release(one);
        cr_assert_eq(append(two, "two\n"), 0);
        cr_assert_str_eq(content(0), "one\ntwo\n");
        log_file_release(two);
}

Test(log_file, a_file_that_was_moved_away_is_begun_anew_after_a_reopen) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 100, 2);
        char other[128];
        append(file, "one\n");
        snprintf(other, sizeof other, "%s/moved", folder);
        cr_assert_eq(rename(path, other), 0);
        append(file, "two\n");
        log_file_close(file);
        append(file, "three\n");
        cr_assert_str_eq(content(0), "three\n");
        log_file_release(file);
}

Test(log_file, a_folder_that_is_not_there_is_an_error_until_it_is) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 100, 2);
        cr_assert_eq(rmdir(folder), 0);
        cr_assert_eq(append(file, "lost\n"), -ENOENT);
        cr_assert_eq(mkdir(folder, 0700), 0);
        cr_assert_eq(append(file, "there\n"), 0);
        cr_assert_str_eq(content(0), "there\n");
        log_file_release(file);
}

Test(log_file, a_fifo_is_no_log) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 100, 2);
        cr_assert_eq(mkfifo(path, 0600), 0);
        cr_assert_eq(log_file_open(file), -EINVAL);
        log_file_release(file);
}

/* Where FILE.1 cannot be made (a folder that is not empty stands there) nothing is lost and nobody is stopped. */
Test(log_file, a_file_that_cannot_be_rotated_grows) {
        LogFiles files = { 0 };
        LogFile *file = take(&files, 8, 2);
        char blocked[128];
        snprintf(blocked, sizeof blocked, "%s.1", path);
        cr_assert_eq(mkdir(blocked, 0700), 0);
        append(file, "one\ntwo\n"), append(file, "three\n");
        cr_assert_str_eq(content(0), "one\ntwo\nthree\n");
        cr_assert_eq(rmdir(blocked), 0);
        append(file, "four and more\n");
        cr_assert_str_eq(content(1), "one\ntwo\nthree\n");
        log_file_release(file);
}

Test(log_file, only_whole_lines_count_as_fitting) {
        static const struct {
                uint64_t size, max;
                bool inside;
                const char *bytes;
                size_t fits;
        } rows[] = {
                { 0, 10, false, "a\nb\n", 4 },  { 6, 10, false, "a\nb\n", 4 },  { 7, 10, false, "a\nb\n", 2 },
                { 9, 10, false, "a\nb\n", 0 },  { 10, 10, false, "a\nb\n", 0 }, { 0, 2, false, "long\nb\n", 5 },
                { 0, 2, false, "no end", 6 },   { 5, 2, true, "end\nb\n", 4 },  { 1, 4, true, "x\nabcdef\n", 2 },
                { 1, 4, false, "abcdef\n", 0 },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                cr_expect_eq(log_file_fitting(rows[i].size, rows[i].max, rows[i].inside, rows[i].bytes,
                                              strlen(rows[i].bytes)),
                             rows[i].fits, "row %zu", i);
}
